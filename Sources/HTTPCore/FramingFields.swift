/// The fields that determine a request's framing and host. They are recorded while the head is read, and checked at its
/// end.
struct FramingFields: Sendable {
    private var host: Int?
    private var contentLength: Int?
    private var transferEncoding: Int?
    private var repeatsHost = false
    private var repeatsContentLength = false
    private var repeatsTransferEncoding = false
    private var hasConnection = false
    private var hasExpect = false

    /// Records a field's name if it is one of these; `index` is the field's position.
    mutating func record(_ name: Span<UInt8>, at index: Int) {
        // Length and first letter distinguish these names from nearly all others.
        guard let first = name.isEmpty ? nil : ASCII.lowercased(name[0]) else { return }
        switch (name.count, first) {
        case (4, UInt8(ascii: "h")) where name.equalsIgnoringCase("host"):
            if host != nil { repeatsHost = true }
            host = index
        case (6, UInt8(ascii: "e")) where name.equalsIgnoringCase("expect"): hasExpect = true
        case (10, UInt8(ascii: "c")) where name.equalsIgnoringCase("connection"): hasConnection = true
        case (14, UInt8(ascii: "c")) where name.equalsIgnoringCase("content-length"):
            if contentLength != nil { repeatsContentLength = true }
            contentLength = index
        case (17, UInt8(ascii: "t")) where name.equalsIgnoringCase("transfer-encoding"):
            if transferEncoding != nil { repeatsTransferEncoding = true }
            transferEncoding = index
        default: break
        }
    }

    /// Checks the fields, and sets the head's framing, host, persistence and expectation.
    func finish(_ head: inout RequestHead) throws(RequestError) {
        try checkHost(head)
        let framing = try framing(head)
        let keepsAlive = keepsAlive(head)
        let expectsContinue = try expectsContinue(head, framing)
        head.framing = framing
        head.keepsAlive = keepsAlive
        head.expectsContinue = expectsContinue
        if let authority = head.target.rawAuthority {
            // RFC 9112 §3.2.2: the host of a target in absolute-form replaces the Host field.
            head.fields.set(.host, String(decoding: authority, as: UTF8.self))
        }
    }

    /// Checks Host by RFC 9112 §3.2: at most one, valid, and exactly one in HTTP/1.1. RFC 9110 §4.2.1 refuses an empty
    /// host.
    private func checkHost(_ head: borrowing RequestHead) throws(RequestError) {
        guard !repeatsHost else { throw .invalidHost("the field is repeated") }
        guard let host else {
            guard head.version < .http11 else { throw .invalidHost("the field is missing") }
            return
        }
        guard Authority.isValid(head.fields.value(at: host).span) else {
            throw .invalidHost("its value must be a host, and a colon and port if need be")
        }
    }

    /// Derives the framing by RFC 9112 §6.1–6.3.
    private func framing(_ head: borrowing RequestHead) throws(RequestError) -> BodyFraming {
        if let transferEncoding {
            guard contentLength == nil else { throw .conflictingFraming }
            // RFC 9112 §6.1: framing with a transfer coding in an HTTP/1.0 message is faulty.
            guard head.version >= .http11 else { throw .invalidTransferEncoding("HTTP/1.0 has no transfer codings") }
            guard !repeatsTransferEncoding else { throw .invalidTransferEncoding("the field is repeated") }
            try checkTransferCodings(head.fields.value(at: transferEncoding))
            return .chunked
        }
        if let contentLength {
            guard !repeatsContentLength else { throw .invalidContentLength("the field is repeated") }
            guard let length = head.fields.value(at: contentLength).decimalValue else {
                throw .invalidContentLength("its value must be one decimal number below 2^63")
            }
            return .length(length)
        }
        return .none
    }

    private func checkTransferCodings(_ value: ArraySlice<UInt8>) throws(RequestError) {
        if value.equalsIgnoringCase("chunked") { return }
        var unknown: ArraySlice<UInt8>?
        var last: ArraySlice<UInt8> = []
        var chunkedCount = 0
        for coding in ListMembers(value) {
            last = coding
            if coding.equalsIgnoringCase("chunked") {
                chunkedCount += 1
            } else if unknown == nil {
                unknown = coding
            }
        }
        // RFC 9112 §6.3: unless chunked is final, the body's end cannot be determined, and 400 is required. 501 is for
        // the others.
        guard chunkedCount == 1, last.equalsIgnoringCase("chunked"), let unknown else {
            throw .invalidTransferEncoding("it must be chunked, once and last")
        }
        throw .unsupportedTransferCoding(String(fieldText: unknown.prefix(64)))
    }

    /// Whether the connection persists: RFC 9112 §9.3.
    private func keepsAlive(_ head: borrowing RequestHead) -> Bool {
        let isCurrent = head.version >= .http11
        guard hasConnection else { return isCurrent }
        if head.fields.contains(.connection, token: "close") { return false }
        return isCurrent || head.fields.contains(.connection, token: "keep-alive")
    }

    /// Whether the client expects 100 Continue. RFC 9110 §10.1.1: the expectation of an HTTP/1.0 client is ignored.
    private func expectsContinue(_ head: borrowing RequestHead, _ framing: BodyFraming) throws(RequestError) -> Bool {
        guard hasExpect, head.version >= .http11 else { return false }
        var isExpected = false
        for index in 0..<head.fields.count where head.fields.matches(index, .expect) {
            for member in ListMembers(head.fields.value(at: index)) {
                guard member.equalsIgnoringCase("100-continue") else {
                    throw .unsupportedExpectation(String(fieldText: member.prefix(64)))
                }
                isExpected = true
            }
        }
        switch framing {
        case .none, .length(0): return false
        case .length, .chunked: return isExpected
        }
    }
}
