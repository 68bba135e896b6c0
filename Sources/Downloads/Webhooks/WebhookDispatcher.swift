internal import HTTPClient
internal import HTTPCore

/// Delivers messages to webhooks, apart from everything that transfers: each at least once, after a restart too, unless it is discarded.
///
/// The store has all messages that are not delivered; ``WebhookQueue`` decides which of them are in memory, and which are sent next.
actor WebhookDispatcher {
    private let sender: any WebhookSender
    private let store: any RecordStore
    private let policy: WebhookPolicy
    /// Names the messages that are under way, for the run after a crash.
    private let journal: TransferJournal?
    private let log: @Sendable (DownloadLogEvent) -> Void
    private var queue: WebhookQueue
    private var attempts: [DownloadID: Attempt] = [:]
    private var alarm: Task<Void, Never>?
    /// Reads messages from the store.
    private var loading: Task<Void, Never>?
    /// The identity from which on messages of any receiver have to be read; `nil`: there are none.
    private var unread: DownloadID?
    /// The same, for messages that came to the store while it is read.
    private var reread: DownloadID?
    private var isReadingAll = false
    /// The last messages that were delivered or given up, in order. A page that was read before has them, and those that the store was read
    /// for may still be posted.
    private var departures: [DownloadID] = []
    private var departed: Set<DownloadID> = []
    /// Messages that were under way at a crash and have not been read since.
    private var suspects: Set<DownloadID>
    /// Suspects that wait for their turn.
    private var heldSuspects = 0
    /// Rows that cannot be read and were told of.
    private var refused: Set<RefusedRow.Key> = []
    /// Others of which the log is told when the store was read to its end.
    private var untold: [RefusedRow] = []
    private var isStarted = false
    private var isStopping = false

    private struct Attempt {
        let task: Task<Void, Never>
        let begun: ContinuousClock.Instant
        /// Whether it was ended in favour of another receiver.
        var isBrokenOff = false
    }

    /// A receiver that takes longer than this counts as one that does not respond.
    private static let slowness: Duration = .seconds(5)
    /// So many departures are remembered at least, while the store is not read.
    private static let keptDepartures = 10_000
    /// So many rows that cannot be read are remembered at most. Of others the log is not told.
    private static let keptRefusals = 10_000
    /// The pause before the store is read again after it has failed.
    private static let loadingPause: Duration = .seconds(1)

    init(
        sender: any WebhookSender, store: any RecordStore, policy: WebhookPolicy, journal: TransferJournal? = nil,
        limits: WebhookQueue.Limits = .init(),
        log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) {
        self.sender = sender
        self.store = store
        self.policy = policy
        self.journal = journal
        self.log = log
        // A run that was killed counts against no message.
        suspects = journal.map { $0.isMarked ? Set($0.found.keys) : [] } ?? []
        queue = WebhookQueue(limits: limits)
    }

    /// Begins to deliver, first the messages that an earlier run has left.
    func start() {
        isStarted = true
        read(from: DownloadID(value: 0))
    }

    /// Delivers messages that are in the store, such as those of another replica.
    /// - Parameter first: the least of their identities.
    func read(from first: DownloadID) {
        guard isStarted, !isStopping else { return }
        if isReadingAll { reread = min(reread ?? first, first) } else { unread = min(unread ?? first, first) }
        pump()
    }

    /// Delivers a message that is durable. If there is no room for it, it is read from the store later.
    func post(_ delivery: WebhookDelivery) {
        guard !isStopping, !queue.contains(delivery.id), !departed.contains(delivery.id) else { return }
        queue.add(delivery, due: .now)
        pump()
    }

    /// Breaks off what is on its way. It is kept, and delivered after the next start.
    func stop() async {
        isStopping = true
        alarm?.cancel()
        loading?.cancel()
        for attempt in attempts.values { attempt.task.cancel() }
        for attempt in Array(attempts.values) { await attempt.task.value }
    }

    private func take(stored delivery: WebhookDelivery) {
        guard !queue.contains(delivery.id), !departed.contains(delivery.id) else { return }
        if suspects.remove(delivery.id) != nil { return take(suspect: delivery) }
        let wait = delivery.due.millisecondsSinceEpoch - Timestamp.now().millisecondsSinceEpoch
        // A clock that was set must not make a message wait for longer than its attempts ask for.
        queue.add(delivery, due: .now + min(.milliseconds(max(0, wait)), policy.longestPause(after: delivery.attempts)))
    }

    /// Counts a crash against a message that was under way then. Such messages are sent one after another.
    private func take(suspect delivery: WebhookDelivery) {
        var delivery = delivery
        delivery.attempts = policy.attempts(afterCrash: delivery.attempts)
        guard delivery.attempts < policy.maximumAttempts else {
            _ = store.submit([.dropDelivery(delivery.id)])
            return log(.webhook(delivery.download.id, .givenUp("the service crashed while it was being delivered")))
        }
        let wait = WebhookPolicy.suspectPause * heldSuspects
        heldSuspects += 1
        delivery.due = Timestamp.now().advanced(by: wait)
        _ = store.submit([.keepDelivery(delivery)])
        queue.add(delivery, due: .now + wait)
    }

    /// Sends what is due, and wakes up again when more will be.
    private func pump() {
        guard isStarted, !isStopping else { return }
        for delivery in queue.startable(at: .now) {
            attempts[delivery.id] = Attempt(task: Task { await self.attempt(delivery) }, begun: .now)
        }
        load()
        alarm?.cancel()
        guard let due = [queue.nextDue, breakOff()].compactMap(\.self).min() else { return }
        alarm = Task { [weak self] in
            do {
                try await Task.sleep(until: due, clock: .continuous)
            } catch {
                return
            }
            await self?.pump()
        }
    }

    /// Ends the longest attempt at a receiver that does not respond, while one that has not been tried waits for its place.
    /// - Returns: when the next attempt may be ended.
    private func breakOff() -> ContinuousClock.Instant? {
        guard queue.hasUntriedWaiting else { return nil }
        let hanging = attempts.filter { !$0.value.isBrokenOff && !queue.isResponding($0.key) }
        guard let longest = hanging.min(by: { $0.value.begun < $1.value.begun }) else { return nil }
        let limit = longest.value.begun + Self.slowness
        guard limit <= .now else { return limit }
        attempts[longest.key]?.isBrokenOff = true
        longest.value.task.cancel()
        return nil
    }

    private func attempt(_ delivery: WebhookDelivery) async {
        let begun = ContinuousClock.now
        journal?.begin(delivery.id)
        var result: Result<Int, ClientError>
        do throws(ClientError) { result = .success(try await sender.send(delivery)) } catch { result = .failure(error) }
        journal?.end(delivery.id)
        if attempts.removeValue(forKey: delivery.id)?.isBrokenOff == true, case .failure(.cancelled) = result {
            result = .failure(.timedOut("no response within \(Self.slowness), and others wait"))
        }
        let hasResponded = if case .success = result { begun.duration(to: .now) < Self.slowness } else { false }
        var delivery = delivery
        delivery.attempts += 1
        var random = SystemRandom()
        let verdict = policy.verdict(on: result, attempts: delivery.attempts, using: &random)
        if verdict != .interrupted { queue.note(delivery.id, responded: hasResponded) }
        switch verdict {
        case .interrupted: return
        case .delivered:
            drop(delivery.id)
            log(.webhook(delivery.download.id, .delivered))
        case .giveUp(let reason):
            drop(delivery.id)
            log(.webhook(delivery.download.id, .givenUp(reason)))
        case .retry(let delay, let reason):
            delivery.due = Timestamp.now().advanced(by: delay)
            _ = store.submit([.keepDelivery(delivery)])
            log(.webhook(delivery.download.id, .retried(reason, isFirst: delivery.attempts == 1)))
            queue.add(delivery, due: .now + delay)
        }
        pump()
    }

    // MARK: - The store

    private func drop(_ id: DownloadID) {
        queue.remove(id)
        _ = store.submit([.dropDelivery(id)])
        departed.insert(id)
        departures.append(id)
        guard loading == nil, departures.count >= 2 * Self.keptDepartures else { return }
        for old in departures.prefix(Self.keptDepartures) { departed.remove(old) }
        departures.removeFirst(Self.keptDepartures)
    }

    /// Reads messages that are in the store only, one page at a time: first those that nothing is known of, then those of receivers that
    /// have room again.
    private func load() {
        guard loading == nil, !isStopping else { return }
        if let from = unread {
            isReadingAll = true
            loading = Task { await self.load(from: from, of: nil) }
        } else if let (host, from) = queue.beginLoading() {
            loading = Task { await self.load(from: from, of: host) }
        }
    }

    private func load(from: DownloadID, of host: String?) async {
        var page: DeliveryPage?
        do throws(StoreError) {
            page = try await store.deliveries(from: from) { url in host.map { $0 == WebhookQueue.host(of: url) } ?? true }
        } catch {
            try? await Task.sleep(for: Self.loadingPause)
        }
        loading = nil
        for delivery in page?.deliveries ?? [] { take(stored: delivery) }
        // A page that could not be read is read again.
        let next = page.map(\.next) ?? from
        if let host {
            queue.endLoading(host, next: next)
        } else {
            isReadingAll = false
            unread = [next, reread].compactMap(\.self).min()
            reread = nil
        }
        tell(of: page?.refused ?? [])
        pump()
    }

    /// Tells the log of rows that cannot be read, of each once.
    private func tell(of rows: [RefusedRow]) {
        for row in rows where refused.count < Self.keptRefusals && refused.insert(row.key).inserted { untold.append(row) }
        guard unread == nil else { return }
        for line in RefusedRow.lines(for: untold) { log(.warning(line)) }
        untold = []
    }
}
