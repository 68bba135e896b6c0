internal import DownloadCore
internal import Downloads
internal import HTTPClient
internal import HTTPCore
internal import PawlConfiguration
internal import System

/// Posts messages to webhooks by Standard Webhooks 1.0.0, signed if there is a secret.
struct SignedWebhookSender: WebhookSender {
    let client: HTTPClient
    let destinationGuard: DestinationGuard
    /// The secrets that sign each message, which can change; none if messages are not signed.
    let secrets: Locked<[WebhookSecret]>
    /// The prefix of the links.
    let linkPrefix: PathPrefix

    /// The maximum number of response bytes read; they are discarded.
    private static let responseLimit = 256 * 1024

    func resource(of download: Download) -> [UInt8] { download.encoded(linkPrefix) }

    func send(_ delivery: WebhookDelivery) async throws(ClientError) -> Int {
        guard let url = HTTPURL(delivery.url) else { throw .invalidRequest("the webhook's URL is not valid") }
        var request = ClientRequest(url: url)
        request.method = "POST"
        request.body = .bytes(delivery.body)
        request.fields = Self.fields(of: delivery, secrets: secrets.withLock { $0 }, at: .now())
        request.guarding = destinationGuard
        request.connectTimeout = .seconds(10)
        request.headTimeout = .seconds(15)
        request.totalTimeout = .seconds(30)
        // A message must not reach another receiver by a redirect.
        request.maximumRedirects = nil
        return try await client.fetch(request, bodyLimit: Self.responseLimit, cutsBody: true).head.status.code
    }

    /// Returns the fields of an attempt. The signatures cover the id, the time of the attempt and the body, so that no
    /// part of an old message can be reused.
    static func fields(
        of delivery: WebhookDelivery, secrets: [WebhookSecret], at now: Timestamp
    ) -> [(String, String)] {
        let (id, seconds) = (delivery.id.description, now.millisecondsSinceEpoch / 1000)
        var fields = [
            ("Content-Type", "application/json"), ("webhook-id", id), ("webhook-timestamp", String(seconds)),
        ]
        if !secrets.isEmpty {
            let signatures = secrets.map { $0.signature(id: id, seconds: seconds, body: delivery.body) }
            fields.append(("webhook-signature", signatures.joined(separator: " ")))
        }
        return fields
    }
}
