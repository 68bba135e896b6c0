internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration
internal import System

/// Which requests are accepted: by the `Host` they name, the token they carry, and how many their sender has sent.
struct AccessPolicy: Sendable {
    private let tickets: Tickets
    private let hosts: [AllowedHost]
    private let limits: RateLimits
    /// `nil` if none is required.
    private let tokens: Locked<Tokens>?

    /// The tokens that let in.
    private struct Tokens {
        /// That of `--token` or `--token-file`, if there is one.
        var own: NamedToken?
        /// Those of `--tokens-file`.
        var listed: [NamedToken] = []
        /// All of them, each with whoever sends it.
        private(set) var grants: [(token: NamedToken, caller: Caller)] = []

        /// Lets exactly these tokens in. What others opened is revoked; who has had a token keeps what it opened.
        mutating func apply() {
            let old = Dictionary(grants.map { ($0.token, $0.caller) }) { first, _ in first }
            let all = (own.map { [$0] } ?? []) + listed
            let kept = Set(all)
            grants = all.map { token in
                (token, old[token] ?? Caller(name: token.name, scope: token.scope, permit: Permit()))
            }
            for (token, caller) in old where !kept.contains(token) { caller.permit?.revoke() }
        }
    }

    /// What the log calls the token of `--token` and `--token-file`.
    static let ownName = "token"

    /// - Parameters:
    ///   - listed: the tokens of `--tokens-file`.
    ///   - ticketKey: what tickets are signed with.
    init(_ configuration: Configuration, listed: [NamedToken] = [], ticketKey: [UInt8] = []) {
        tickets = Tickets(key: ticketKey)
        hosts = AllowedHost.defaults(boundTo: configuration.host) + configuration.allowedHosts
        limits = RateLimits(requestsPerSecond: configuration.rateLimit)
        guard configuration.needsToken else {
            tokens = nil
            return
        }
        var tokens = Tokens(own: configuration.token.map(Self.named), listed: listed)
        tokens.apply()
        self.tokens = Locked(tokens)
    }

    private static func named(_ token: AccessToken) -> NamedToken {
        NamedToken(name: ownName, scope: .full, digest: token.digest)
    }

    /// Whether requests must carry a token.
    var needsToken: Bool { tokens != nil }

    /// Refuses a `Host` that is not one of ours: that is how a name rebound to our address shows (DNS rebinding).
    func checkHost(_ fields: borrowing Fields) throws(Problem) {
        // Only HTTP/1.0 may leave it out (RFC 9112 §3.2), and no browser does.
        guard let sent = fields.bytes(.host) else { return }
        guard let name = AllowedHost.name(ofAuthority: sent), hosts.contains(where: { $0.allows(name) }) else {
            let authority = String(decoding: sent, as: UTF8.self)
            throw Problem(
                .hostNotAllowed, "the Host '\(authority)' is not one this service answers to; --allowed-host adds one")
        }
    }

    /// Refuses a client that sends more requests than it may.
    func checkRate(_ request: borrowing Request) throws(Problem) {
        try limits.checkRequest(of: request.peer)
    }

    /// Who sends a request; refuses a missing or wrong token.
    /// - Parameter takesTicket: whether a ticket in the query does as well.
    func caller(of request: borrowing Request, takesTicket: Bool) throws(Problem) -> Caller {
        guard let tokens else { return .anyone }
        let count = request.head.fields.count(.authorization)
        guard count <= 1 else {
            // RFC 9110 §11.6.2 knows one. Which of several counts is guessed differently by each program on the way.
            throw Problem(.unauthorized, "the request carries \(count) Authorization fields; send one")
        }
        // A proxy's own credentials may come along, as `Basic`: they are none of ours, and no guess.
        guard let sent = request.head.fields.bytes(.authorization).flatMap(AccessToken.carried(by:)) else {
            if takesTicket, request.head.target.rawQuery != nil {
                var reader = try QueryReader(request.head.target)
                if let ticket = try reader.value("ticket") {
                    let grants = tokens.withLock { $0.grants }
                    if let index = tickets.token(of: ticket, among: grants.map(\.token.digest), now: .now()) {
                        return grants[index].caller
                    }
                    throw Problem(.unauthorized, "the ticket is unknown or too old; POST /tickets gives another")
                }
            }
            throw Problem(.unauthorized, "the request carries no token; send Authorization: Bearer <token>")
        }
        return try caller(withToken: sent, tokens, of: request.peer)
    }

    /// What stands for a caller's token where a field cannot be sent.
    func issueTicket(to caller: Caller) -> String {
        let grant = tokens?.withLock { $0.grants }.first { $0.caller.permit === caller.permit }
        return tickets.issue(for: grant?.token.digest ?? TokenDigest(of: []), now: .now())
    }

    /// Who sends a message with a token in it.
    /// - Parameter token: `nil` if it has none.
    func caller(withToken token: String?, of peer: SocketAddress) throws(Problem) -> Caller {
        guard let tokens else { return .anyone }
        guard let token else {
            throw Problem(.unauthorized, "the call carries no secret; send token:<token> as its first parameter")
        }
        return try caller(withToken: ArraySlice(token.utf8), tokens, of: peer)
    }

    private func caller(
        withToken sent: ArraySlice<UInt8>, _ tokens: Locked<Tokens>, of peer: borrowing SocketAddress
    ) throws(Problem) -> Caller {
        // Compared first: whatever others at the same address send, a right token passes.
        let digest = TokenDigest(of: sent)
        let grants = tokens.withLock { $0.grants }
        // All are compared, whichever it is: the time this takes gives nothing away.
        let found = grants.reduce(Caller?.none) { found, grant in
            grant.token.digest.equals(digest) ? found ?? grant.caller : found
        }
        if let found { return found }
        try limits.checkGuess(sent, of: peer)
        throw Problem(.unauthorized, "the token is wrong; send Authorization: Bearer <token>")
    }

    /// From now on another token of `--token-file` lets in.
    func replace(own token: AccessToken) {
        tokens?.withLock {
            $0.own = Self.named(token)
            $0.apply()
        }
    }

    /// From now on these tokens of `--tokens-file` let in; returns those that did before.
    func replace(listed: [NamedToken]) -> [NamedToken] {
        tokens?.withLock {
            let old = $0.listed
            $0.listed = listed
            $0.apply()
            return old
        } ?? []
    }
}
