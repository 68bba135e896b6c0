/// Decides which requests may use a connection that was used before. Pure.
///
/// Some origins send a response that nothing has asked for, a while after the right one. On a connection that is used again at once, it
/// looks like the response to the next request (RFC 9112 §9.2): nothing tells them apart. So each request takes a new connection until a
/// connection of its origin has been silent for ``silence`` after a response.
struct OriginTrust {
    /// The connection of a request.
    enum Connection: Sendable, Equatable {
        /// A new one or one that was used before. It is kept.
        case any
        /// A new one, which is kept.
        case new
        /// A new one, which is closed after the response: another one is being watched.
        case single
    }

    /// For how long a connection has to be silent.
    static let silence: Duration = .milliseconds(250)
    /// The most origins that are known. With more, all are forgotten.
    static let capacity = 4_096

    private enum Standing {
        case watched(ConnectionTable.Endpoints, since: ContinuousClock.Instant)
        case trusted
    }

    private var standings: [String: Standing] = [:]

    /// Chooses the connection of a request.
    /// - Parameter isSilent: whether a connection is open, and nothing has come on it.
    mutating func connection(
        to origin: String, now: ContinuousClock.Instant, isSilent: (ConnectionTable.Endpoints) -> Bool
    ) -> Connection {
        switch standings[origin] {
        case .trusted: return .any
        case nil: return .new
        case .watched(let connection, let since):
            guard since.duration(to: now) >= Self.silence else { return .single }
            let isTrusted = isSilent(connection)
            standings[origin] = isTrusted ? .trusted : nil
            return isTrusted ? .any : .new
        }
    }

    /// Notes that a response has ended on a connection that is kept.
    mutating func ended(_ origin: String, on connection: ConnectionTable.Endpoints, now: ContinuousClock.Instant) {
        guard standings[origin] == nil else { return }
        if standings.count >= Self.capacity { standings.removeAll() }
        standings[origin] = .watched(connection, since: now)
    }

    /// Notes that a connection has brought what nothing has asked for, or has ended.
    mutating func broke(_ origin: String) {
        standings[origin] = nil
    }
}
