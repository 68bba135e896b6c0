import HTTPCore

/// The decisions on redirects: RFC 9110 §15.4, with the method changes of the Fetch standard
/// (<https://fetch.spec.whatwg.org/#http-redirect-fetch>), which servers expect. It has no I/O.
struct RedirectPolicy: Sendable {
    enum Decision: Sendable {
        /// The response is final.
        case deliver
        case follow(Hop)
        case fail(ClientError)
    }

    /// The statuses whose Location is followed.
    static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    /// The number of redirects that may still be followed; nil: redirects are final responses.
    private var remaining: Int?
    /// Whether the first request has anything that must stay confidential: fields of the caller that are not harmless,
    /// credentials or content.
    private let hasSecrets: Bool

    init(_ request: ClientRequest) {
        remaining = request.maximumRedirects
        hasSecrets =
            !request.trust.hasLeftOrigin && request.fields.contains { FieldName($0.name)?.isHarmless != true }
            || request.url.hasUserInfo || request.body != nil
    }

    /// Decides on the response to `hop` by its status and Location.
    mutating func decide(status: HTTPStatus, location: String?, hop: Hop) -> Decision {
        // Without Location, or with another 3xx status, only the caller can decide, so the response is final.
        guard Self.statuses.contains(status.code), let location, !location.isEmpty else { return .deliver }
        guard let remaining else { return .deliver }
        guard remaining > 0 else { return .fail(.tooManyRedirects(status: status.code)) }
        self.remaining = remaining - 1
        switch Self.target(location, of: status, from: hop.url) {
        case .failure(let error): return .fail(error)
        case .success(let url): return follow(hop, status: status, to: url)
        }
    }

    private func follow(_ hop: Hop, status: HTTPStatus, to url: HTTPURL) -> Decision {
        // A request with a secret must not be redirected to plain http, even without the secret: a listener on the way
        // could forge the response. Without secrets it may be: public files are often served by mirrors without TLS.
        if hop.url.isEncrypted, !url.isEncrypted, hasSecrets {
            return .fail(
                .destinationForbidden(
                    "a redirect from https to \(url.origin), for a request with credentials or other fields that may be secret",
                    status: status.code)
            )
        }
        var next = hop
        next.url = url
        next.redirectStatus = status.code
        next.trust = hop.trust.following(hop.url, to: url)
        // A listener could have forged the response to be asked from now on.
        next.isPermanent = hop.isPermanent && [301, 308].contains(status.code) && !next.trust.hasLostEncryption
        if next.isPermanent { next.permanentURL = url }
        next.answeredChallenges = 0
        if changesToGet(hop.method, status: status) {
            next.method = "GET"
            next.sendsBody = false
        }
        if !url.hasOrigin(of: hop.url) {
            // Content is sent only to the origin that it was meant for. Otherwise the redirect is the final response.
            if next.sendsBody { return .deliver }
            // They are dropped for the rest of the chain, since later hops are copies of `next`.
            next.authorization = nil
        }
        return .follow(next)
    }

    private func changesToGet(_ method: String, status: HTTPStatus) -> Bool {
        switch status.code {
        case 303: method != "GET" && method != "HEAD"
        case 301, 302: method == "POST"
        default: false
        }
    }

    /// Resolves a Location field to a URL without user information, since the server's credentials are not the
    /// caller's.
    private static func target(_ location: String, of status: HTTPStatus, from base: HTTPURL) -> Result<HTTPURL, ClientError> {
        if let scheme = scheme(of: location), scheme != "http", scheme != "https" {
            return .failure(.unsupportedScheme(status: status.code, "\(scheme): in a redirect from \(base.origin)"))
        }
        guard let url = base.resolving(location) else {
            let fault = scheme(of: location) == nil ? "is not a URL" : HTTPURL.fault(of: location)
            return .failure(.invalidRedirect(status: status.code, "\(base.origin) redirects to a target that \(fault)"))
        }
        return .success(url.withoutUserInfo)
    }

    /// The scheme of a reference in lowercase; nil if it has none (RFC 3986 §3.1).
    private static func scheme(of reference: String) -> String? {
        guard let colon = reference.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = reference[..<colon].lowercased()
        guard let first = scheme.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return nil }
        let isScheme = scheme.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
                UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        return isScheme ? scheme : nil
    }
}
