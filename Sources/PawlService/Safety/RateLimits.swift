internal import HTTPServer
internal import System

/// Limits for each client: of wrong tokens always, of requests only if the user sets one.
final class RateLimits: Sendable {
    /// Different wrong tokens from one client: ten at once, then one every six seconds. Nobody mistypes more.
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

    /// Counts a wrong token unless the client has sent the same before, and refuses one too many. Programs repeat a token that was
    /// changed, and learn nothing by that.
    func checkGuess(_ token: ArraySlice<UInt8>, of peer: borrowing SocketAddress) throws(Problem) {
        let host = peer.host
        // Not the token itself: what somebody mistypes may be the token of another service. The hash has a secret of this process.
        let mark = Array(token).hashValue
        guard let wait = failures.withLock({ $0.take(host, once: mark, now: .now) }) else { return }
        throw Problem(.rateLimited, "too many wrong tokens from this address", waiting: wait)
    }
}
