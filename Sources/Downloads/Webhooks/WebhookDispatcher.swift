internal import DownloadCore
internal import DownloadFiles
internal import DownloadStore
internal import HTTPClient
internal import HTTPCore

/// Delivers messages to webhooks, independently of transfers. Each message is delivered at least once, also after a
/// restart, unless it is abandoned.
///
/// The store has all messages that are not delivered. ``WebhookQueue`` decides which of them are in memory and which
/// are sent next.
actor WebhookDispatcher {
    let sender: any WebhookSender
    private let store: any RecordStore
    private let policy: WebhookPolicy
    /// Names the messages under way, for the instance after a crash; `nil`: there is no journal.
    private let journal: TransferJournal?
    private let log: @Sendable (DownloadLogEvent) -> Void
    private var queue: WebhookQueue
    private var attempts: [RecordID: Task<Void, Never>] = [:]
    private var alarm: Task<Void, Never>?
    /// The task that reads messages from the store; `nil`: none is being read.
    private var loading: Task<Void, Never>?
    /// The first id from which messages of all receivers must be read; `nil`: all have been read.
    private var unread: RecordID?
    /// The first id that came to the store during the present reading, for instance of another replica; `nil`: none.
    private var reread: RecordID?
    private var isReadingAll = false
    /// The last messages that were delivered or abandoned, in order. An earlier page or ``post(_:)`` may still contain them.
    private var departures: [RecordID] = []
    private var departed: Set<RecordID> = []
    /// Messages that were under way at a crash and have not been read since.
    private var suspects: Set<RecordID>
    /// The number of suspects whose attempts were delayed.
    private var heldSuspects = 0
    /// Unreadable rows that were logged or are in `unlogged`.
    private var refused: Set<RefusedRow.Key> = []
    /// Unreadable rows to log once the store has been read to its end.
    private var unlogged: [RefusedRow] = []
    /// Waits until the ends are published whose messages have become durable; `nil` before the start.
    private var settle: (@Sendable () async -> Void)?
    private var isStopping = false

    /// The minimum number of departures to keep.
    private static let keptDepartures = 10_000
    /// The maximum number of unreadable rows to log.
    private static let keptRefusals = 10_000
    /// The pause after a failed reading of the store.
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
        // An instance that was killed without the mark of a crash counts against no message.
        suspects = journal.map { $0.isMarked ? Set($0.found.keys) : [] } ?? []
        queue = WebhookQueue(limits: limits)
    }

    /// Begins to deliver, first the messages that an earlier instance has left.
    /// - Parameter settle: Waits until the ends are published whose messages have become durable. A message that is read
    ///   from the store is delivered after that, so that its receiver sees the end.
    func start(settle: @escaping @Sendable () async -> Void = {}) {
        self.settle = settle
        read(from: RecordID(value: 0))
    }

    /// Delivers messages of the store, such as another replica's.
    /// - Parameter first: The lowest of their ids.
    func read(from first: RecordID) {
        guard settle != nil, !isStopping else { return }
        if isReadingAll { reread = min(reread ?? first, first) } else { unread = min(unread ?? first, first) }
        pump()
    }

    /// Delivers a durable message. If memory has no room for it, it is read from the store later.
    func post(_ delivery: WebhookDelivery) {
        guard !isStopping, !queue.contains(delivery.id), !departed.contains(delivery.id) else { return }
        queue.add(delivery, due: .now)
        pump()
    }

    /// Cancels all attempts. The messages stay in the store, and are delivered after the next start.
    func stop() async {
        isStopping = true
        alarm?.cancel()
        loading?.cancel()
        for attempt in attempts.values { attempt.cancel() }
        for attempt in Array(attempts.values) { await attempt.value }
    }

    private func take(stored delivery: WebhookDelivery) {
        guard !queue.contains(delivery.id), !departed.contains(delivery.id) else { return }
        if suspects.remove(delivery.id) != nil { return take(suspect: delivery) }
        let wait = delivery.due.millisecondsSinceEpoch - Timestamp.now().millisecondsSinceEpoch
        // After a change of the clock, a message waits no longer than its attempts require.
        queue.add(delivery, due: .now + min(.milliseconds(max(0, wait)), policy.longestPause(after: delivery.attempts)))
    }

    /// Counts a crash against a message that was under way then. Such messages are sent one after another.
    private func take(suspect delivery: WebhookDelivery) {
        var delivery = delivery
        delivery.attempts = policy.attempts(afterCrash: delivery.attempts)
        guard delivery.attempts < policy.maximumAttempts else {
            _ = store.submit([.dropDelivery(delivery.id)])
            return log(
                .webhook(delivery.id, about: delivery.subject, .abandoned("the service crashed while it was being delivered")))
        }
        let wait = WebhookPolicy.suspectPause * heldSuspects
        heldSuspects += 1
        delivery.due = Timestamp.now().advanced(by: wait)
        _ = store.submit([.keepDelivery(delivery)])
        queue.add(delivery, due: .now + wait)
    }

    /// Sends the messages that are due, and sets an alarm for the next ones.
    private func pump() {
        guard settle != nil, !isStopping else { return }
        for delivery in queue.startable(at: .now) {
            attempts[delivery.id] = Task { await self.attempt(delivery) }
        }
        if let hanging = queue.endHanging(at: .now) { attempts[hanging]?.cancel() }
        load()
        alarm?.cancel()
        guard let due = [queue.nextDue, queue.nextEnding].compactMap(\.self).min() else { return }
        alarm = Task { [weak self] in
            do {
                try await Task.sleep(until: due, clock: .continuous)
            } catch {
                return
            }
            await self?.pump()
        }
    }

    private func attempt(_ delivery: WebhookDelivery) async {
        let begun = ContinuousClock.now
        journal?.begin(delivery.id)
        var result: Result<Int, ClientError>
        do throws(ClientError) { result = .success(try await sender.send(delivery)) } catch { result = .failure(error) }
        journal?.end(delivery.id)
        journal?.settle()
        attempts[delivery.id] = nil
        if queue.isEnding(delivery.id), case .failure(.cancelled) = result {
            result = .failure(.timedOut("no response within \(WebhookQueue.slowness), and others wait"))
        }
        let isInTime = begun.duration(to: .now) < WebhookQueue.slowness
        var delivery = delivery
        delivery.attempts += 1
        var random = SystemRandom()
        let verdict = policy.verdict(on: result, attempts: delivery.attempts, using: &random)
        if case .success = result, isInTime {
            queue.note(delivery.id, verdict == .delivered ? .accepted : .refused)
        } else if verdict != .interrupted {
            queue.note(delivery.id, .silent)
        }
        switch verdict {
        case .interrupted: return
        case .delivered:
            drop(delivery.id)
            log(.webhook(delivery.id, about: delivery.subject, .delivered))
        case .abandon(let reason):
            drop(delivery.id)
            log(.webhook(delivery.id, about: delivery.subject, .abandoned(reason)))
        case .retry(let delay, let reason):
            delivery.due = Timestamp.now().advanced(by: delay)
            _ = store.submit([.keepDelivery(delivery)])
            log(.webhook(delivery.id, about: delivery.subject, .retried(reason, isFirst: delivery.attempts == 1)))
            queue.add(delivery, due: .now + delay)
        }
        pump()
    }

    // MARK: - The store

    private func drop(_ id: RecordID) {
        queue.remove(id)
        _ = store.submit([.dropDelivery(id)])
        departed.insert(id)
        departures.append(id)
        guard loading == nil, departures.count >= 2 * Self.keptDepartures else { return }
        for old in departures.prefix(Self.keptDepartures) { departed.remove(old) }
        departures.removeFirst(Self.keptDepartures)
    }

    /// Reads one page of messages that are only in the store: first for all receivers, then for a receiver
    /// that has room again.
    private func load() {
        guard loading == nil, !isStopping else { return }
        if let from = unread {
            isReadingAll = true
            loading = Task { await self.load(from: from, of: nil) }
        } else if let (host, from) = queue.beginLoading() {
            loading = Task { await self.load(from: from, of: host) }
        }
    }

    private func load(from: RecordID, of host: String?) async {
        var page: DeliveryPage?
        do throws(StoreError) {
            page = try await store.read { try $0.deliveries(from: from) { host == nil || host == WebhookQueue.host(of: $0) } }
        } catch {
            try? await Task.sleep(for: Self.loadingPause)
        }
        if page?.deliveries.isEmpty == false { await settle?() }
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

    /// Logs each unreadable row once.
    private func tell(of rows: [RefusedRow]) {
        for row in rows where refused.count < Self.keptRefusals && refused.insert(row.key).inserted { unlogged.append(row) }
        guard unread == nil else { return }
        for line in RefusedRow.lines(for: unlogged) { log(.warning(line)) }
        unlogged = []
    }
}
