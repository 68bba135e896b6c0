/// An absolute `http` or `https` URL, normalised: RFC 3986, read as strictly as a URL that came over a network should be.
///
/// Scheme and host are lowercase, the default port and the fragment are gone, an empty path is `/`, and characters outside
/// ASCII are percent-encoded UTF-8. Path and query are otherwise as written: dot segments and escapes stay, because two
/// servers may treat them differently.
public struct HTTPURL: Sendable {
    /// The whole URL, normalised, with userinfo if it had any.
    public let string: String
    /// `http` or `https`.
    public let scheme: String
    /// The part before `@`, as written; nil without. It can be a password: don't show it.
    public let userInfo: String?
    /// Lowercase; an IPv6 address without its brackets.
    public let host: String
    /// 1–65535; the scheme's own if none was written.
    public let port: Int
    /// As written, at least `/`.
    public let path: String
    /// As written, without the question mark; nil without one.
    public let query: String?

    /// Reads a URL; nil if it has another scheme or no host, isn't absolute, or holds spaces, controls, backslashes or other
    /// characters that programs read differently. Not trimmed: a URL with a space in front isn't one.
    ///
    /// So is a host that nobody can have (``HostName``: a label of more than 63 characters, a hyphen at its end). One with
    /// characters outside ASCII (IDN) is refused; its `xn--` form is accepted.
    public init?(_ string: String) {
        guard let parts = Parts(Array(string.utf8)) else { return nil }
        self.init(parts)
    }

    /// What a service of a host and port is reached by.
    public enum Scheme: String, Sendable {
        case http, https
    }

    /// The root of a service that the program itself knows.
    /// - Parameters:
    ///   - scheme: how it is served.
    ///   - host: its name in lowercase, or its IPv4 address; not checked.
    ///   - port: where; `nil` is the scheme's own.
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

    /// Whether it carries a name or password, which Pawl never sends from a URL it was redirected to.
    public var hasUserInfo: Bool { userInfo != nil }

    /// Host and port as a Host field has them: the port only if it isn't the scheme's own.
    public var authority: String {
        let bracketed = host.utf8.contains(ASCII.colon) ? "[\(host)]" : host
        return port == (scheme == "https" ? 443 : 80) ? bracketed : "\(bracketed):\(port)"
    }

    /// Scheme, host and port, always with the port: `https://example.org:443`. Equal for URLs of one origin (RFC 6454 §4).
    public var origin: String {
        "\(scheme)://" + (host.utf8.contains(ASCII.colon) ? "[\(host)]" : host) + ":\(port)"
    }

    /// What stands behind the last slash of the path, to name a file after; nil if that is nothing.
    ///
    /// Percent-decoded, as UTF-8 or else ISO-8859-1; as written if an escape is bad. Nothing about it is safe: it can hold
    /// slashes, dots and controls.
    public var lastPathComponent: String? {
        let bytes = Array(path.utf8)
        guard let slash = bytes.lastIndex(of: ASCII.slash) else { return nil }
        let component = bytes[(slash + 1)...]
        guard !component.isEmpty else { return nil }
        return String(fieldText: PercentEncoding.decodeBytes(component) ?? Array(component))
    }
}

extension HTTPURL: Hashable {
    /// Whether both are the same, normalised.
    public static func == (left: HTTPURL, right: HTTPURL) -> Bool {
        left.string == right.string
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(string)
    }
}

extension HTTPURL: CustomStringConvertible {
    /// The normalised URL without userinfo, which may be a password.
    public var description: String {
        userInfo == nil ? string : "\(scheme)://\(authority)\(path)" + (query.map { "?\($0)" } ?? "")
    }
}
