public import HTTPClient
internal import HTTPCore

/// One message to a client's webhook, with the number of failed attempts.
public struct WebhookDelivery: Sendable {
    /// The id of the message. The receiver recognises a repeated message by it.
    public let id: DownloadID
    /// The URL of the webhook.
    public let url: String
    /// The download at its end.
    public let download: Download
    /// The number of failed attempts.
    var attempts = 0
    /// The time of the next attempt, by the wall clock: it must hold after a restart.
    var due: Timestamp
}

/// Posts messages to webhooks, in a format of its own. A repeated message has the same content.
public protocol WebhookSender: Sendable {
    /// Makes one attempt to deliver a message.
    /// - Returns: The status of the response.
    /// - Throws: The reason why there is no response.
    func send(_ delivery: WebhookDelivery) async throws(ClientError) -> Int
}
