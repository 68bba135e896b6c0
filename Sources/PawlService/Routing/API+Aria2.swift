internal import Aria2
internal import HTTPCore
internal import HTTPServer

/// `/jsonrpc`: clients of aria2, who speak a protocol of their own. It brings its secret in the message, and has none of our rules for
/// media types, members and queries; so it is no endpoint among the others.
extension API {
    private static let aria2Path = Array("/jsonrpc".utf8)
    private static let aria2Methods = "GET, HEAD, POST, OPTIONS"

    /// Whether a request is for that path.
    func isForAria2(_ request: borrowing Request) -> Bool {
        let path = request.head.target.rawPath
        return path.count == Self.aria2Path.count && path.elementsEqual(Self.aria2Path) && request.isBelowBasePath
    }

    /// What the head decides is decided before the body takes any memory.
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
                } else if case .later(let work) = aria2.respond(to: request, with: &response) {
                    return .later { [self, pending] in
                        var response = await work()
                        finish(pending, &response)
                        return response
                    }
                }
            } else {
                response.status = .noContent
                response.fields.set(.allow, Self.aria2Methods)
                if isPreflight(request) { crossOrigin.respondToPreflight(&response, for: request, methods: Self.aria2Methods) }
            }
        } catch {
            // A handshake that was refused has fields that say what would not be.
            error.fill(&response)
        }
        finish(pending, &response)
        return .ready
    }

    /// Whether a request comes from a page of another site.
    private func isStrange(_ request: borrowing Request) -> Bool {
        !crossOrigin.allowsChange(by: request.head.fields, scheme: request.scheme)
    }

    /// Checks what the head of a request decides.
    ///
    /// Where a secret is needed, it is in the message, and pages of any origin that know it may send one. Where none is, any page could:
    /// then it has to say where it comes from, which images and scripts, for which a GET is sent, do not.
    /// - Returns: false if only the options are asked for.
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
            throw Problem(.originNotAllowed, "a service without a token takes no calls by GET; send a POST")
        }
        return true
    }
}
