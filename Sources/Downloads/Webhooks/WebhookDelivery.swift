public import HTTPClient
internal import HTTPCore

/// One message to a user's webhook: what it tells, where to, and how often that has been tried.
public struct WebhookDelivery: Sendable {
    /// Names this message: the receiver recognises one that comes twice.
    public let id: DownloadID
    /// Where to.
    public let url: String
    /// The download as it ended.
    public let download: Download
    /// Attempts that failed.
    var attempts = 0
    /// When the next attempt is due, by the wall clock: it has to mean something after a restart.
    var due: Timestamp
}

/// Posts messages to webhooks. What a message looks like is its own affair, but the same message looks the same each time.
public protocol WebhookSender: Sendable {
    /// Makes one attempt.
    /// - Returns: the status of the response.
    /// - Throws: why there is none.
    func send(_ delivery: WebhookDelivery) async throws(ClientError) -> Int
}
