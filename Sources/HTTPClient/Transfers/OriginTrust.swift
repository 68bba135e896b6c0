/// Decides which requests may reuse a connection. It has no I/O.
///
/// Some origins send an unsolicited response some time after the right one. On a connection that is reused immediately,
/// it looks like the response to the next request (RFC 9112 §9.2), and cannot be distinguished from it. So each request
/// uses a new connection until a connection to its origin has been silent for ``silence`` after a response.
struct OriginTrust {
    /// The kind of connection for a request.
    enum Connection: Sendable, Equatable {
        /// A new or a reused one, which is kept.
        case any
        /// A new one, which is kept.
        case new
        /// A new one, which is closed after the response, since another connection is being watched.
        case single
    }

    /// The time for which a connection must be silent.
    static let silence: Duration = .milliseconds(250)
    /// The maximum number of known origins. When it is reached, all are removed.
    static let capacity = 4_096

    private enum State {
        case watched(ConnectionSockets.Endpoints, since: ContinuousClock.Instant)
        case trusted
    }

    private var states: [String: State] = [:]

    /// Chooses the connection of a request.
    /// - Parameter isSilent: Whether a connection is open and has received nothing.
    mutating func connection(
        to origin: String, now: ContinuousClock.Instant, isSilent: (ConnectionSockets.Endpoints) -> Bool
    ) -> Connection {
        switch states[origin] {
        case .trusted: return .any
        case nil: return .new
        case .watched(let connection, let since):
            guard since.duration(to: now) >= Self.silence else { return .single }
            let isTrusted = isSilent(connection)
            states[origin] = isTrusted ? .trusted : nil
            return isTrusted ? .any : .new
        }
    }

    /// Records that a response has ended on a connection that is kept.
    mutating func ended(_ origin: String, on connection: ConnectionSockets.Endpoints, now: ContinuousClock.Instant) {
        guard states[origin] == nil else { return }
        if states.count >= Self.capacity { states.removeAll() }
        states[origin] = .watched(connection, since: now)
    }

    /// Records that a connection brought an unsolicited response, or has ended.
    mutating func broke(_ origin: String) {
        states[origin] = nil
    }
}
