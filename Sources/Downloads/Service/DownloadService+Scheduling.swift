internal import HTTPClient
internal import HTTPCore

extension DownloadService {
    /// Puts a download into the queue: at the place it had, or at the end if it has none.
    func enqueue(_ id: DownloadID) {
        guard let job = jobs[id], !leaving.contains(id) else { return }
        jobs[id]?.queuedAt = .now
        let ticket = queue.enqueue(
            id, host: job.host, priority: job.record.download.priority, ticket: job.ticket)
        jobs[id]?.ticket = ticket
    }

    /// Starts all that may start.
    func schedule() {
        guard isStarted, !isShuttingDown else { return }
        // One that has all its bytes gives its slot on at once.
        while case let startable = queue.startable(), !startable.isEmpty {
            for id in startable { begin(id) }
        }
        keepPulse()
    }

    /// Starts a transfer from the bytes there are.
    func begin(_ id: DownloadID) {
        guard let job = jobs[id] else {
            queue.remove(id)
            return
        }
        guard job.isIdle else {
            jobs[id]?.startsWhenIdle = true
            return
        }
        var lifecycle = DownloadLifecycle(job.record.download.state)
        guard case .moved = lifecycle.handle(.slotGranted) else {
            queue.remove(id)
            return
        }
        if let queuedAt = job.queuedAt { log(.started(id, waited: .now - queuedAt)) }
        jobs[id]?.queuedAt = nil
        var resume = job.resume
        let beginning: ResumeDecision.Beginning =
            job.isPublished
            ? .complete
            : resume.begin(
                entity: job.record.entity, offset: job.written.prefix, hasLaterBytes: job.written.end > job.written.prefix)
        jobs[id]?.resume = resume
        var attempt: TransferAttempt?
        if case .ask(let ask) = beginning {
            discardBytes(id, for: ask)
            attempt = makeAttempt(id)
        }
        // Not recorded: after a crash it begins anew from wherever it was, whether this had been known or not.
        transition(id, isRecorded: false) { job in
            job.startsWhenIdle = false
            job.disownsBytes = false
            job.swapFailure = nil
            job.syncFailure = nil
            job.generation += 1
            job.activity = attempt.map { .transferring($0) } ?? .finishing
            job.meter = ProgressMeter()
            job.lastCheckpoint = .now
            job.record.download.state = lifecycle.state
            job.record.download.attempts += 1
            job.record.download.segments = max(1, job.record.download.segments)
            job.record.download.startedAt = job.record.download.startedAt ?? .now()
            job.record.download.bytesReceived = job.written.byteCount
        }
        guard let attempt, case .ask(let ask) = beginning else {
            finish(id)
            return
        }
        running.insert(id)
        attempt.start(ask)
    }

    /// The same attempt goes on with another question to the origin; the slot stays.
    func askAgain(_ id: DownloadID, _ ask: ResumeDecision.Ask) {
        discardBytes(id, for: ask)
        guard let attempt = makeAttempt(id) else { return }
        jobs[id]?.generation += 1
        jobs[id]?.activity = .transferring(attempt)
        jobs[id]?.disownsBytes = false
        running.insert(id)
        if let job = jobs[id] { tell(job) }
        attempt.start(ask)
    }

    /// Bytes that are not asked to be continued are not counted any more. The store still counts on them until others have
    /// taken their place, so they stay where they are.
    private func discardBytes(_ id: DownloadID, for ask: ResumeDecision.Ask) {
        guard ask.discardsBytes || ask.range == nil else { return }
        if let count = jobs[id]?.written.byteCount, count > 0 { log(.startedOver(id, "\(count) bytes cannot be continued")) }
        jobs[id]?.written = Coverage()
        jobs[id]?.restartHash()
        // A checkpoint under way speaks of the bytes that are given up.
        jobs[id]?.part = nil
    }

