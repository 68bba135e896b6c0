internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration

/// Which web pages may read responses (CORS), and which may change anything (CSRF).
struct CrossOriginPolicy: Sendable {
    private let allowsAny: Bool
    private let origins: Set<String>

    init(_ allowed: [AllowedOrigin]) {
        allowsAny = allowed.contains(.any)
        origins = Set(
            allowed.compactMap { origin in
                if case .origin(let text) = origin { text } else { nil }
            })
    }

    /// Whether any origin but our own may read responses.
    var isOpen: Bool { allowsAny || !origins.isEmpty }

    /// Whether a page of that origin may read responses.
    func allows(_ origin: String) -> Bool {
        // RFC 6454 §6.2: an origin is ASCII. Other letters may become ASCII in lower case, as the sign for kelvin does.
        allowsAny || (origin.utf8.allSatisfy { $0 < 0x80 } && origins.contains(Self.normalised(origin)))
    }

    /// The origin in lower case, without a port that is its scheme's own (RFC 6454 §6.2): programs may write it.
    private static func normalised(_ origin: String) -> String {
        let origin = origin.lowercased()
        for (scheme, port) in usualPorts where origin.hasPrefix(scheme + "://") { return without(port, origin) }
        return origin
    }

    private static let usualPorts = [("http", ":80"), ("https", ":443")]

    private static func without(_ port: String, _ text: String) -> String {
        text.hasSuffix(port) ? String(text.dropLast(port.count)) : text
    }

    /// Whether a request that changes something may come from where it says it does. Requests without `Origin` come from
    /// programs: browsers send it with every method but GET and HEAD (Fetch §3.2), with or without a body.
    /// - Parameter scheme: by which the request was sent; `nil` if that is not known.
    func allowsChange(by fields: borrowing Fields, scheme: String?) -> Bool {
        let sent = fields.values(.origin)
        return sent.isEmpty || (sent.count == 1 && (allows(sent[0]) || Self.isOwn(sent[0], host: fields[.host], scheme)))
    }

    /// Why a request must not change anything, and what helps.
    func refusal(of fields: borrowing Fields) -> String {
        let origin = "a page of the origin '\(fields[.origin] ?? "")'"
        let host = "the Host '\(fields[.host] ?? "")'"
        // The browser vouches for it that the page is this service's own: so the Host is not what the browser has sent.
        if fields[.secFetchSite] == "same-origin" {
            return "\(origin) asks for \(host): a proxy has replaced the Host; have it pass on the Host that it gets"
        }
        return
            "\(origin) may not change anything at \(host): if the page is this service's own, have the proxy pass on the Host that it"
            + " gets; pages of other origins are allowed by --cors-origin"
    }

    /// Whether a request that only reads may come from where the browser says it does.
    ///
    /// A page of another site cannot read responses, but it can make the browser send requests: an image or a script whose URL is a
    /// search, say, uses up one of the few that a source allows. Browsers mark them (Fetch Metadata §2); programs do not, and
    /// need the token only. A link that is followed is fine: only the user sees what it leads to.
    /// - Parameter isFile: whether the request is for a finished file, which allowed pages may play without CORS, that is without
    ///   naming themselves.
    func allowsRead(by fields: borrowing Fields, isFile: Bool) -> Bool {
        guard let site = fields[.secFetchSite], site != "same-origin", site != "none" else { return true }
        if allowsAny || (isFile && isOpen) { return true }
        if let origin = fields[.origin], allows(origin) { return true }
        return fields[.secFetchMode] == "navigate" && fields[.secFetchDest] == "document"
    }

    /// The fields of every response that doesn't set them itself: it keeps pages of other sites from taking it in, as an image or a script, where
    /// it can be spied on.
    static let defaultFields = [(name: FieldName.crossOriginResourcePolicy, value: "same-origin")]

    /// Whether an origin is the one the request was sent to. The scheme may be https although we speak http: that of a proxy which does
    /// not say so, or is not trusted.
    private static func isOwn(_ origin: String, host: String?, _ scheme: String?) -> Bool {
        guard let host = host?.lowercased(), origin.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        let origin = normalised(origin)
        for (candidate, port) in usualPorts where origin.hasPrefix(candidate + "://") && (scheme ?? candidate) == candidate {
            return origin.dropFirst(candidate.count + 3) == without(port, host)
        }
        return false
    }

    /// Adds to a response what lets a page of an allowed origin read it.
    func decorate(_ fields: inout Fields, forOrigin origin: String?) {
        guard isOpen else { return }
        if !allowsAny { fields.set(.vary, fields.combined(.vary).map { "\($0), Origin" } ?? "Origin") }
        guard let origin, allows(origin) else { return }
        fields.set(.accessControlAllowOrigin, allowsAny ? "*" : origin)
        fields.set(.accessControlExposeHeaders, Self.exposed)
    }

    /// Adds to the response to a preflight what the page asks for: Fetch §3.2.2.
    func respondToPreflight(_ response: inout Response, for request: borrowing Request, methods: String) {
        guard let origin = request.head.fields[.origin], allows(origin) else { return }
        response.fields.set(.accessControlAllowMethods, methods)
        response.fields.set(.accessControlAllowHeaders, Self.requestFields)
        response.fields.set(.accessControlMaxAge, "600")
        if request.head.fields[.accessControlRequestPrivateNetwork] == "true" {
            response.fields.set(.accessControlAllowPrivateNetwork, "true")
        }
    }

    private static let exposed =
        "Location, ETag, Retry-After, X-Request-Id, Content-Range, Accept-Ranges, Content-Disposition"
    private static let requestFields =
        "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, If-Range, Last-Event-ID, Range, X-Request-Id"
}
