internal import HTTPCore
internal import HTTPServer

/// The pages for people, and the module for front ends.
extension API {
    /// `GET /`.
    func startPage(_ request: borrowing Request, _ response: inout Response) throws(Problem) -> RouteResult {
        // The page's references are relative, so a path that is only the base path needs a slash at its end.
        guard !request.head.target.rawPath.isEmpty else {
            response.status = .found
            response.fields.append(.location, request.linkPrefix.text + "/")
            return .ready
        }
        fill(&response, with: .page, for: request)
        return .ready
    }

    /// `GET /console/{name}`.
    func consoleFile(
        named name: ArraySlice<UInt8>, _ request: borrowing Request, _ response: inout Response
    ) throws(Problem) -> RouteResult {
        guard let file = ConsoleFile.all[String(decoding: name, as: UTF8.self)] else {
            throw Problem(.notFound, "the console has no such file")
        }
        fill(&response, with: file, for: request)
        return .ready
    }

    /// `GET /client/{name}`.
    func clientFile(
        named name: ArraySlice<UInt8>, _ request: borrowing Request, _ response: inout Response
    ) throws(Problem) -> RouteResult {
        guard let file = ConsoleFile.client[String(decoding: name, as: UTF8.self)] else {
            let names = ConsoleFile.client.keys.sorted().joined(separator: ", ")
            throw Problem(.notFound, "the client has no such file; it has \(names)")
        }
        fill(&response, with: file, for: request)
        // Pages of every origin may import it: it is the same for every service, and knows nothing of this one.
        response.fields.set(.accessControlAllowOrigin, "*")
        response.fields.set(.crossOriginResourcePolicy, "cross-origin")
        return .ready
    }

    /// `GET /docs`.
    func reference(_ request: borrowing Request, _ response: inout Response) throws(Problem) -> RouteResult {
        fill(&response, with: .reference, policy: ConsoleFile.documentSecurityPolicy, for: request)
        return .ready
    }

    func fill(
        _ response: inout Response, with file: ConsoleFile, policy: String? = nil,
        for request: borrowing Request
    ) {
        response.fields.append(.contentType, file.mediaType)
        response.fields.append(.contentSecurityPolicy, policy ?? consolePolicy)
        response.fields.append(.xFrameOptions, "DENY")
        response.fields.append(.referrerPolicy, "no-referrer")
        // Revalidated each time, usually with a 304, so that a page never runs scripts of another version.
        response.fields.append(.cacheControl, "no-cache")
        response.body = file.bytes
        response.validate(for: request)
    }
}
