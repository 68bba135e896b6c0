internal import HTTPServer
internal import System

/// Limits for each client: of wrong tokens always, of requests only if the user sets one.
final class RateLimits: Sendable {
    /// Wrong tokens from one client: ten at once, then one every six seconds. Nobody mistypes more; trying them all takes for ever.
    static let guesses = TokenBucket.Size(burst: 10, perSecond: 1.0 / 6)

    private let failures = Locked(ClientAllowances(guesses))
    private let requests: Locked<ClientAllowances>?

    /// - Parameter requestsPerSecond: from one client, with twice as many at once; 0 is no limit.
    init(requestsPerSecond: Int) {
        requests =
            requestsPerSecond > 0
            ? Locked(
                ClientAllowances(
                    TokenBucket.Size(burst: Double(requestsPerSecond) * 2, perSecond: Double(requestsPerSecond)))) : nil
    }

    /// Counts a request, and refuses one too many.
    func checkRequest(of peer: borrowing SocketAddress) throws(Problem) {
        guard let requests else { return }
        let host = peer.host
        guard let wait = requests.withLock({ $0.take(host, now: .now) }) else { return }
        throw Problem(.rateLimited, "more requests from this address than --rate-limit allows", waiting: wait)
    }

    /// Refuses a client that sent too many wrong tokens, before it learns whether this one is right.
    func checkGuesses(of peer: borrowing SocketAddress) throws(Problem) {
        let host = peer.host
        guard let wait = failures.withLock({ $0.wait(host, now: .now) }) else { return }
        throw Problem(.rateLimited, "too many wrong tokens from this address", waiting: wait)
    }

    /// Counts a wrong token.
    func recordWrongGuess(of peer: borrowing SocketAddress) {
        let host = peer.host
        _ = failures.withLock { $0.take(host, now: .now) }
    }
}
