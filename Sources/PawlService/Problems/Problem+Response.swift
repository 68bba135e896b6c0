internal import HTTPCore
internal import HTTPServer
internal import JSON

extension Problem {
    /// A refusal of the server while it reads a request.
    init(_ refusal: Refusal) {
        self.init(
            ProblemCode.allCases.first { $0.status == refusal.status } ?? .invalidRequest, refusal.detail, status: refusal.status,
            retryAfter: refusal.status == .serviceUnavailable ? 1 : nil)
    }

    /// Writes the JSON object.
    func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("type", "/problems/" + code.rawValue)
        writer.member("title", code.title)
        writer.member("status", status.code)
        writer.member("detail", detail)
        writer.member("code", code.rawValue)
        if let state { writer.member("state", state) }
        if let id { writer.member("id", id) }
        writer.endObject()
    }

    /// Fills in the response with this problem. Fields already set are kept.
    func fill(_ response: inout Response) {
        response.fill(status) { encode(into: &$0) }
        response.fields.set(.contentType, "application/problem+json")
        response.fields.set(.cacheControl, "no-store")
        response.fields.append(contentsOf: fields)
        // RFC 9110 §11.6.1: a 401 says how to authenticate.
        if code == .unauthorized { response.fields.set(.wwwAuthenticate, "Bearer realm=\"pawl\"") }
        // RFC 6750 §3.1.
        if code == .insufficientScope {
            response.fields.set(.wwwAuthenticate, "Bearer realm=\"pawl\", error=\"insufficient_scope\"")
        }
    }
}
