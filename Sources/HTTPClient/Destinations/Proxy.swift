import HTTPCore

/// A proxy for requests. It is an HTTP proxy, with or without TLS, or a SOCKS 5 proxy that resolves names itself (RFC
/// 1928). An HTTP proxy uses CONNECT for https (RFC 9110 §9.3.6) and the absolute-form for http.
///
/// Its descriptions omit the user and password, so that they cannot get into a log.
public struct Proxy: Sendable, Equatable {
    /// The protocol between the client and the proxy.
    public enum Scheme: String, Sendable {
        case http, https, socks5h
    }

    /// The protocol between the client and the proxy.
    public let scheme: Scheme
    /// The host name in lowercase, or the address; an IPv6 address without brackets.
    public let host: String
    /// The port, 1–65535. The default is 80 for http, 443 for https and 1080 for SOCKS.
    public let port: Int
    private let userInfo: String?

    /// Parses a URL without path, query and fragment, with optional user and password, whose delimiters must be
    /// percent-encoded. Nil for anything else, including SOCKS variants that resolve names on the client.
    public init?(parsing text: String) {
        guard let mark = text.firstRange(of: "://"), let scheme = Scheme(rawValue: text[..<mark.lowerBound].lowercased()) else {
            return nil
        }
        let rest = text[mark.upperBound...]
        guard !rest.contains("#"), !rest.contains("?"), let url = HTTPURL("http://" + rest), url.path == "/",
            let other = HTTPURL("https://" + rest)
        else { return nil }
        self.scheme = scheme
        host = url.host
        userInfo = url.userInfo
        // If the default ports of the two schemes appear, the text has no port.
        let isWritten = url.port == other.port
        port =
            switch scheme {
            case .http: url.port
            case .https: other.port
            case .socks5h: isWritten ? url.port : 1080
            }
    }

    /// The URL with user and password, only for libcurl.
    var fullURL: String {
        "\(scheme.rawValue)://\(userInfo.map { $0 + "@" } ?? "")\(authority)"
    }

    private var authority: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL without user and password.
    public var description: String { "\(scheme.rawValue)://\(authority)" }
    /// The URL without user and password.
    public var debugDescription: String { description }
    /// A mirror with only the URL, without user and password.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}

extension ClientConfiguration {
    /// The proxy for a URL; nil if the URL is requested directly. A rule with addresses covers only literal addresses,
    /// since a client with a proxy does not resolve names.
    func proxy(for url: HTTPURL) -> Proxy? {
        guard let proxy else { return nil }
        let host = HostSpelling.normalize(url.host)
        let address = IPAddress(parsingLeniently: host)
        let isDirect = directDestinations.contains { rule in
            rule.covers(host: host, port: url.port) || address.map { rule.covers($0, port: url.port) } ?? false
        }
        return isDirect ? nil : proxy
    }
}
