internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON

/// What went wrong with a request, as RFC 9457 has it said.
struct Problem: Error, Sendable, Equatable {
    /// The kind.
    var code: ProblemCode
    /// What was wrong this time, and what is accepted, in a sentence.
    var detail: String
    /// The state that a download is in, if that is why.
    var state: DownloadState?
    /// The download that is meant, if that is what the client will want to know.
    var id: DownloadID?
    /// Whole seconds after which it is worth trying again.
    var retryAfter: Int?
    /// The methods that are allowed, in a 405.
    var allow: String?
    /// Overrides the code's own status, for refusals the server made.
    var statusOverride: HTTPStatus?

    init(_ code: ProblemCode, _ detail: String, state: DownloadState? = nil, id: DownloadID? = nil, retryAfter: Int? = nil) {
        self.code = code
        self.detail = detail
        self.state = state
        self.id = id
        self.retryAfter = retryAfter
    }

    var status: HTTPStatus { statusOverride ?? code.status }

    /// Writes the object.
    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("type", "/problems/" + code.rawValue)
        writer.member("title", code.title)
        writer.member("status", status.code)
        writer.member("detail", detail)
        writer.member("code", code.rawValue)
        if let state { writer.member("state", state.rawValue) }
        if let id { writer.member("id", id.description) }
        writer.endObject()
    }

    /// Makes `response` say so. Fields that are already there stay.
    func fill(_ response: inout Response) {
        response.fill(status) { encode(into: &$0) }
        response.fields.set(.contentType, "application/problem+json")
        response.fields.set(.cacheControl, "no-store")
        if let retryAfter { response.fields.set(.retryAfter, String(retryAfter)) }
        if let allow { response.fields.set(.allow, allow) }
        // RFC 9110 §11.6.1: a 401 says how to authenticate.
        if code == .unauthorized { response.fields.set(.wwwAuthenticate, "Bearer realm=\"pawl\"") }
        // RFC 6750 §3.1.
        if code == .insufficientScope {
            response.fields.set(.wwwAuthenticate, "Bearer realm=\"pawl\", error=\"insufficient_scope\"")
        }
    }
}
