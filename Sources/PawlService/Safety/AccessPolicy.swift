internal import DownloadCore
internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration
internal import System

/// The checks of requests: the `Host` that they name, their token, and their rate.
struct AccessPolicy: Sendable {
    private let tickets: Tickets
    private let hosts: [AllowedHost]
    private let limits: RateLimits
    /// The accepted tokens; `nil` if none is required.
    private let tokens: Locked<Tokens>?

    /// The accepted tokens.
    private struct Tokens {
        /// The token of `--token` or `--token-file`, if there is one.
        var own: NamedToken?
        /// The tokens of `--tokens-file`.
        var listed: [NamedToken] = []
        /// All tokens, each with its caller and the digest of its key for notifications.
        private(set) var grants: [(token: NamedToken, caller: Caller, notificationKey: TokenDigest)] = []

        /// Rebuilds `grants`. Revokes the permits of tokens that are no longer accepted; other tokens keep their
        /// callers.
        mutating func apply() {
            let old = Dictionary(grants.map { ($0.token, $0.caller) }) { first, _ in first }
            let all = (own.map { [$0] } ?? []) + listed
            let kept = Set(all)
            grants = all.map { token in
                (
                    token, old[token] ?? Caller(name: token.name, scope: token.scope, permit: Permit()),
                    TokenDigest(of: token.digest.notificationKey.utf8)
                )
            }
            for (token, caller) in old where !kept.contains(token) { caller.permit?.revoke() }
        }
    }

    /// The name of the token of `--token` and `--token-file` in the log.
    static let ownName = "token"

    /// - Parameters:
    ///   - listed: The tokens of `--tokens-file`.
    ///   - ticketKey: The key that signs tickets.
    init(_ configuration: Configuration, listed: [NamedToken] = [], ticketKey: [UInt8] = []) {
        tickets = Tickets(key: ticketKey)
        hosts = AllowedHost.defaults(boundTo: configuration.server.host) + configuration.allowedHosts
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

    /// Refuses a `Host` that is not one of the service's names, as requests after DNS rebinding have.
    func checkHost(_ fields: borrowing Fields) throws(Problem) {
        // Only HTTP/1.0 may omit it (RFC 9112 §3.2), and no browser does.
        guard let sent = fields.bytes(.host) else { return }
        for host in hosts where host.isHost(ofAuthority: sent.span) { return }
        guard let name = AllowedHost.name(ofAuthority: sent), hosts.contains(where: { $0.allows(name) }) else {
            let authority = String(decoding: sent, as: UTF8.self)
            throw Problem(
                .hostNotAllowed, "the Host '\(authority)' is not a name of this service; add it with --allowed-host")
        }
    }

    /// Refuses a client that sends more requests than the rate limit allows.
    func checkRate(_ request: borrowing Request) throws(Problem) {
        try limits.checkRequest(of: request.peer)
    }

    /// The sender of a request.
    /// - Parameters:
    ///   - takesTicket: Whether a ticket in the query is accepted instead of a token.
    ///   - takesKey: Whether a feed's key in the query is accepted instead of a token. The caller has to compare it.
    /// - Throws: A problem if the token is missing or wrong.
    func caller(of request: borrowing Request, takesTicket: Bool, takesKey: Bool = false) throws(Problem) -> Caller {
        guard let tokens else { return .anyone }
        let count = request.head.fields.count(.authorization)
        guard count <= 1 else {
            // RFC 9110 §11.6.2 allows one. Programs on the way disagree about which of several counts.
            throw Problem(.unauthorized, "the request carries \(count) Authorization fields; send one")
        }
        // A proxy's own `Basic` credentials may be present. They are not a token, and not counted as a wrong one.
        guard let sent = request.head.fields.bytes(.authorization).flatMap(AccessToken.carried(by:)) else {
            if takesTicket || takesKey, request.head.target.rawQuery != nil {
                var reader = try QueryReader(request.head.target)
                if takesTicket, let ticket = try reader.value("ticket") {
                    let grants = tokens.withLock { $0.grants }
                    if let index = tickets.token(of: ticket, among: grants.map(\.token.digest), now: .now()) {
                        return grants[index].caller
                    }
                    throw Problem(.unauthorized, "the ticket is unknown or has expired; request another with POST /tickets")
                }
                if takesKey, let key = try reader.value("key") {
                    return Caller(name: nil, scope: .read, permit: nil, key: key)
                }
            }
            throw Problem(.unauthorized, "the request carries no token; send Authorization: Bearer <token>")
        }
        return try caller(withToken: sent, tokens, of: request.peer)
    }

    /// The time at which the ticket of an accepted request expires; `nil` if it has another proof.
    func ticketEnd(of request: borrowing Request) -> Timestamp? {
        guard tokens != nil, request.head.target.rawQuery != nil,
            request.head.fields.bytes(.authorization).flatMap(AccessToken.carried(by:)) == nil,
            var reader = try? QueryReader(request.head.target)
        else { return nil }
        return (try? reader.value("ticket")).flatMap { $0 }.flatMap(Tickets.end(of:))
    }

    /// Refuses a wrong key of a feed, which counts as a wrong token.
    func refuse(key: String, of peer: borrowing SocketAddress) throws(Problem) -> Never {
        try limits.checkGuess(ArraySlice(key.utf8), of: peer)
        throw Problem(.unauthorized, "the key is wrong or was replaced; copy the address of the feed again")
    }

    /// A new ticket for the token of a caller.
    func issueTicket(to caller: Caller) -> String {
        let grant = tokens?.withLock { $0.grants }.first { $0.caller.permit === caller.permit }
        return tickets.issue(for: grant?.token.digest ?? TokenDigest(of: []), now: .now())
    }

    /// The sender of a message that contains a token.
    /// - Parameter token: The token; `nil` if the message has none.
    /// - Throws: A problem if the token is missing or wrong.
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
        // Compared before the limit of wrong tokens, so that a right token passes whatever other clients at the address
        // send.
        if let found = Self.caller(withToken: sent, tokens) { return found }
        try limits.checkGuess(sent, of: peer)
        throw Problem(.unauthorized, "the token is wrong; send Authorization: Bearer <token>")
    }

