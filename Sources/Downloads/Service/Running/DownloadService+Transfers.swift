internal import DownloadCore
internal import DownloadFiles
internal import DownloadTransfer
internal import HTTPClient
internal import HTTPCore
internal import System

/// The actions that transfer, verify and publish a file.
extension DownloadService {
    func resources(_ entry: LiveDownload) -> TransferResources {
        if let resources = entry.resources { return resources }
        let resources = TransferResources(speedLimit: entry.machine.record.download.speedLimit)
        entry.resources = resources
        return resources
    }

    func partOpened(_ id: RecordID, _ operation: DownloadMachine.Operation, _ result: Result<PartFile, FileError>) {
        guard let entry = entries[id] else { return }
        switch result {
        case .success(let part):
            guard entry.machine.phase == .opening(operation) else { return }
            resources(entry).part = part
            send(.partOpened(operation), to: entry.id)
        case .failure(let error):
            send(.partUnusable(operation, error), to: entry.id)
        }
    }

    func start(_ operation: DownloadMachine.Operation, _ ask: ResumeDecision.Ask, _ entry: LiveDownload) {
        let id = entry.id
        let resources = resources(entry)
        if let queuedAt = entry.queuedAt { log(.started(id, waited: .now - queuedAt)) }
        entry.queuedAt = nil
        let (machine, record) = (entry.machine, entry.machine.record)
        let (written, resume, hasRecordedBytes) = machine.start
        let hasher =
            resources.hasher
            ?? StreamingHasher(machine.expectedDigests.map(\.algorithm), isDivided: finishedFiles.keepsObjects)
        let patience = patience(of: record.download)
        let sources = requests(for: machine, resources, patience.limits)
        let announcements: Announcements =
            parts.configuration.ignoresAnnouncedMirrors ? .ignored : record.distrustsMirrors ? .verified : .used
        let parameters = TransferAttempt.Parameters(
            id: id, operation: operation, partFiles: partFiles,
            hasRecordedBytes: hasRecordedBytes, requestedMediaType: record.requestedMediaType,
            filename: record.download.filename ?? record.requestedFilename,
            expectation: ContentExpectation(
                mediaType: record.download.mediaType, track: record.download.track,
                filename: written.byteCount > 0 ? record.download.filename : nil),
            checksum: record.download.checksum,
            reservations: parts.reservations, quota: quota, connections: record.requestedSegments ?? settings.segments,
            sources: sources.requests, announced: sources.announced, announcements: announcements, patience: patience,
            isResumable: record.download.resumable, url: machine.url.string,
            part: written.byteCount > 0 ? resources.part : nil,
            isLastAttempt: machine.isLastAttempt(context.retryPolicy))
        let attempt = TransferAttempt(parameters, client: parts.client, resume: resume, written: written, hasher: hasher) {
            [inbox, examination] report in
            guard case .ended(let ending, let hasher) = report.event, case .fileFailed(let error) = ending.outcome else {
                inbox.yield(.report(report))
                return
            }
            examination(error) {
                var (ending, examined) = (ending, report)
                ending.outcome = .fileFailed($0)
                examined.event = .ended(ending, hasher)
                return .report(examined)
            }
        }
        resources.attempt = attempt
        entry.membership.mayHavePart = true
        resources.meter = ProgressMeter()
        resources.lastCheckpoint = .now
        (resources.begun, resources.bytesAtBeginning, resources.stage) = (.now, written.byteCount, .begun)
        journal?.begin(id)
        busyCounts.transferring.insert(id)
        attempt.start(ask)
        if !isShuttingDown { timers.begin(.pulse, at: .now + parts.configuration.pulse) }
    }

    /// Returns the decision about long waits for a download.
    private func patience(of download: Download) -> Patience {
        let configuration = parts.configuration
        return Patience(
            Patience.Limits(
                connect: configuration.connectTimeout, response: configuration.headTimeout, stall: configuration.stallTimeout),
            chosen: download.timeouts, minimum: configuration.patience)
    }

