internal import Aria2
internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration

/// An address for aria2's clients.
enum Aria2Address: Equatable {
    /// `/jsonrpc`, for calls and WebSockets.
    case jsonrpc
    /// `/rpc`, for calls in XML.
    case rpc
    /// `/jsonrpc/listen/KEY`. A WebSocket there receives notifications without a call. Calls are carried out as at `/jsonrpc`.
    case listen(key: String)

    /// The start of a path that has a key.
    static let listenPath = "/jsonrpc/listen/"

    /// The address that a path names; `nil` for other paths.
    init?(_ path: some Collection<UInt8>) {
        if path.elementsEqual("/jsonrpc".utf8) {
            self = .jsonrpc
        } else if path.elementsEqual("/rpc".utf8) {
            self = .rpc
        } else if path.starts(with: Self.listenPath.utf8) {
            // To a host, aria2p appends its port and the path, as in `KEY:6800/jsonrpc`.
            let rest = path.dropFirst(Self.listenPath.utf8.count)
            let key = rest.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
            let end = rest.dropFirst(key.count)
            guard end.isEmpty || String(decoding: end, as: UTF8.self).hasSuffix("/jsonrpc") else { return nil }
            self = .listen(key: String(decoding: key, as: UTF8.self))
        } else {
            return nil
        }
    }

    var methods: String { self == .rpc ? "POST, OPTIONS" : "GET, HEAD, POST, OPTIONS" }

    var description: String {
        switch self {
        case .jsonrpc: "/jsonrpc"
        case .rpc: "/rpc"
        case .listen: "/jsonrpc/listen"
        }
    }
}

/// Requests of aria2's clients.
///
/// The protocol has its secret in the message, and does not follow the API's rules for media types, members and query
/// parameters. So its addresses are not endpoints.
extension API {
    /// The address of a request for aria2's interface; `nil` for other requests, and if it is disabled.
    func aria2Address(of request: borrowing Request) -> Aria2Address? {
        aria2 != nil && request.isBelowBasePath ? Aria2Address(request.head.target.rawPath) : nil
    }

    /// Decides from the head alone, before the body takes any memory.
    func decide(
        onBodyOf request: borrowing Request, at address: Aria2Address, with response: inout Response
    ) -> BodyDecision {
        do throws(Problem) {
            guard try checkHead(request, at: address, countsRequest: true), case .post = request.head.method else {
                return .ignore
            }
            try BodyReader.checkCoding(request.head.fields)
            if !access.needsToken { response.permit = Caller.anyone.permit }
            return .read
        } catch {
            error.fill(&response)
            finish(begin(request, .nowhere), &response)
            return .refuse
        }
    }

    func respond(
        to request: borrowing Request, of aria2: Aria2, at address: Aria2Address, with response: inout Response
    ) -> Handling {
        var pending = begin(request, .nowhere)
        if !access.needsToken { pending.caller = .anyone }
        do throws(Problem) {
            if try checkHead(request, at: address, countsRequest: !request.announcesBody) {
                if request.asksForWebSocket {
                    let listener = try listener(of: request, at: address)
                    if listener != nil { pending.caller = listener }
                    let caller = listener.map { Aria2Caller($0) }
                    if let refusal = aria2.connect(request, of: caller, with: &response) {
                        log.write(
                            .warning, "a WebSocket is refused: \(refusal.detail)", [("requestId", .text(request.id.description))])
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
                    switch aria2.respond(to: request, as: Self.form(of: request, at: address), with: &response) {
                    case .ready: break
                    case .later(let work): return .later(finishing(work))
                    case .laterForStranger(let work): return .laterForStranger(finishing(work))
                    }
                }
            } else {
                response.status = .noContent
                response.fields.set(.allow, address.methods)
                if isPreflight(request) { respondToPreflight(request, &response, methods: address.methods) }
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

    /// The form of a message: XML at `/rpc`, and elsewhere if one of its media types says so.
    private static func form(of request: borrowing Request, at address: Aria2Address) -> RPCForm {
        let types = request.head.fields.values(.contentType).compactMap(MediaType.init(parsing:))
        let xml = types.first { ["text/xml", "application/xml"].contains($0.essence) }
        return address == .rpc || xml != nil ? .xml(charset: (xml ?? types.first)?.charset) : .json
    }

    /// The sender of a handshake that proves the right to receive notifications, by a token or by the key in its path.
    /// - Returns: `nil` without a proof, and if no token is required.
    private func listener(of request: borrowing Request, at address: Aria2Address) throws(Problem) -> Caller? {
        guard access.needsToken else { return nil }
        let caller: Caller
        do throws(Problem) {
            if case .listen(let key) = address {
                caller = try access.caller(withNotificationKey: key, of: request.peer)
            } else if access.carriesToken(request) {
                caller = try access.caller(of: request, takesTicket: false)
            } else {
                return nil
            }
        } catch {
            record(error, of: request)
            throw error
        }
        guard caller.scope != .metrics else {
            throw Problem(.insufficientScope, "the scope of the token '\(caller.name ?? "")' does not include notifications")
        }
        return caller
    }

    /// Checks the head of a request.
    ///
    /// If a secret is required, it is in the message, and pages of any origin that have it may call. Without a required
    /// secret, any page could call. Then the request has to carry an `Origin`, which GET requests for images and
    /// scripts do not.
    /// - Returns: Whether the request is a call; `false` if it only asks for the options.
    private func checkHead(
        _ request: borrowing Request, at address: Aria2Address, countsRequest: Bool
    ) throws(Problem) -> Bool {
        try access.checkHost(request.head.fields)
        if countsRequest { try access.checkRate(request) }
        if case .options = request.head.method { return false }
        let method = method(of: request)
        guard method == .post || method == .get && address != .rpc else {
            throw Problem(
                .methodNotAllowed, "\(address.description) takes \(address.methods), not \(request.head.method.name.prefix(32))",
                fields: Fields(.allow, address.methods))
        }
        guard !access.needsToken else {
            if case .listen = address { _ = try listener(of: request, at: address) }
            return true
        }
        guard !isStrange(request) else {
            throw Problem(.originNotAllowed, crossOrigin.refusal(of: request.head.fields))
        }
        guard method == .post || request.asksForWebSocket else {
            throw Problem(.originNotAllowed, "the service has no token, so it refuses calls by GET; send a POST")
        }
        return true
    }
}
