import HTTPCore
import System

/// The credentials of a client, and the Digest challenges of origins, for all threads.
final class CredentialStore: Sendable {
    private struct State: Sendable {
        var credentials: OriginCredentials
        /// The challenges by origin.
        var sessions: [String: Session] = [:]
    }

    private struct Session: Sendable {
        let challenge: DigestChallenge
        let clientNonce: String
        var count: UInt32 = 0
    }

    private let state: Locked<State>

    init(_ credentials: OriginCredentials) {
        state = Locked(State(credentials: credentials))
    }

    /// The present credentials.
    var credentials: OriginCredentials { state.withLock { $0.credentials } }

    func change(_ body: @Sendable (inout OriginCredentials) -> Void) {
        state.withLock { body(&$0.credentials) }
    }

    /// Keeps the challenge of an origin for the requests that follow; nil: the origin asks for Digest no more.
    func keep(_ challenge: DigestChallenge?, of origin: String) {
        var generator = SystemRandomNumberGenerator()
        let clientNonce = Hexadecimal.encode((0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        state.withLock { state in
            // Another connection may have received the same nonce, whose count goes on.
            if let challenge, state.sessions[origin]?.challenge.isSame(as: challenge) == true { return }
            if state.sessions.count >= CredentialLimits.challenges { state.sessions.removeAll() }
            state.sessions[origin] = challenge.map { Session(challenge: $0, clientNonce: clientNonce) }
        }
    }

    /// Answers the kept challenge of an origin: the value of an Authorization field, and the challenge. Nil without a
    /// challenge.
    func answer(_ login: Login, for hop: Hop) -> (authorization: String, challenge: DigestChallenge)? {
        let session = state.withLock { state -> Session? in
            guard var session = state.sessions[hop.url.origin] else { return nil }
            session.count &+= 1
            state.sessions[hop.url.origin] = session
            return session
        }
        guard let session else { return nil }
        let target = hop.url.path + (hop.url.query.map { "?\($0)" } ?? "")
        return (
            session.challenge.authorization(
                of: login, method: hop.method, target: target, count: session.count, clientNonce: session.clientNonce),
            session.challenge
        )
    }
}
