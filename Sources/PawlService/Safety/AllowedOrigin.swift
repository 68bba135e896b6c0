internal import HTTPCore

/// A browser origin that may call the API: one, or `*` for all.
public enum AllowedOrigin: Sendable, Hashable {
    /// Every origin.
    case any
    /// An origin as browsers serialise it (RFC 6454 §6.2): `https://example.org:8443`.
    case origin(String)

    /// Parses `*` or `scheme://host[:port]`; `nil` for anything else, such as one with a path.
    public init?(parsing text: String) {
        if text == "*" {
            self = .any
            return
        }
        guard let separator = text.range(of: "://") else { return nil }
        let authority = text[separator.upperBound...]
        guard !authority.isEmpty, !authority.contains("/"), let url = HTTPURL(text), !url.hasUserInfo, url.query == nil,
            !text.contains("#")
        else { return nil }
        self = .origin(Self.serialized(url))
    }

    /// The spelling that browsers send: without the port where it is the scheme's own.
    private static func serialized(_ url: HTTPURL) -> String {
        let host = url.host.contains(":") ? "[\(url.host)]" : url.host
        let isDefault = url.port == (url.scheme == "https" ? 443 : 80)
        return isDefault ? "\(url.scheme)://\(host)" : "\(url.scheme)://\(host):\(url.port)"
    }
}

extension String {
    /// The first place where `needle` stands: what Foundation offers, without Foundation.
    func range(of needle: String) -> Range<String.Index>? {
        let bytes = Array(needle.utf8)
        var start = utf8.startIndex
        while start != utf8.endIndex {
            if utf8[start...].starts(with: bytes) {
                return start..<utf8.index(start, offsetBy: bytes.count)
            }
            start = utf8.index(after: start)
        }
        return nil
    }
}
