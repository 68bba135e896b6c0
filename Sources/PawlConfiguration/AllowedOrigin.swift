internal import HTTPCore

/// A browser origin that may call the API, or `*` for all.
public enum AllowedOrigin: Sendable, Hashable {
    /// Every origin.
    case any
    /// An origin as browsers serialise it (RFC 6454 §6.2): `https://example.org:8443`.
    case origin(String)

    /// Parses `*` or `scheme://host[:port]`; `nil` for anything else, such as a URL with a path.
    public init?(parsing text: String) {
        if text == "*" {
            self = .any
            return
        }
        guard let separator = text.firstRange(of: "://") else { return nil }
        let authority = text[separator.upperBound...]
        guard !authority.isEmpty, !authority.contains("/"), let url = HTTPURL(text), !url.hasUserInfo, url.query == nil,
            !text.contains("#")
        else { return nil }
        // As browsers spell it: without the scheme's default port.
        self = .origin("\(url.scheme)://\(url.authority)")
    }
}