    /// Returns the requests to a download's URL and its mirrors. The source that validates the present bytes comes first.
    ///
    /// The mirrors that the origin has announced come last, and are the indices in `announced`. They are left out
    /// without the digest that proves their bytes.
    func requests(
        for machine: DownloadMachine, _ resources: TransferResources, _ limits: Patience.Limits
    ) -> (requests: [ClientRequest], announced: Set<Int>) {
        let (record, url) = (machine.record, machine.url)
        let mirrors = record.distrustsMirrors ? [] : record.mirrors.compactMap { HTTPURL($0) }
        let trustsAnnounced =
            !parts.configuration.ignoresAnnouncedMirrors && !record.distrustsMirrors && record.entity?.digest != nil
        var urls = [url] + mirrors
        let announced = trustsAnnounced ? record.announcedMirrors.compactMap { HTTPURL($0) }.filter { !urls.contains($0) } : []
        urls += announced
        if machine.written.byteCount > 0, let source = record.entity?.source,
            let place = urls.firstIndex(where: { $0.string == source })
        {
            urls.insert(urls.remove(at: place), at: 0)
        }
        let requests = urls.map { source in
            var request = ClientRequest(url: source)
            request.fields = record.headers.map { ($0.name, $0.value) }
            // An announced URL is the origin's choice.
            request.trust.hasLeftOrigin = !source.hasOrigin(of: url) || announced.contains(source)
            request.isForOrigin = true
            request.guarding = parts.configuration.destinationGuard
            request.connectTimeout = limits.connect
            request.headTimeout = limits.response
            request.speedLimiters = [resources.speedLimiter, speedLimiter]
            // So slow that one byte in the time is enough.
            request.lowSpeedLimit = limits.stall.map { (bytesPerSecond: .leastNormalMagnitude, over: $0) }
            return request
        }
        return (requests, Set(urls.indices.filter { announced.contains(urls[$0]) }))
    }

    func receive(_ report: TransferReport) {
        guard let entry = entries[report.id] else { return }
        switch report.event {
        case .mirrorDropped(let reason): log(.mirrorDropped(report.id, reason))
        case .warning(let warning): log(.warning(warning))
        case .accepted(let acceptance): send(.accepted(report.operation, acceptance, name: nil), to: entry.id)
        case .opened(let part):
            if entry.machine.phase.transfer == report.operation { entry.resources?.part = part }
        case .ended(let ending, let hasher):
            if entry.machine.phase.transfer == report.operation { entry.resources?.hasher = hasher }
            entry.wantedBytes = if case .awaitRoom(let total) = ending.outcome { total } else { nil }
            send(.ended(report.operation, ending), to: entry.id)
        }
    }

    func flush(_ operation: DownloadMachine.Operation, _ written: Coverage, trims: Bool, _ entry: LiveDownload) {
        let id = entry.id
        guard let part = entry.resources?.part else {
            return send(.flushed(operation, written, nil), to: id)
        }
        blocking(.checkpoints) { () throws(FileError) in
            if trims { part.release(allBut: written) }
            try part.synchronize()
            try part.confirm(written)
            return try part.fingerprints(of: written)
        } then: {
            switch $0 {
            case .success(let fingerprints): .event(id, .flushed(operation, written, nil, fingerprints: fingerprints))
            case .failure(let error): .event(id, .flushed(operation, written, error))
            }
        }
    }

    // MARK: - Finishing

