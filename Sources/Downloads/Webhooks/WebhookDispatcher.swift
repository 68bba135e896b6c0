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
    private var attempts: [DownloadID: Task<Void, Never>] = [:]
    private var alarm: Task<Void, Never>?
    /// Reads messages from the store.
    private var loading: Task<Void, Never>?
    /// The identity from which on messages of any receiver have to be read; `nil`: there are none.
    private var unread: DownloadID?
    private var isStarted = false
    private var isStopping = false

    /// A receiver that takes longer than this counts as one that does not respond.
    private static let slowness: Duration = .seconds(5)
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
        queue = WebhookQueue(limits: limits)
    }

    /// Begins to deliver, first what an earlier run has left.
    /// - Parameter pending: the first page of that.
    func start(with pending: [WebhookDelivery]) {
        isStarted = true
        takeOver(suspecting(pending))
    }

    /// Counts a crash against the messages that were under way then. A run that was killed counts against none.
    private func suspecting(_ pending: [WebhookDelivery]) -> [WebhookDelivery] {
        guard let journal, journal.isMarked else { return pending }
        var suspects = 0
        return pending.compactMap { delivery in
            guard journal.found[delivery.id] != nil else { return delivery }
            var delivery = delivery
            delivery.attempts = policy.attempts(afterCrash: delivery.attempts)
            guard delivery.attempts < policy.maximumAttempts else {
                _ = store.submit([.dropDelivery(delivery.id)])
                log(.webhook(delivery.download.id, .givenUp("the service crashed while it was being delivered")))
                return nil
            }
            delivery.due = Timestamp.now().advanced(by: WebhookPolicy.suspectPause * suspects)
            suspects += 1
            _ = store.submit([.keepDelivery(delivery)])
            return delivery
        }
    }

    /// Delivers a page of messages that an earlier run or another replica has left, and reads those behind it.
    func takeOver(_ pending: [WebhookDelivery]) {
        guard !isStopping else { return }
        for delivery in pending where !queue.contains(delivery.id) { take(stored: delivery) }
        if pending.count >= DeliveryRow.pageSize, let last = pending.last?.id, last.value < .max {
            let next = DownloadID(value: last.value + 1)
            unread = min(unread ?? next, next)
        }
        pump()
    }

    /// Delivers a message that is durable. If there is no room for it, it is read from the store later.
    func post(_ delivery: WebhookDelivery) {
        guard !isStopping, !queue.contains(delivery.id) else { return }
        queue.add(delivery, due: .now)
        pump()
    }

    /// Breaks off what is on its way. It is kept, and delivered after the next start.
    func stop() async {
        isStopping = true
        alarm?.cancel()
        loading?.cancel()
        for attempt in attempts.values { attempt.cancel() }
        for attempt in Array(attempts.values) { await attempt.value }
        await loading?.value
    }

    private func take(stored delivery: WebhookDelivery) {
        let wait = delivery.due.millisecondsSinceEpoch - Timestamp.now().millisecondsSinceEpoch
        // A clock that was set must not make a message wait for years.
        queue.add(delivery, due: .now + min(.milliseconds(max(0, wait)), policy.longestDelay))
    }

    /// Sends what is due, and wakes up again when more will be.
    private func pump() {
        guard isStarted, !isStopping else { return }
        for delivery in queue.startable(at: .now) {
            attempts[delivery.id] = Task { await self.attempt(delivery) }
        }
        load()
        alarm?.cancel()
        guard let due = queue.nextDue else { return }
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
        let result: Result<Int, ClientError>
        do throws(ClientError) { result = .success(try await sender.send(delivery)) } catch { result = .failure(error) }
        journal?.end(delivery.id)
        attempts[delivery.id] = nil
        let hasResponded = if case .success = result { begun.duration(to: .now) < Self.slowness } else { false }
        var delivery = delivery
        delivery.attempts += 1
        var random = SystemRandom()
        let verdict = policy.verdict(on: result, attempts: delivery.attempts, using: &random)
        if verdict != .interrupted { queue.note(delivery.id, responded: hasResponded) }
        switch verdict {
        case .interrupted: return
        case .delivered:
            queue.remove(delivery.id)
            _ = store.submit([.dropDelivery(delivery.id)])
            log(.webhook(delivery.download.id, .delivered))
        case .giveUp(let reason):
            queue.remove(delivery.id)
            _ = store.submit([.dropDelivery(delivery.id)])
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

    /// Reads messages that are in the store only, one page at a time: first those that nothing is known of, then those of receivers that
    /// have room again.
    private func load() {
        guard loading == nil, !isStopping else { return }
        if let from = unread {
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
        for delivery in page?.deliveries ?? [] where !queue.contains(delivery.id) { take(stored: delivery) }
        // A page that could not be read is read again.
        let next = page.map(\.next) ?? from
        if let host { queue.endLoading(host, next: next) } else { unread = next }
        pump()
    }
}
