/// An absolute, normalised `http` or `https` URL (RFC 3986), parsed strictly, as fits text from a network.
///
/// Scheme and host are lowercase. The default port and the fragment are removed. An empty path is `/`. Characters
/// outside ASCII are percent-encoded UTF-8. Path and query are otherwise unchanged: servers may differ on dot segments
/// and escapes.
public struct HTTPURL: Sendable {
    /// The whole normalised URL, including its user information.
    public let string: String
    /// The port, 1–65535; the scheme's default if none was written.
    public let port: Int
    /// The positions of the components in the UTF-8 of ``string``. The host stands without its brackets.
    private let hostStart, hostEnd, pathStart, pathEnd: UInt32

    /// Parses a URL. Nil if it has another scheme or no host, is not absolute, or contains spaces, controls,
    /// backslashes or other characters that programs read differently. White space around it is not removed.
    ///
    /// A host that the DNS cannot have is refused, such as one with a label of more than 63 characters (``HostName``).
    /// So is a host with characters outside ASCII (IDN); its `xn--` form is accepted.
    public init?(_ string: String) {
        self.init(Array(string.utf8)[...])
    }

    /// Parses a URL by the rules of ``init(_:)-(String)``.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard let parser = Parser(bytes) else { return nil }
        string = String(decoding: parser.text, as: UTF8.self)
        port = parser.port
        (hostStart, hostEnd) = (UInt32(clamping: parser.host.lowerBound), UInt32(clamping: parser.host.upperBound))
        (pathStart, pathEnd) = (UInt32(clamping: parser.path.lowerBound), UInt32(clamping: parser.path.upperBound))
    }

    /// The scheme of a service.
    public enum Scheme: String, Sendable {
        case http, https
    }

    /// Creates the root URL of a service that is a constant of the program.
    /// - Parameters:
    ///   - scheme: The scheme of the service.
    ///   - host: The name in lowercase, or the IPv4 address; not checked.
    ///   - port: The port; `nil` is the scheme's default.
    public init(_ scheme: Scheme, host: StaticString, port: UInt16? = nil) {
        let usual = scheme == .https ? 443 : 80
        self.port = port.map { Int($0) } ?? usual
        let start = "\(scheme.rawValue)://"
        let origin = "\(start)\(host)\(self.port == usual ? "" : ":\(self.port)")"
        string = origin + "/"
        (hostStart, hostEnd) = (UInt32(start.utf8.count), UInt32(start.utf8.count + host.utf8CodeUnitCount))
        (pathStart, pathEnd) = (UInt32(origin.utf8.count), UInt32(origin.utf8.count + 1))
    }

    /// Creates a URL of the same origin and user.
    /// - Parameters:
    ///   - path: The encoded path, at least `/`.
    ///   - query: The encoded query; nil if there is none.
    func with(path: String, query: String?) -> HTTPURL { HTTPURL(self, path: path, query: query) }

    private init(_ other: HTTPURL, path: String, query: String?) {
        (port, hostStart, hostEnd, pathStart) = (other.port, other.hostStart, other.hostEnd, other.pathStart)
        pathEnd = UInt32(clamping: Int(pathStart) + path.utf8.count)
        string = other.text(0..<pathStart) + path + (query.map { "?\($0)" } ?? "")
    }

    // MARK: - Components

    private func text(_ range: Range<UInt32>) -> String {
        let bytes = string.utf8
        let start = bytes.index(bytes.startIndex, offsetBy: Int(range.lowerBound))
        return String(Substring(bytes[start..<bytes.index(start, offsetBy: range.count)]))
    }

    /// The scheme, `http` or `https`.
    public var scheme: String { isEncrypted ? "https" : "http" }

    /// Whether the scheme is `https`.
    public var isEncrypted: Bool { string.utf8.dropFirst(4).first != ASCII.colon }

    /// The position behind the scheme and its slashes.
    private var authorityStart: UInt32 { isEncrypted ? 8 : 7 }

    /// Whether the host is an IPv6 address, which has brackets in a URL.
    private var isLiteral: Bool { string.utf8.dropFirst(Int(hostStart) - 1).first == UInt8(ascii: "[") }

    /// The user information before `@`, as written; nil if there is none. It can be a password and must not be
    /// displayed.
    public var userInfo: String? { hasUserInfo ? text(authorityStart..<(hostStart - (isLiteral ? 2 : 1))) : nil }

    /// The host in lowercase; an IPv6 address without its brackets.
    public var host: String { text(hostStart..<hostEnd) }

    /// The path as written, at least `/`.
    public var path: String { text(pathStart..<pathEnd) }

    /// The query as written, without the question mark; nil if there is none.
    public var query: String? {
        let end = UInt32(clamping: string.utf8.count)
        return pathEnd < end ? text((pathEnd + 1)..<end) : nil
    }

    /// Whether the URL has a user name or password, which Pawl never sends from the URL of a redirect.
    public var hasUserInfo: Bool { hostStart > authorityStart + (isLiteral ? 1 : 0) }

    /// The host and port in the form of a Host field. The port is omitted if it is the scheme's default.
    public var authority: String { text((hostStart - (isLiteral ? 1 : 0))..<pathStart) }

    /// The scheme, host and port, always with the port: `https://example.org:443`. Equal for URLs of one origin (RFC
    /// 6454 §4).
    public var origin: String {
        let hasPort = hostEnd + (isLiteral ? 1 : 0) < pathStart
        if hasPort, !hasUserInfo { return text(0..<pathStart) }
        return "\(scheme)://" + (isLiteral ? "[\(host)]" : host) + ":\(port)"
    }

    /// Whether both URLs are of one origin.
    public func hasOrigin(of other: HTTPURL) -> Bool {
        port == other.port && isEncrypted == other.isEncrypted && host == other.host
    }

    /// The text after the last slash of the path, as a candidate for a file name; nil if it is empty.
    ///
    /// It is percent-decoded, as UTF-8 or else ISO-8859-1; as written if an escape is invalid. It is not safe as a file
    /// name: it can contain slashes, dots and controls.
    public var lastPathComponent: String? {
        let bytes = Array(path.utf8)
        guard let slash = bytes.lastIndex(of: ASCII.slash) else { return nil }
        let component = bytes[(slash + 1)...]
        guard !component.isEmpty else { return nil }
        return String(fieldText: PercentEncoding.decodeBytes(component) ?? Array(component))
    }
}

extension HTTPURL: Hashable {
    /// Whether both are the same after normalisation.
    public static func == (left: HTTPURL, right: HTTPURL) -> Bool {
        left.string == right.string
    }

    /// Hashes the normalised URL.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(string)
    }
}

extension HTTPURL: CustomStringConvertible {
    /// The normalised URL without user information, which may be a password.
    public var description: String {
        hasUserInfo ? "\(scheme)://\(authority)\(path)" + (query.map { "?\($0)" } ?? "") : string
    }
}
