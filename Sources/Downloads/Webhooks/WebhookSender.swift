public import DownloadCore
public import HTTPClient

/// Posts messages to webhooks.
public protocol WebhookSender: Sendable {
    /// Makes one attempt to deliver a message.
    /// - Returns: The status of the response.
    /// - Throws: The reason why there is no response.
    func send(_ delivery: WebhookDelivery) async throws(ClientError) -> Int

    /// Returns the JSON text of a download for messages about it.
    func resource(of download: Download) -> [UInt8]
}