    func verify(
        _ operation: DownloadMachine.Operation, _ length: Int64, _ expected: [Checksum], _ entry: LiveDownload
    ) {
        let id = entry.id
        let resources = resources(entry)
        guard let part = resources.part else {
            return send(.verified(operation, .failed(FileError(.missing, "the part file of \(id) is not open"))), to: id)
        }
        let hasher = resources.hasher ?? StreamingHasher(expected.map(\.algorithm), isDivided: finishedFiles.keepsObjects)
        hasher.bind(to: part, holding: length)
        resources.hasher = hasher
        let verification = Verification(part: part, hasher: hasher, length: length, expected: expected)
        resources.verification = verification
        verification.outcome.whenDone { [inbox, examination] result in
            switch result {
            case .success(let file): inbox.yield(.verified(id, operation, file))
            case .failure(.abandoned): break
            case .failure(.checksum(let expected, let actual)):
                inbox.yield(.event(id, .verified(operation, .differs(expected: expected, actual: actual))))
            case .failure(.file(let error)): examination(error) { .event(id, .verified(operation, .failed($0))) }
            }
        }
        partFiles.begin(verification)
    }

    func publish(_ operation: DownloadMachine.Operation, _ path: FilePath, _ entry: LiveDownload) {
        let id = entry.id
        guard let file = entry.resources?.verified else {
            return send(.published(operation, .failure(FileError(.missing, "there is no verified file of \(id)"))), to: id)
        }
        // A record that was not saved before a crash may lack the name.
        let record = entry.machine.record
        let isReserved = record.download.filename != nil
        let hasRemoteTime = record.download.remoteTime ?? parts.configuration.remoteTime
        let publication = Publication(
            id: id, file: file, path: isReserved ? path : names.reserve(path, for: id),
            modified: hasRemoteTime ? RemoteTime.seconds(of: record.entity?.lastModified, now: clock.now) : nil)
        entry.resources?.publication = publication
        publication.outcome.whenDone { [inbox, examination, degradation = parts.degradation] result in
            switch result {
            case .success(let file): inbox.yield(.event(id, .published(operation, .success(file))))
            case .failure(.file(let error)):
                degradation.withLock { $0.suspect() }
                examination(error) { .event(id, .published(operation, .failure($0))) }
            // It may have been abandoned after its withdrawal was refused, because the file had to be copied.
            case .failure: inbox.yield(.event(id, .withdrawn(operation)))
            }
        }
        finishedFiles.begin(publication)
    }

    // MARK: - Observation

    /// Notes the stage of a transfer in the journal, in case the service crashes.
    func noteStage(of resources: TransferResources, _ entry: LiveDownload, _ received: Int64, at now: ContinuousClock.Instant) {
        if resources.stage == .proven { return }
        let stage = CrashSuspicion.stage(running: now - resources.begun, hasBytes: received > resources.bytesAtBeginning)
        if stage == resources.stage { return }
        resources.stage = stage
        journal?.note(stage, of: entry.id)
        guard stage == .proven, entry.machine.record.transferCrashes > 0 else { return }
        coordination.leaveSuspects(entry.id, in: self)
    }

    /// Measures speeds and begins checkpoints that are due. Repeats that as long as transfers run.
    func observeTransfers(now: ContinuousClock.Instant) {
        let checkpoints = CheckpointPolicy(interval: parts.configuration.checkpointInterval)
        for id in busyCounts.transferring {
            guard let entry = entries[id], let resources = entry.resources, let attempt = resources.attempt else { continue }
            let counters = attempt.counters
            entry.machine.noteConnections(counters.connections)
            resources.meter.sample(bytes: counters.received, at: now)
            attempt.sampleConnections(at: now)
            noteStage(of: resources, entry, counters.received, at: now)
            counters.bytesPerSecond = resources.meter.bytesPerSecond(at: now)
            // A transfer that waits for its speed limit is not stalled.
            counters.isStalled = resources.meter.isStalled(at: now) && !attempt.isHeldBack
            let written = attempt.written
            let isDue = checkpoints.isDue(after: now - resources.lastCheckpoint, running: busyCounts.transferring.count) {
                written.byteCount - entry.machine.record.syncedBytes
            }
            // A part file that the transfer has just created is not known yet.
            guard isDue, resources.part != nil else { continue }
            resources.lastCheckpoint = now
            send(.checkpointDue(written), to: entry.id)
        }
        if !busyCounts.transferring.isEmpty, !isShuttingDown { timers.begin(.pulse, at: .now + parts.configuration.pulse) }
    }
}
