package import HTTPCore
internal import JSON

/// One message to one webhook, with the number of failed attempts.
public struct WebhookDelivery: Sendable {
    /// The id of the message. The receiver recognises a repeated message by it.
    public let id: RecordID
    /// The URL of the webhook.
    public let url: String
    /// The download or subscription that the message is about; `nil`: it is about the service.
    package let subject: RecordID?
    /// The body, which is the same in every attempt.
    public let body: [UInt8]
    /// The number of failed attempts.
    package var attempts = 0
    /// The time of the next attempt, by the wall clock: it must hold after a restart.
    package var due: Timestamp

    package init(id: RecordID, url: String, subject: RecordID?, body: [UInt8], attempts: Int = 0, due: Timestamp) {
        self.id = id
        self.url = url
        self.subject = subject
        self.body = body
        self.attempts = attempts
        self.due = due
    }

    /// Returns the body of a message, as Standard Webhooks 1.0.0 recommends it.
    /// - Parameters:
    ///   - time: The time of the event.
    ///   - data: The JSON text of the event's data.
    /// - Returns: A JSON object with `type`, `timestamp` and `data`.
    package static func body(_ type: WebhookMessageType, at time: Timestamp, data: [UInt8]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("type", type.rawValue)
        writer.member("timestamp", time.description)
        writer.name("data")
        writer.raw(data)
        writer.endObject()
        return writer.bytes
    }
}