    private func makeAttempt(_ id: DownloadID) -> TransferAttempt? {
        jobs[id].map { job in
            let order = TransferAttempt.Order(
                id: id, generation: job.generation + 1, directory: directory,
                hasRecordedBytes: job.record.syncedBytes > 0 || job.mayBeCountedOn,
                requestedMediaType: job.record.requestedMediaType, checksum: job.record.download.checksum,
                reservations: reservations,
                connections: job.record.requestedSegments ?? configuration.segments, sources: requests(for: job),
                url: job.url.string, isLastAttempt: job.budget.isLastAttempt(retryPolicy))
            return TransferAttempt(
                order, client: client, resume: job.resume, written: job.written, hasher: job.hasher, reporter: reporter)
        }
    }

    /// The requests to a download's URL and to its mirrors. Bytes that a mirror vouches for are continued there.
    private func requests(for job: DownloadJob) -> [ClientRequest] {
        let mirrors = job.distrustsMirrors ? [] : job.record.mirrors.compactMap { HTTPURL($0) }
        var urls = [job.url] + mirrors
        if job.written.byteCount > 0, let source = job.record.entity?.source,
            let place = urls.firstIndex(where: { $0.string == source })
        {
            urls.insert(urls.remove(at: place), at: 0)
        }
        return urls.map { request(for: job, to: $0) }
    }

    private func request(for job: DownloadJob, to url: HTTPURL) -> ClientRequest {
        var request = ClientRequest(url: url)
        // Fields of the caller may be secrets, and are for the origin that they were given for.
        if url.origin == job.url.origin { request.fields = job.record.headers.map { ($0.name, $0.value) } }
        request.guarding = configuration.destinationGuard
        request.connectTimeout = configuration.connectTimeout
        request.headTimeout = configuration.headTimeout
        request.speedLimiters = [job.speedLimiter, speedLimiter]
        request.lowSpeedLimit = (bytesPerSecond: 1, over: configuration.stallTimeout)
        return request
    }

    // MARK: - Time

    /// Waits out the delay of a retry, then queues the download again.
    func scheduleRetry(_ id: DownloadID, after delay: Duration) {
        jobs[id]?.retryTimer = Task { [weak self] in
            do {
                try await Task.sleep(for: delay)
            } catch {
                return
            }
            await self?.retryIsDue(id)
        }
    }

    private func retryIsDue(_ id: DownloadID) {
        guard let job = jobs[id], !isShuttingDown, !leaving.contains(id) else { return }
        var lifecycle = DownloadLifecycle(job.record.download.state)
        guard case .moved = lifecycle.handle(.retryDue) else { return }
        transition(id) { job in
            job.retryTimer = nil
            job.record.download.state = lifecycle.state
        }
        enqueue(id)
        schedule()
    }

    /// Looks at running transfers a few times a second for as long as there are any.
    func keepPulse() {
        guard pulse == nil, !running.isEmpty else { return }
        pulse = Task { [weak self, interval = configuration.pulse] in
            while !Task.isCancelled {
                do {
                    try await Task.sleep(for: interval)
                } catch {
                    return
                }
                guard await self?.beat() == true else { return }
            }
        }
    }

    /// Keeps the number of connections, for when there are none any more.
    private func noteConnections(_ id: DownloadID, _ count: Int) {
        if count > 0, jobs[id]?.record.download.segments != count { jobs[id]?.record.download.segments = count }
    }

    /// Measures speeds and begins checkpoints that are due.
    /// - Returns: whether transfers still run.
    private func beat() -> Bool {
        let now = ContinuousClock.now
        let checkpoints = CheckpointPolicy(interval: configuration.checkpointInterval)
        for id in running {
            guard let job = jobs[id], let attempt = job.attempt else { continue }
            noteConnections(id, attempt.counters.connections)
            let counters = attempt.counters
            jobs[id]?.meter.sample(bytes: counters.received, at: now)
            if let meter = jobs[id]?.meter {
                counters.bytesPerSecond = meter.bytesPerSecond(at: now)
                // One that waits for its speed limit does what it should.
                counters.isStalled = meter.isStalled(at: now) && !attempt.isHeldBack
            }
            let isDue = checkpoints.isDue(after: now - (job.lastCheckpoint ?? now), running: running.count) {
                attempt.written.byteCount - job.record.syncedBytes
            }
            if isDue { checkpoint(id) }
        }
        guard running.isEmpty else { return true }
        pulse = nil
        return false
    }
}
