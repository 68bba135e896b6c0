package import DownloadCore
internal import DownloadStore
internal import HTTPCore
internal import JSON
internal import System

/// Messages to webhooks.
extension DownloadService {
    /// The longest wait for the receivers of a test message.
    public static let webhookTestLimit: Duration = .seconds(10)

    /// Returns the messages about the end of a download in the form that is stored and sent.
    nonisolated func deliveries(of announcements: [EndAnnouncement]) -> [WebhookDelivery] {
        guard let webhooks else { return [] }
        return announcements.map { announcement in
            let download = announcement.download
            let body = WebhookDelivery.body(
                WebhookMessageType(endOf: download), at: download.endedAt ?? download.updatedAt,
                data: webhooks.sender.resource(of: download))
            return WebhookDelivery(
                id: announcement.id, url: announcement.url, subject: download.id, body: body, due: clock.now)
        }
    }

    /// Returns the messages about an event to the default webhooks; none if the operator has not selected the type.
    /// - Parameters:
    ///   - subject: The subscription that the event is about; `nil`: it is about the service.
    ///   - data: The JSON text of the event's data.
    package func deliveries(
        _ type: WebhookMessageType, about subject: RecordID?, data: [UInt8]
    ) -> [WebhookDelivery] {
        let receivers = context.callsWebhooks ? context.defaultWebhooks.receivers(of: type) : []
        guard !receivers.isEmpty else { return [] }
        let now = clock.now
        let body = WebhookDelivery.body(type, at: now, data: data)
        return receivers.map { WebhookDelivery(id: makeID(), url: $0, subject: subject, body: body, due: now) }
    }

    /// Delivers the messages among changes once these are durable.
    nonisolated func deliver(_ changes: [StoreChange], after commit: StoreCommit) {
        let deliveries = changes.compactMap { if case .keepDelivery(let delivery) = $0 { delivery } else { nil } }
        guard !deliveries.isEmpty else { return }
        commit.whenDone { [webhooks] error in
            guard error == nil else { return }
            Task { for delivery in deliveries { await webhooks?.post(delivery) } }
        }
    }

    /// Notifies the default webhooks of an impairment that has begun. The message is sent even if it cannot be stored.
    func announce(_ degraded: [StoreCondition.Degradation]) async {
        guard !isShuttingDown else { return }
        let deliveries = deliveries(.serviceDegraded, about: nil, data: Self.data(of: degraded))
        guard !deliveries.isEmpty else { return }
        _ = store.submit(deliveries.map(StoreChange.keepDelivery))
        for delivery in deliveries { await webhooks?.post(delivery) }
    }

    private static func data(of degraded: [StoreCondition.Degradation]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("degraded")
        writer.beginArray()
        for degradation in degraded { writer.value(degradation.rawValue) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    /// Sends a test message to each default webhook, once. Concurrent tests are one test.
    /// - Returns: The outcomes, in the order of the settings.
    public func testWebhooks() async -> [WebhookTest] {
        guard let tester = parts.webhookTester else { return [] }
        let now = clock.now
        let body = WebhookDelivery.body(.test, at: now, data: Array("{}".utf8))
        let deliveries = context.defaultWebhooks.urls.map { url in
            WebhookDelivery(id: makeID(), url: url.string, subject: nil, body: body, due: now)
        }
        return await tester.test(deliveries, within: Self.webhookTestLimit)
    }
}
