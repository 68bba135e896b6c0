internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration
internal import System

/// Which requests are accepted: by the `Host` they name, the token they carry, and how many their sender has sent.
struct AccessPolicy: Sendable {
    /// What stands for the token where a field cannot be sent.
    let tickets = Tickets()
    private let hosts: [AllowedHost]
    private let limits: RateLimits
    /// `nil` if none is required.
    private let token: Locked<AccessToken>?

    init(_ configuration: Configuration) {
        hosts = AllowedHost.defaults(boundTo: configuration.host) + configuration.allowedHosts
        limits = RateLimits(requestsPerSecond: configuration.rateLimit)
        token = configuration.token.map { Locked($0) }
    }

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

    /// Refuses a missing or wrong token.
    /// - Parameter takesTicket: whether a ticket in the query does as well.
    func checkToken(_ request: borrowing Request, takesTicket: Bool) throws(Problem) {
        guard let token = token?.withLock({ $0 }) else { return }
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
                    guard !tickets.accepts(ticket, now: .now) else { return }
                    throw Problem(.unauthorized, "the ticket is unknown or too old; POST /tickets gives another")
                }
            }
            throw Problem(.unauthorized, "the request carries no token; send Authorization: Bearer <token>")
        }
        // Compared first: whatever others at the same address send, a right token passes.
        guard !token.equals(sent) else { return }
        try limits.checkGuess(sent, of: request.peer)
        throw Problem(.unauthorized, "the token is wrong; send Authorization: Bearer <token>")
    }

    /// From now on another token is the right one, and tickets of the old one are void.
    func replaceToken(_ new: AccessToken) {
        token?.withLock { $0 = new }
        tickets.revoke()
    }
}
