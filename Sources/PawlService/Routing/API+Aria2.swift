internal import Aria2
internal import HTTPCore
internal import HTTPServer

/// Requests of aria2's clients to `/jsonrpc`.
///
/// The protocol has its secret in the message, and does not follow the API's rules for media types, members and query
/// parameters. So it is not one of the endpoints.
extension API {
    private static let aria2Path = Array("/jsonrpc".utf8)
    private static let aria2Methods = "GET, HEAD, POST, OPTIONS"

    /// Whether the path of a request is `/jsonrpc`.
    func isForAria2(_ request: borrowing Request) -> Bool {
        let path = request.head.target.rawPath
        return path.count == Self.aria2Path.count && path.elementsEqual(Self.aria2Path) && request.isBelowBasePath
    }

    /// Decides from the head alone, before the body takes any memory.
    func decide(onBodyForAria2 request: borrowing Request, with response: inout Response) -> BodyDecision {
        do throws(Problem) {
            guard try checkAria2Head(request, countsRequest: true), case .post = request.head.method else { return .ignore }
            if !access.needsToken { response.permit = Caller.anyone.permit }
            return .read
        } catch {
            error.fill(&response)
            finish(begin(request, .nowhere), &response)
            return .refuse
        }
    }

    func respond(to request: borrowing Request, of aria2: Aria2, with response: inout Response) -> Handling {
        var pending = begin(request, .nowhere)
        if !access.needsToken { pending.caller = .anyone }
        do throws(Problem) {
            if try checkAria2Head(request, countsRequest: !request.announcesBody) {
                if request.asksForWebSocket {
                    if let refusal = aria2.connect(request, with: &response) {
                        throw Problem(refusal)
                    }
                } else {
                    func finishing(_ work: @escaping @Sendable () async -> Response) -> @Sendable () async -> Response {
                        { [self, pending] in
                            var response = await work()
                            finish(pending, &response)
                            return response
                        }
                    }
                    switch aria2.respond(to: request, with: &response) {
                    case .ready: break
                    case .later(let work): return .later(finishing(work))
                    case .laterForStranger(let work): return .laterForStranger(finishing(work))
                    }
                }
            } else {
                response.status = .noContent
                response.fields.set(.allow, Self.aria2Methods)
                if isPreflight(request) { respondToPreflight(request, &response, methods: Self.aria2Methods) }
            }
        } catch {
            // A refused handshake has set fields that name what is accepted; they stay.
            error.fill(&response)
        }
        finish(pending, &response)
        return .ready
    }

    /// Whether a request comes from a page of another site.
    private func isStrange(_ request: borrowing Request) -> Bool {
        !crossOrigin.allowsChange(by: request.head.fields, scheme: request.scheme)
    }

    /// Checks the head of a request.
    ///
    /// If a secret is required, it is in the message, and pages of any origin that have it may call. Without a required
    /// secret, any page could call. Then the request has to carry an `Origin`, which GET requests for images and
    /// scripts do not.
    /// - Returns: Whether the request is a call; `false` if it only asks for the options.
    private func checkAria2Head(_ request: borrowing Request, countsRequest: Bool) throws(Problem) -> Bool {
        try access.checkHost(request.head.fields)
        if countsRequest { try access.checkRate(request) }
        if case .options = request.head.method { return false }
        let method = method(of: request)
        guard method == .get || method == .post else {
            var problem = Problem(
                .methodNotAllowed, "/jsonrpc takes \(Self.aria2Methods), not \(request.head.method.name.prefix(32))")
            problem.allow = Self.aria2Methods
            throw problem
        }
        guard !access.needsToken else { return true }
        guard !isStrange(request) else {
            throw Problem(.originNotAllowed, crossOrigin.refusal(of: request.head.fields))
        }
        guard method == .post || request.asksForWebSocket else {
            throw Problem(.originNotAllowed, "the service has no token, so it refuses calls by GET; send a POST")
        }
        return true
    }
}