    /// Whether a request carries a bearer token, right or wrong.
    func carriesToken(_ request: borrowing Request) -> Bool {
        request.head.fields.bytes(.authorization).flatMap(AccessToken.carried(by:)) != nil
    }

    /// The owner of the token that a key for notifications is derived from.
    /// - Throws: A problem if the key is wrong, which counts as a wrong token.
    func caller(withNotificationKey key: String, of peer: borrowing SocketAddress) throws(Problem) -> Caller {
        guard let tokens else { return .anyone }
        let sent = TokenDigest(of: key.utf8)
        let grants = tokens.withLock { $0.grants }
        // All are compared, so that the time taken reveals nothing.
        let caller = grants.reduce(Caller?.none) { found, grant in
            grant.notificationKey.equals(sent) ? found ?? grant.caller : found
        }
        if let caller { return caller }
        try limits.checkGuess(ArraySlice(key.utf8), of: peer)
        throw Problem(.unauthorized, "the key in the path belongs to no token; pawl aria2 shows the key of a token")
    }

    /// Whether a text is a token now. A wrong one is not counted.
    func isToken(_ text: String) -> Bool {
        guard let tokens else { return true }
        return Self.caller(withToken: ArraySlice(text.utf8), tokens) != nil
    }

    private static func caller(withToken sent: ArraySlice<UInt8>, _ tokens: Locked<Tokens>) -> Caller? {
        let digest = TokenDigest(of: sent)
        let grants = tokens.withLock { $0.grants }
        // All are compared, so that the time taken reveals nothing.
        return grants.reduce(Caller?.none) { found, grant in
            grant.token.digest.equals(digest) ? found ?? grant.caller : found
        }
    }

    /// Replaces the token of `--token-file`.
    func replace(own token: AccessToken) {
        tokens?.withLock {
            $0.own = Self.named(token)
            $0.apply()
        }
    }

    /// Replaces the tokens of `--tokens-file`.
    /// - Returns: The previous tokens.
    func replace(listed: [NamedToken]) -> [NamedToken] {
        tokens?.withLock {
            let old = $0.listed
            $0.listed = listed
            $0.apply()
            return old
        } ?? []
    }
}
