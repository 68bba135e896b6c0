/// An absolute, normalised `http` or `https` URL (RFC 3986), parsed strictly, as fits text from a network.
///
/// Scheme and host are lowercase. The default port and the fragment are removed. An empty path is `/`. Characters
/// outside ASCII are percent-encoded UTF-8. Path and query are otherwise unchanged: servers may differ on dot segments
/// and escapes.
public struct HTTPURL: Sendable {
    /// The whole normalised URL, including its user information.
    public let string: String
    /// The scheme, `http` or `https`.
    public let scheme: String
    /// The user information before `@`, as written; nil if there is none. It can be a password and must not be
    /// displayed.
    public let userInfo: String?
    /// The host in lowercase; an IPv6 address without its brackets.
    public let host: String
    /// The port, 1–65535; the scheme's default if none was written.
    public let port: Int
    /// The path as written, at least `/`.
    public let path: String
    /// The query as written, without the question mark; nil if there is none.
    public let query: String?

    /// Parses a URL. Nil if it has another scheme or no host, is not absolute, or contains spaces, controls,
    /// backslashes or other characters that programs read differently. White space around it is not removed.
    ///
    /// A host that the DNS cannot have is refused, such as one with a label of more than 63 characters (``HostName``).
    /// So is a host with characters outside ASCII (IDN); its `xn--` form is accepted.
    public init?(_ string: String) {
        guard let parts = Parts(Array(string.utf8)) else { return nil }
        self.init(parts)
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
        self.scheme = scheme.rawValue
        userInfo = nil
        self.host = host.description
        self.port = port.map { Int($0) } ?? usual
        path = "/"
        query = nil
        string = "\(scheme.rawValue)://\(host)\(self.port == usual ? "" : ":\(self.port)")/"
    }

    init(_ parts: Parts) {
        scheme = parts.scheme
        userInfo = parts.userInfo
        host = parts.host
        port = parts.port ?? (parts.scheme == "https" ? 443 : 80)
        path = parts.path
        query = parts.query
        string = parts.text
    }

    /// Whether the URL has a user name or password, which Pawl never sends from the URL of a redirect.
    public var hasUserInfo: Bool { userInfo != nil }

    /// The host and port in the form of a Host field. The port is omitted if it is the scheme's default.
    public var authority: String {
        let bracketed = host.utf8.contains(ASCII.colon) ? "[\(host)]" : host
        return port == (scheme == "https" ? 443 : 80) ? bracketed : "\(bracketed):\(port)"
    }

    /// The scheme, host and port, always with the port: `https://example.org:443`. Equal for URLs of one origin (RFC
    /// 6454 §4).
    public var origin: String {
        "\(scheme)://" + (host.utf8.contains(ASCII.colon) ? "[\(host)]" : host) + ":\(port)"
    }

    /// Whether both URLs are of one origin.
    public func hasOrigin(of other: HTTPURL) -> Bool { host == other.host && port == other.port && scheme == other.scheme }

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
        userInfo == nil ? string : "\(scheme)://\(authority)\(path)" + (query.map { "?\($0)" } ?? "")
    }
}
