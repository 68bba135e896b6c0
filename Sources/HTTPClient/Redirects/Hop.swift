import HTTPCore

/// One request in a chain of redirects, as it is sent.
struct Hop: Sendable {
    /// The URL without user information.
    var url: HTTPURL
    var method: String
    /// Whether the request has the content of the original request.
    var sendsBody: Bool
    /// Whether the request has all of the caller's fields, and the credentials of the original URL. Otherwise it has the
    /// harmless fields.
    var sendsCallerFields: Bool
    /// Whether a redirect has led from https to http. Credentials of files are not sent any more then.
    var hasLostEncryption: Bool
    /// The number of Digest challenges of the hop's origin that were answered.
    var answeredChallenges = 0
    /// The status of the redirect to this hop; `nil` for the first request.
    var redirectStatus: Int?
}

extension Hop {
    /// Creates the first hop of a request.
    init(_ request: ClientRequest) {
        url = request.url.withoutUserInfo
        method = request.method
        sendsBody = request.body != nil
        sendsCallerFields = true
        hasLostEncryption = request.hasLostEncryption
    }
}
