internal import Postgres

/// Looks whether a connection has one session of the server for itself: a pooler in transaction mode gives each transaction another one.
///
/// Statements that are prepared, LISTEN and settings such as `synchronous_commit` belong to a session. A pooler that has few of them hands
/// the session of one connection to the other, or changes that of a connection while the other has a transaction open.
enum SessionProbe {
    /// - Parameters:
    ///   - one: the connection to look at. It is left as it was.
    ///   - other: another connection to the same place. It is closed.
    ///   - limit: the time for each statement.
    /// - Returns: whether it has.
    /// - Throws: what keeps a statement from running.
    static func ownsSession(
        _ one: PostgresConnection, beside other: PostgresConnection, within limit: Duration
    ) throws(PostgresError) -> Bool {
        defer { other.close() }
        func session(of connection: PostgresConnection) throws(PostgresError) -> String {
            try connection.value("SELECT pg_backend_pid()::text", within: limit) ?? ""
        }
        // More than once: a pooler may give its sessions in turn.
        var sessions: [String] = []
        for _ in 0..<3 { sessions.append(try session(of: one)) }
        try other.execute("BEGIN", within: limit)
        let others = try session(of: other)
        // Before anything more is asked: a pooler with one session would make that wait.
        if sessions.contains(others) { return false }
        sessions.append(try session(of: one))
        try other.execute("COMMIT", within: limit)
        try one.execute("BEGIN", within: limit)
        sessions.append(try session(of: one))
        let later = try session(of: other)
        try one.execute("COMMIT", within: limit)
        return Set(sessions).count == 1 && later == others
    }
}
