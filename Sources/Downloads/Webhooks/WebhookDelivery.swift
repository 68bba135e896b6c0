internal import HTTPCore

/// One message to a user's webhook: what is posted, where to, and how often that has been tried.
struct WebhookDelivery: Sendable, Equatable {
    /// Names this message: the receiver recognises one that comes twice.
    var id: DownloadID
    /// Whose end it tells of.
    var downloadID: DownloadID
    /// Where to.
    var url: String
    /// The download as it ended, as JSON.
    var body: [UInt8]
    /// Attempts that failed.
    var attempts = 0
    /// When the next attempt is due, by the wall clock: it has to mean something after a restart.
    var due: Timestamp

    /// The value of `Pawl-Signature`: the time, and the HMAC-SHA256 of time, dot and body, so that neither the body nor the time
    /// of an old message can be passed off as new.
    static func signature(of body: [UInt8], secret: String, at now: Timestamp) -> String {
        let seconds = String(now.millisecondsSinceEpoch / 1000)
        let digest = HMAC.sha256(key: Array(secret.utf8), Array(seconds.utf8) + [UInt8(ascii: ".")] + body)
        return "t=\(seconds),v1=\(Hexadecimal.encode(digest))"
    }
}
