import HTTPCore

/// One request in a chain of redirects, as it is sent.
struct Hop: Sendable {
    /// The URL without user information.
    var url: HTTPURL
    var method: String
    /// Whether the request has the content of the original request.
    var sendsBody: Bool
    /// The trust in `url`, which decides the fields.
    var trust: RequestTrust
    /// The credentials of the original URL, as the value of Authorization; nil without any, and after a redirect to
    /// another origin.
    var authorization: String?
    /// The last URL to which only permanent redirects have led: the original URL without any.
    var permanentURL: HTTPURL
    /// Whether only permanent redirects have led to `url`.
    var isPermanent = true
    /// The number of Digest challenges of the hop's origin that were answered.
    var answeredChallenges = 0
    /// The status of the redirect to this hop; `nil` for the first request.
    var redirectStatus: Int?

    /// Whether the request has the caller's conditions. They are about the content of the original URL, and the target of
    /// permanent redirects has to send its own.
    var sendsConditions: Bool { redirectStatus == nil || !isPermanent }
}

extension Hop {
    /// Creates the first hop of a request.
    init(_ request: ClientRequest) {
        url = request.url.withoutUserInfo
        method = request.method
        sendsBody = request.body != nil
        trust = request.trust
        authorization = request.url.basicAuthorization
        permanentURL = request.url
    }
}
