import HTTPCore

/// Decides what a redirect leads to: RFC 9110 §15.4, with the method changes of the Fetch standard
/// (<https://fetch.spec.whatwg.org/#http-redirect-fetch>), which are what servers expect. Pure.
struct RedirectPolicy: Sendable {
    enum Decision: Sendable {
        /// The response is final.
        case deliver
        case follow(Hop)
        case fail(ClientError)
    }

    /// The statuses whose Location is followed.
    static let statuses: Set<Int> = [301, 302, 303, 307, 308]

    /// How many more redirects may be followed; nil: they are not looked at.
    private var remaining: Int?
    /// Whether the first request carries anything that must not be seen on the way: a field of the caller, credentials, or content.
    private let hasSecrets: Bool

    init(_ request: ClientRequest) {
        remaining = request.maximumRedirects
        hasSecrets = !request.fields.isEmpty || request.url.hasUserInfo || request.body != nil
    }

    /// Decides on the response to `hop`, which has this status and Location.
    mutating func decide(status: HTTPStatus, location: String?, hop: Hop) -> Decision {
        // Without Location, or with another 3xx status, the response is what there is: nobody but the caller can choose.
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
        let staysAtOrigin = url.origin == hop.url.origin
        // Encryption that protected a secret isn't given up, even though the secret itself would stay behind: whoever reads the
        // second request on the way can answer it. Public files are often served by mirrors without TLS, and may be.
        if hop.url.scheme == "https", url.scheme == "http", hasSecrets {
            return .fail(
                .destinationForbidden(
                    "a redirect from https to \(url.origin), for a request with credentials or other fields", status: status.code)
            )
        }
        var next = hop
        next.url = url
        next.redirectStatus = status.code
        if changesToGet(hop.method, status: status) {
            next.method = "GET"
            next.sendsBody = false
        }
        if !staysAtOrigin {
            // Content goes where it was addressed, or nowhere: the redirect itself is the response then.
            if next.sendsBody { return .deliver }
            // Dropped for good: `next` is copied from here on.
            next.sendsCallerFields = false
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

    /// The URL that a Location field means, without user information: what a server writes there is not our caller's to send.
    private static func target(_ location: String, of status: HTTPStatus, from base: HTTPURL) -> Result<HTTPURL, ClientError> {
        if let scheme = scheme(of: location), scheme != "http", scheme != "https" {
            return .failure(.unsupportedScheme(status: status.code, "\(scheme): in a redirect from \(base.origin)"))
        }
        guard let url = base.resolving(location) else {
            let fault = scheme(of: location) == nil ? "is not a URL" : HTTPURL.fault(of: location)
            return .failure(.invalidRedirect(status: status.code, "\(base.origin) leads to something that \(fault)"))
        }
        return .success(url.withoutUserInfo)
    }

    /// The scheme of a reference in lower case, if it has one: RFC 3986 §3.1.
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
