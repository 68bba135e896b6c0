/// What a request asks for: RFC 9112 §3.2.
///
/// Keeps the bytes as they were sent, so that what is decoded is decoded once and by whoever needs it.
public struct RequestTarget: Sendable {
    /// The forms an origin server takes.
    public enum Form: Sendable, Hashable {
        /// `/path?query`.
        case origin
        /// `http://host/path?query`, which clients send to proxies; its host overrides the Host field.
        case absolute
        /// `*`: the server as a whole, for OPTIONS only.
        case asterisk
    }

    /// Which form it was sent in.
    public private(set) var form = Form.origin
    /// The bytes as sent, and behind them the path that an absolute-form may leave out.
    private var storage: [UInt8] = [ASCII.slash]
    private var rawEnd = 1
    private var authorityStart = 0
    private var authorityEnd = 0
    private var pathStart = 0
    private var pathEnd = 1
    /// -1 without a query.
    private var queryStart = -1

    /// The target `/`.
    public init() {}

    /// Reads a target; throws ``RequestError/malformedTarget(_:)`` for what no origin server can be asked.
    public init(_ raw: String) throws(RequestError) {
        let bytes = Array(raw.utf8)
        for byte in bytes where !ByteSet.requestTarget.contains(byte) {
            throw .malformedTarget("\(ASCII.describe(byte)) must be percent-encoded")
        }
        try assign(bytes.span)
    }

    /// The target as it was sent.
    public var raw: ArraySlice<UInt8> { storage[..<rawEnd] }

    /// The path as it was sent, without the query and what was dropped; otherwise at least `/`, or `*` for the server as a whole.
    public var rawPath: ArraySlice<UInt8> { storage[pathStart..<pathEnd] }

    /// The query as it was sent, without the question mark; nil without one.
    public var rawQuery: ArraySlice<UInt8>? {
        queryStart < 0 ? nil : storage[queryStart..<rawEnd]
    }

    /// Takes a prefix off ``rawPath``, which then begins behind it; it is empty if there is nothing behind it. False, with nothing
    /// changed, if the path is not below the prefix.
    public mutating func drop(_ prefix: PathPrefix) -> Bool {
        let bytes = prefix.text.utf8
        guard rawPath.starts(with: bytes), pathEnd - pathStart == bytes.count || storage[pathStart + bytes.count] == ASCII.slash
        else { return false }
        pathStart += bytes.count
        return true
    }

    /// Host and port of an absolute-form, as sent; nil in the other forms.
    public var rawAuthority: ArraySlice<UInt8>? {
        form == .absolute ? storage[authorityStart..<authorityEnd] : nil
    }

    /// Whether the server as a whole is asked, by `OPTIONS *`.
    public var isAsterisk: Bool { rawPath.first == UInt8(ascii: "*") }

    /// Reads a target whose bytes are all of ``ByteSet/requestTarget``, into storage that is kept.
    mutating func assign(_ bytes: Span<UInt8>) throws(RequestError) {
        storage.removeAll(keepingCapacity: true)
        storage.append(bytes)
        rawEnd = bytes.count
        pathStart = 0
        switch storage.first {
        case ASCII.slash: form = .origin
        case UInt8(ascii: "*") where rawEnd == 1: form = .asterisk
        default:
            form = .absolute
            try readAuthority()
        }
        var index = pathStart
        while index < rawEnd, storage[index] != ASCII.questionMark { index += 1 }
        pathEnd = index
        queryStart = index < rawEnd ? index + 1 : -1
        if pathEnd == pathStart {
            // RFC 9110 §4.2.3: an empty path means "/".
            storage.append(ASCII.slash)
            pathStart = rawEnd
            pathEnd = rawEnd + 1
        }
    }

    private mutating func readAuthority() throws(RequestError) {
        let schemeLength = storage.firstIndex(of: ASCII.colon) ?? 0
        let scheme = storage[..<schemeLength]
        guard scheme.equalsIgnoringCase("http") || scheme.equalsIgnoringCase("https"),
            storage[schemeLength...].starts(with: "://".utf8)
        else { throw .malformedTarget("it must begin with '/', or be an http URL") }
        authorityStart = schemeLength + 3
        authorityEnd = authorityStart
        while authorityEnd < rawEnd, storage[authorityEnd] != ASCII.slash, storage[authorityEnd] != ASCII.questionMark {
            authorityEnd += 1
        }
        // RFC 9110 §4.2.4: userinfo in a request is an error; it makes a host look like another.
        guard Authority.isValid(storage[authorityStart..<authorityEnd].span) else {
            throw .malformedTarget("its host must be a host, and a colon and port if need be")
        }
        pathStart = authorityEnd
    }

    /// Refuses forms that go with another method, and decides what `OPTIONS http://host` means.
    mutating func check(for method: HTTPMethod) throws(RequestError) {
        switch form {
        case .origin: break
        case .asterisk:
            guard method == .options else { throw .malformedTarget("'*' is for OPTIONS only") }
        case .absolute:
            // RFC 9110 §7.4: an https resource must not be served over a connection that isn't secured, and none here is.
            guard ASCII.lowercased(storage[4]) != UInt8(ascii: "s") else { throw .schemeNotServed("https") }
            // RFC 9112 §3.2.4: without path and query, OPTIONS is for the server as a whole.
            if method == .options, pathStart == rawEnd, queryStart < 0 { storage[pathStart] = UInt8(ascii: "*") }
        }
    }
}

extension RequestTarget: CustomStringConvertible {
    /// The target as it was sent.
    public var description: String { String(fieldText: raw) }
}
