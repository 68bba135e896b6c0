internal import HTTPCore
internal import HTTPServer
internal import System

/// Limits for each client: of wrong tokens always, of requests if configured.
final class RateLimits: Sendable {
    /// The allowance of different wrong tokens from one client: ten at once, then one every six seconds. Typing errors
    /// stay below it.
    static let guesses = Allowance.Size(burst: 10, perSecond: 1.0 / 6)

    private let failures = Locked(ClientAllowances(guesses))
    private let requests: Locked<ClientAllowances>?

    /// - Parameter requestsPerSecond: The rate of requests from one client, with a burst of twice as many; 0 means
    ///   unlimited.
    init(requestsPerSecond: Int) {
        requests =
            requestsPerSecond > 0
            ? Locked(
                ClientAllowances(
                    Allowance.Size(burst: Double(requestsPerSecond) * 2, perSecond: Double(requestsPerSecond)))) : nil
    }

    /// Counts a request, and refuses it if the client is over the limit.
    func checkRequest(of peer: borrowing SocketAddress) throws(Problem) {
        guard let requests else { return }
        let host = peer.host
        guard let wait = requests.withLock({ $0.take(host, now: .now) }) else { return }
        throw Problem(.rateLimited, "this address sent more requests than --rate-limit allows", retryAfter: Problem.seconds(wait))
    }

    /// Counts a wrong token unless the client has sent the same one lately, and refuses it if the client is over the
    /// limit. Programs repeat a token that has been replaced; a repetition is not another guess.
    func checkGuess(_ token: ArraySlice<UInt8>, of peer: borrowing SocketAddress) throws(Problem) {
        let host = peer.host
        // Keeps a hash instead of the token, which may be a token of another service. The hash is seeded per process.
        let mark = Array(token).hashValue
        guard let wait = failures.withLock({ $0.take(host, once: mark, now: .now) }) else { return }
        throw Problem(.rateLimited, "this address sent too many wrong tokens", retryAfter: Problem.seconds(wait))
    }
}
