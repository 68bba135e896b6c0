package import HTTPCore

/// One message to a client's webhook, with the number of failed attempts.
public struct WebhookDelivery: Sendable {
    /// The id of the message. The receiver recognises a repeated message by it.
    public let id: DownloadID
    /// The URL of the webhook.
    public let url: String
    /// The download at its end.
    public let download: Download
    /// The number of failed attempts.
    package var attempts = 0
    /// The time of the next attempt, by the wall clock: it must hold after a restart.
    package var due: Timestamp

    package init(id: DownloadID, url: String, download: Download, attempts: Int = 0, due: Timestamp) {
        self.id = id
        self.url = url
        self.download = download
        self.attempts = attempts
        self.due = due
    }
}
