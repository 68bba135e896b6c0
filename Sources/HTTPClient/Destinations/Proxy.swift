import HTTPCore

/// A proxy that requests are sent through: an HTTP proxy (RFC 9110 §9.3.6 CONNECT for https, the absolute form for http), with TLS
/// between it and us or without, or a SOCKS 5 proxy that resolves names itself (RFC 1928).
///
/// It never tells its user and password, so that they cannot end up in a log.
public struct Proxy: Sendable, Equatable {
    /// How it is spoken to.
    public enum Scheme: String, Sendable {
        case http, https, socks5h
    }

    /// How it is spoken to.
    public let scheme: Scheme
    /// Its name in lower case or its address, an IPv6 one without brackets.
    public let host: String
    /// 1–65535: 80, 443 or, of SOCKS, 1080 if none was written.
    public let port: Int
    private let userInfo: String?

    /// Reads a URL without a path, a query or a fragment, optionally with user and password, percent-encoded where they hold a
    /// delimiter; nil for anything else, and for SOCKS that would have names resolved here.
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
        // Where the defaults of two schemes differ, no port was written.
        let isWritten = url.port == other.port
        port =
            switch scheme {
            case .http: url.port
            case .https: other.port
            case .socks5h: isWritten ? url.port : 1080
            }
    }

    /// With user and password: for libcurl, and nobody else.
    var fullURL: String {
        "\(scheme.rawValue)://\(userInfo.map { $0 + "@" } ?? "")\(authority)"
    }

    private var authority: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

extension Proxy: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Its URL, without user and password.
    public var description: String { "\(scheme.rawValue)://\(authority)" }
    /// The same.
    public var debugDescription: String { description }
    /// The same.
    public var customMirror: Mirror { Mirror(self, children: ["url": description]) }
}

extension ClientConfiguration {
    /// The proxy for a URL; nil if it is asked directly. A rule of addresses covers literal addresses, and no names, since whoever
    /// asks a proxy does not resolve them.
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
