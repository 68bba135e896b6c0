internal import HTTPClient
internal import HTTPCore

/// Delivers messages to webhooks, apart from everything that transfers: each at least once, after a restart too, unless it is
/// given up.
actor WebhookDispatcher {
    private let sender: any WebhookSender
    private let store: any RecordStore
    private let policy: WebhookPolicy
    private let log: @Sendable (DownloadLogEvent) -> Void
    private var queue = WebhookQueue()
    private var attempts: [DownloadID: Task<Void, Never>] = [:]
    private var alarm: Task<Void, Never>?
    private var isStarted = false
    private var isStopping = false

    init(
        sender: any WebhookSender, store: any RecordStore, policy: WebhookPolicy,
        log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) {
        self.sender = sender
        self.store = store
        self.policy = policy
        self.log = log
    }

    /// Begins to deliver, first what an earlier run has left.
    func start(with pending: [WebhookDelivery]) {
        isStarted = true
        let now = Timestamp.now()
        for delivery in pending {
            let wait = delivery.due.millisecondsSinceEpoch.subtractingReportingOverflow(now.millisecondsSinceEpoch).partialValue
            // A clock that was set must not make a message wait for years.
            take(delivery, after: min(.milliseconds(max(0, wait)), policy.longestDelay))
        }
        pump()
    }

    /// Delivers a message.
    func post(_ delivery: WebhookDelivery) {
        // One that was taken over may come twice.
        guard !isStopping, !queue.contains(delivery.id) else { return }
        take(delivery, after: .zero)
        pump()
    }

    /// Breaks off what is on its way. It is kept, and delivered after the next start.
    func stop() async {
        isStopping = true
        alarm?.cancel()
        for attempt in attempts.values { attempt.cancel() }
        for attempt in Array(attempts.values) { await attempt.value }
    }

    private func take(_ delivery: WebhookDelivery, after delay: Duration) {
        if queue.add(delivery, due: .now + delay) { return }
        drop(delivery, "too many messages wait to be delivered")
    }

    /// Sends what is due, and wakes up again when more will be.
    private func pump() {
        guard isStarted, !isStopping else { return }
        for delivery in queue.startable(at: .now) {
            attempts[delivery.id] = Task { await self.attempt(delivery) }
        }
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
        let result: Result<Int, ClientError>
        do throws(ClientError) { result = .success(try await sender.send(delivery)) } catch { result = .failure(error) }
        attempts[delivery.id] = nil
        var delivery = delivery
        delivery.attempts += 1
        var random = SystemRandom()
        switch policy.verdict(on: result, attempts: delivery.attempts, using: &random) {
        case .interrupted: return
        case .delivered:
            queue.remove(delivery.id)
            _ = store.submit([.dropDelivery(delivery.id)])
            log(.webhook(delivery.download.id, .delivered))
        case .giveUp(let reason): drop(delivery, reason)
        case .retry(let delay, let reason):
            delivery.due = Timestamp(
                millisecondsSinceEpoch: Timestamp.now().millisecondsSinceEpoch + Int64(delay / .milliseconds(1)))
            _ = store.submit([.keepDelivery(delivery)])
            log(.webhook(delivery.download.id, .retried(reason, isFirst: delivery.attempts == 1)))
            take(delivery, after: delay)
        }
        pump()
    }

    private func drop(_ delivery: WebhookDelivery, _ reason: String) {
        queue.remove(delivery.id)
        _ = store.submit([.dropDelivery(delivery.id)])
        log(.webhook(delivery.download.id, .givenUp(reason)))
    }
}
