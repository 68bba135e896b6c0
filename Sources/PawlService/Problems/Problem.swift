internal import DownloadCore
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON
internal import Subscriptions

/// An error response (RFC 9457).
struct Problem: Error, Sendable, Equatable {
    /// The kind of problem.
    var code: ProblemCode
    /// The explanation of this occurrence in a sentence, with the values that would be accepted.
    var detail: String
    /// The state of the download, if it is the cause.
    var state: DownloadState?
    /// The state of the item of a subscription, if it is the cause.
    var itemState: ItemState?
    /// The id of the download concerned, if it helps the client.
    var id: DownloadID?
    /// Whole seconds after which the client should retry.
    var retryAfter: Int?
    /// The value of `Allow`, in a 405.
    var allow: String?
    /// The value of `Accept-Encoding`, in a 415 because of a content coding (RFC 9110 §12.5.3).
    var acceptEncoding: String?
    /// Overrides the code's own status, for refusals of the server.
    var statusOverride: HTTPStatus?

    init(_ code: ProblemCode, _ detail: String, state: DownloadState? = nil, id: DownloadID? = nil, retryAfter: Int? = nil) {
        self.code = code
        self.detail = detail
        self.state = state
        self.id = id
        self.retryAfter = retryAfter
    }

    var status: HTTPStatus { statusOverride ?? code.status }

    /// Writes the JSON object.
    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("type", "/problems/" + code.rawValue)
        writer.member("title", code.title)
        writer.member("status", status.code)
        writer.member("detail", detail)
        writer.member("code", code.rawValue)
        if let state = state?.rawValue ?? itemState?.rawValue { writer.member("state", state) }
        if let id { writer.member("id", id.description) }
        writer.endObject()
    }

    /// Fills in the response with this problem. Fields already set are kept.
    func fill(_ response: inout Response) {
        response.fill(status) { encode(into: &$0) }
        response.fields.set(.contentType, "application/problem+json")
        response.fields.set(.cacheControl, "no-store")
        if let retryAfter { response.fields.set(.retryAfter, String(retryAfter)) }
        if let allow { response.fields.set(.allow, allow) }
        if let acceptEncoding { response.fields.set(.acceptEncoding, acceptEncoding) }
        // RFC 9110 §11.6.1: a 401 says how to authenticate.
        if code == .unauthorized { response.fields.set(.wwwAuthenticate, "Bearer realm=\"pawl\"") }
        // RFC 6750 §3.1.
        if code == .insufficientScope {
            response.fields.set(.wwwAuthenticate, "Bearer realm=\"pawl\", error=\"insufficient_scope\"")
        }
    }
}
