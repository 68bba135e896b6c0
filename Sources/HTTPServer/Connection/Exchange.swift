internal import HTTPCore

/// What must be remembered of a request to write its response.
struct Exchange {
    /// Grows by one with each request of the connection, so that a late answer isn't taken for another's.
    var number: UInt64 = 0
    var isHead = false
    var version = HTTPVersion.http11
    /// The value of X-Request-Id.
    var id = ""
}
