/// The target of a request: RFC 9112 §3.2.
///
/// It keeps the bytes as they were sent, but with escapes for `"` and for bytes from 0x80, which clients such as Go's
/// `net/http` and curl send as they were typed. Callers decode only what they need.
public struct RequestTarget: Sendable {
    /// The forms of a target that an origin server accepts.
    public enum Form: Sendable, Hashable {
        /// A path and query: `/path?query`.
        case origin
        /// A URL, `http://host/path?query`, which clients send to proxies. Its host replaces the Host field.
        case absolute
        /// The server as a whole: `*`, for OPTIONS only.
        case asterisk
    }

    /// The form in which the target was sent.
    public private(set) var form = Form.origin
    /// The target with its escapes, followed by the path that an absolute-form may omit.
    private var storage: [UInt8] = [ASCII.slash]
    private var rawEnd = 1
    private var authorityStart = 0
    private var authorityEnd = 0
    private var pathStart = 0
    private var pathEnd = 1
    /// The offset of the query; −1 if there is none.
    private var queryStart = -1

    /// Creates the target `/`.
    public init() {}

    /// Parses a target.
    /// - Throws: ``RequestError/malformedTarget(_:)`` for a target that no origin server accepts.
    public init(_ raw: String) throws(RequestError) {
        let bytes = Array(raw.utf8)
        for byte in bytes where !ByteSet.sentTarget.contains(byte) {
            throw .malformedTarget("\(ASCII.describe(byte)) must be percent-encoded")
        }
        try assign(bytes.span, needsEscapes: true)
    }

    /// The target as it was sent, with escapes.
    public var raw: ArraySlice<UInt8> { storage[..<rawEnd] }

    /// The path as in ``raw``, without the query and a dropped prefix. Unless a prefix was dropped, it is at least
    /// `/`, or `*` for the server as a whole.
    public var rawPath: ArraySlice<UInt8> { storage[pathStart..<pathEnd] }

    /// The query as in ``raw``, without the question mark; nil if there is none.
    public var rawQuery: ArraySlice<UInt8>? {
        queryStart < 0 ? nil : storage[queryStart..<rawEnd]
    }

    /// Removes a prefix from ``rawPath``, which may become empty. Returns false, without a change, if the path is not
    /// below the prefix.
    public mutating func drop(_ prefix: PathPrefix) -> Bool {
        let bytes = prefix.text.utf8
        guard rawPath.starts(with: bytes), pathEnd - pathStart == bytes.count || storage[pathStart + bytes.count] == ASCII.slash
        else { return false }
        pathStart += bytes.count
        return true
    }

    /// The host and port of an absolute-form, as sent; nil in the other forms.
    public var rawAuthority: ArraySlice<UInt8>? {
        form == .absolute ? storage[authorityStart..<authorityEnd] : nil
    }

    /// Whether the target is the server as a whole: `OPTIONS *`.
    public var isAsterisk: Bool { rawPath.first == UInt8(ascii: "*") }

    /// Parses a target whose bytes are all in ``ByteSet/sentTarget``, and reuses the storage.
    /// - Parameter needsEscapes: Whether some bytes may be outside of ``ByteSet/requestTarget``.
    mutating func assign(_ bytes: Span<UInt8>, needsEscapes: Bool) throws(RequestError) {
        storage.removeAll(keepingCapacity: true)
        if !needsEscapes {
            storage.append(bytes)
        } else {
            guard (try? UTF8Span(validating: bytes)) != nil else {
                throw .malformedTarget("its bytes outside of ASCII must be UTF-8, or percent-encoded")
            }
            for index in bytes.indices {
                PercentEncoding.append(bytes[index], isKept: ByteSet.requestTarget.contains(bytes[index]), to: &storage)
            }
        }
        rawEnd = storage.count
        pathStart = 0
        switch storage.first {
        case ASCII.slash: form = .origin
        case UInt8(ascii: "*") where rawEnd == 1: form = .asterisk
        default:
            form = .absolute
            try readAuthority()
        }
        pathEnd = storage.span.offset(of: ASCII.questionMark, from: pathStart)
        queryStart = pathEnd < rawEnd ? pathEnd + 1 : -1
        if pathEnd == pathStart {
            // RFC 9110 §4.2.3: an empty path is equivalent to "/".
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
        // RFC 9110 §4.2.4: user information in a request is an error, since it can disguise the host.
        guard Authority.isValid(storage[authorityStart..<authorityEnd].span) else {
            throw .malformedTarget("its host must be a host, and a colon and port if need be")
        }
        pathStart = authorityEnd
    }

    /// Refuses forms that the method does not allow, and turns `OPTIONS http://host` into the server as a whole.
    mutating func check(for method: HTTPMethod) throws(RequestError) {
        switch form {
        case .origin: break
        case .asterisk:
            guard method == .options else { throw .malformedTarget("'*' is for OPTIONS only") }
        case .absolute:
            // RFC 9110 §7.4: an https resource must not be served over an unsecured connection, and this server has no
            // secured ones.
            guard ASCII.lowercased(storage[4]) != UInt8(ascii: "s") else { throw .schemeNotServed("https") }
            // RFC 9112 §3.2.4: OPTIONS without path and query is for the server as a whole.
            if method == .options, pathStart == rawEnd, queryStart < 0 { storage[pathStart] = UInt8(ascii: "*") }
        }
    }
}

extension RequestTarget: CustomStringConvertible {
    /// The target as in ``RequestTarget/raw``.
    public var description: String { String(fieldText: raw) }
}
