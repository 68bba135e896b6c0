internal import HTTPCore
internal import HTTPServer
internal import JSON

/// The pages that the `type` of a problem links to.
extension API {
    /// `GET /problems/{code}`: HTML if `Accept` names it, as browsers' requests do, otherwise JSON.
    func problem(
        _ name: ArraySlice<UInt8>, _ request: borrowing Request, _ response: inout Response
    ) throws(Problem) -> RouteResult {
        guard let code = ProblemCode(rawValue: String(decoding: name, as: UTF8.self)) else {
            throw Problem(.notFound, "no problem has this name; /openapi.yaml lists all problems")
        }
        response.fields.append(.vary, "Accept")
        if request.head.fields.values(.accept).contains(where: { $0.lowercased().contains("text/html") }) {
            let page = ConsoleFile(ProblemPage.bytes(code), "html")
            fill(&response, with: page, policy: ConsoleFile.documentSecurityPolicy, for: request)
            return .ready
        }
        response.fields.append(.cacheControl, "no-cache")
        response.fill { writer in
            writer.beginObject()
            writer.member("type", "/problems/" + code.rawValue)
            writer.member("code", code.rawValue)
            writer.member("title", code.title)
            writer.member("status", code.status.code)
            writer.member("meaning", code.meaning)
            writer.endObject()
        }
        response.validate(for: request)
        return .ready
    }
}
