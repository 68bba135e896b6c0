internal import HTTPCore

/// The properties of a request that its response depends on.
struct Exchange {
    /// The number of the request on its connection. A late response to another number is discarded.
    var number: UInt64 = 0
    var isHead = false
    var version = HTTPVersion.http11
    /// The identifier of the request; nil before it has one.
    var id: RequestIdentifier?
    /// The permit that the body's arrival, and then the response, depends on; nil: none.
    var permit: Permit?

    /// Begins another request, whose head may be incomplete.
    mutating func begin(_ head: borrowing RequestHead) {
        number &+= 1
        isHead = head.method == .head
        version = head.version
        id = RequestIdentifier(sentIn: head.fields)
        permit = nil
    }
}
