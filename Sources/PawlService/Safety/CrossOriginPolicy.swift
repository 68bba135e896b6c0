internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration

/// The rules for web pages: origins that may read responses (CORS), and origins that may change anything (CSRF).
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

    /// Whether any origin besides the service's own may read responses.
    var isOpen: Bool { allowsAny || !origins.isEmpty }

    /// Whether a page of that origin may read responses.
    func allows(_ origin: String) -> Bool {
        // An origin is ASCII (RFC 6454 §6.2). Other letters may become ASCII in lower case, such as the Kelvin sign.
        allowsAny || (origin.utf8.allSatisfy { $0 < 0x80 } && origins.contains(Self.normalised(origin)))
    }

    /// The origin in lower case, without its scheme's default port, which programs may include (RFC 6454 §6.2).
    private static func normalised(_ origin: String) -> String {
        let origin = origin.lowercased()
        for (scheme, port) in usualPorts where origin.hasPrefix(scheme + "://") { return without(port, origin) }
        return origin
    }

    private static let usualPorts = [("http", ":80"), ("https", ":443")]

    private static func without(_ port: String, _ text: String) -> String {
        text.hasSuffix(port) ? String(text.dropLast(port.count)) : text
    }

    /// Whether a request that changes something may come from its origin.
    ///
    /// Requests without `Origin` come from programs: browsers send it with every method but GET and HEAD (Fetch §3.2),
    /// with or without a body.
    /// - Parameter scheme: The scheme of the request; `nil` if it is unknown.
    func allowsChange(by fields: borrowing Fields, scheme: String?) -> Bool {
        let sent = fields.values(.origin)
        return sent.isEmpty || (sent.count == 1 && (allows(sent[0]) || Self.isOwn(sent[0], host: fields[.host], scheme)))
    }

    /// The reason why a request must not change anything, and the remedy.
    func refusal(of fields: borrowing Fields) -> String {
        let origin = "a page of the origin '\(fields[.origin] ?? "")'"
        let host = "the Host '\(fields[.host] ?? "")'"
        // The browser states that the page is the service's own, so the Host is not the one that the browser sent.
        if fields[.secFetchSite] == "same-origin" {
            return "\(origin) sent \(host): a proxy has replaced the Host; configure the proxy to pass on the original Host"
        }
        return
            "\(origin) may not change anything at \(host); if the page belongs to this service, configure the proxy to pass on the"
            + " original Host; if not, allow the origin with --cors-origin"
    }

    /// Whether a request that only reads may come from the site that the browser names.
    ///
    /// A page of another site cannot read responses, but can make the browser send requests. An image whose URL is a
    /// search, for example, consumes one of the few requests that a source allows. Browsers mark such requests (Fetch
    /// Metadata §2). Programs do not, and only need the token. A followed link is accepted, since only the user sees
    /// the response.
    /// - Parameter isFile: Whether the request is for a finished file. Pages of allowed origins may play files without
    ///   CORS, that is without an `Origin`.
    func allowsRead(by fields: borrowing Fields, isFile: Bool) -> Bool {
        guard let site = fields[.secFetchSite], site != "same-origin", site != "none" else { return true }
        if allowsAny || (isFile && isOpen) { return true }
        if let origin = fields[.origin], allows(origin) { return true }
        return fields[.secFetchMode] == "navigate" && fields[.secFetchDest] == "document"
    }

    /// The default fields of every response: pages of other sites must not embed it as an image or a script, which
    /// could leak its contents.
    static let defaultFields = [(name: FieldName.crossOriginResourcePolicy, value: "same-origin")]

    /// Whether an origin is the one that the request was sent to. The scheme may be https although the service speaks
    /// http, if a proxy is not trusted or does not name the scheme.
    private static func isOwn(_ origin: String, host: String?, _ scheme: String?) -> Bool {
        guard let host = host?.lowercased(), origin.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        let origin = normalised(origin)
        for (candidate, port) in usualPorts where origin.hasPrefix(candidate + "://") && (scheme ?? candidate) == candidate {
            return origin.dropFirst(candidate.count + 3) == without(port, host)
        }
        return false
    }

    /// Adds the fields that let a page of an allowed origin read the response.
    /// - Parameter isFile: Whether the request is for a finished file, which pages of other origins may embed.
    func decorate(_ fields: inout Fields, forOrigin origin: String?, isFile: Bool = false) {
        guard isOpen else { return }
        // Refusals have it as well: a player learns only from a response that it may see that its ticket is void.
        if isFile { fields.set(.crossOriginResourcePolicy, "cross-origin") }
        if !allowsAny { fields.set(.vary, fields.combined(.vary).map { "\($0), Origin" } ?? "Origin") }
        guard let origin, allows(origin) else { return }
        fields.set(.accessControlAllowOrigin, allowsAny ? "*" : origin)
        fields.set(.accessControlExposeHeaders, Self.exposed)
    }

    /// The reason that a browser refuses the request after a preflight; `nil` if it sends the request.
    /// - Parameter methods: The methods that the path takes.
    func preflightRefusal(_ fields: borrowing Fields, methods: String) -> String? {
        guard let origin = fields[.origin], allows(origin) else { return "--cors-origin does not allow this origin" }
        let method = fields[.accessControlRequestMethod] ?? ""
        // A preflight does not have to allow these (Fetch §4.8).
        let isSafe = ["GET", "HEAD", "POST"].contains(method)
        if !isSafe, !Self.names(in: methods).contains(method) { return "the path takes \(methods), not \(method.prefix(32))" }
        let known = Self.names(in: Self.requestFields.lowercased())
        let wanted = Self.names(in: (fields.combined(.accessControlRequestHeaders) ?? "").lowercased())
        if let name = wanted.first(where: { !known.contains($0) }) {
            return "pages may not send the header field \(name.prefix(64))"
        }
        return nil
    }

    /// The names in a list with commas.
    private static func names(in list: String) -> [String] {
        list.utf8.split(separator: UInt8(ascii: ",")).map { String(decoding: $0.trimmingWhiteSpace, as: UTF8.self) }
    }

    /// Adds the fields that a preflight of an allowed origin asks for (Fetch §3.2.2).
    func respondToPreflight(_ response: inout Response, for request: borrowing Request, methods: String) {
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
