public import DownloadCore
public import HTTPClient

/// Posts messages to webhooks, in a format of its own. A repeated message has the same content.
public protocol WebhookSender: Sendable {
    /// Makes one attempt to deliver a message.
    /// - Returns: The status of the response.
    /// - Throws: The reason why there is no response.
    func send(_ delivery: WebhookDelivery) async throws(ClientError) -> Int
}
