internal import HTTPCore

/// What must be remembered of a request to write its response.
struct Exchange {
    /// Grows by one with each request of the connection, so that a late response isn't taken for another's.
    var number: UInt64 = 0
    var isHead = false
    var version = HTTPVersion.http11
    /// What names the request; nil until there is something.
    var id: RequestIdentifier?
    /// What its body arrives by, then what its response goes on by; nil: nothing takes that back.
    var permit: Permit?

    /// Another request has begun; its head may be known in part only.
    mutating func begin(_ head: borrowing RequestHead) {
        number &+= 1
        isHead = head.method == .head
        version = head.version
        id = RequestIdentifier(sentIn: head.fields)
        permit = nil
    }
}
