internal import DownloadCore
internal import Downloads
internal import HTTPClient
internal import HTTPCore
internal import System

/// Posts a download's resource to its webhook, signed if a secret is set.
struct SignedWebhookSender: WebhookSender {
    let client: HTTPClient
    let destinationGuard: DestinationGuard
    /// The key of the signatures, which can change; `nil` if messages are not signed.
    let secret: Locked<String?>
    /// The prefix of the links.
    let linkPrefix: PathPrefix

    /// The maximum number of response bytes read; they are discarded.
    private static let responseLimit = 256 * 1024

    func send(_ delivery: WebhookDelivery) async throws(ClientError) -> Int {
        guard let url = HTTPURL(delivery.url) else { throw .invalidRequest("the webhook's URL is not valid") }
        let body = delivery.download.encoded(linkPrefix)
        var request = ClientRequest(url: url)
        request.method = "POST"
        request.body = .bytes(body)
        request.fields = [("Content-Type", "application/json"), ("Pawl-Delivery", delivery.id.description)]
        if let secret = secret.withLock({ $0 }) {
            request.fields.append(("Pawl-Signature", Self.signature(of: body, secret: secret, at: .now())))
        }
        request.guarding = destinationGuard
        request.connectTimeout = .seconds(10)
        request.headTimeout = .seconds(15)
        request.totalTimeout = .seconds(30)
        // A message must not reach another receiver by a redirect.
        request.maximumRedirects = 0
        return try await client.fetch(request, bodyLimit: Self.responseLimit).head.status.code
    }

    /// The value of `Pawl-Signature`: the time, and the HMAC-SHA256 of time, dot and body. So neither the body nor the
    /// time of an old message can be reused.
    static func signature(of body: [UInt8], secret: String, at now: Timestamp) -> String {
        let seconds = String(now.millisecondsSinceEpoch / 1000)
        let digest = HMAC.sha256(key: Array(secret.utf8), Array(seconds.utf8) + [UInt8(ascii: ".")] + body)
        return "t=\(seconds),v1=\(Hexadecimal.encode(digest))"
    }
}
