import HTTPCore

/// One request of a chain of redirects: what is actually sent.
struct Hop: Sendable {
    /// Without user information.
    var url: HTTPURL
    var method: String
    /// Whether the content of the original request is sent along.
    var sendsBody: Bool
    /// Whether the caller's fields, and credentials from the original URL, are sent along.
    var sendsCallerFields: Bool
    /// The status of the redirect that led here; `nil` for the first request.
    var redirectStatus: Int?
}

extension Hop {
    /// The first hop of a request.
    init(_ request: ClientRequest) {
        url = request.url.withoutUserInfo
        method = request.method
        sendsBody = request.body != nil
        sendsCallerFields = true
    }
}
