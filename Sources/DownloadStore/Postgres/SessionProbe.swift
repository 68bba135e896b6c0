internal import Postgres

/// Tests whether a connection has a session of the server for itself. A pooler in transaction mode may give each
/// transaction another session.
///
/// Prepared statements, LISTEN, and settings such as `synchronous_commit` belong to a session. A pooler with few
/// sessions gives the session of one connection to the other. With more sessions it changes a connection's session
/// while the other has an open transaction.
enum SessionProbe {
    /// Runs transactions on two connections, and compares their sessions.
    /// - Parameters:
    ///   - one: The connection to test. It is left unchanged.
    ///   - other: Another connection to the same database. It is closed.
    ///   - limit: The maximum duration of each statement.
    /// - Returns: Whether the connection has a session of its own.
    /// - Throws: An error if a statement cannot run.
    static func ownsSession(
        _ one: PostgresConnection, beside other: PostgresConnection, within limit: Duration
    ) throws(PostgresError) -> Bool {
        defer { other.close() }
        func session(of connection: PostgresConnection) throws(PostgresError) -> String {
            try connection.value("SELECT pg_backend_pid()::text", within: limit) ?? ""
        }
        // Several times, because a pooler may alternate between its sessions.
        var sessions: [String] = []
        for _ in 0..<3 { sessions.append(try session(of: one)) }
        try other.execute("BEGIN", within: limit)
        let others = try session(of: other)
        // Returns before the next statement, which a pooler with one session would delay.
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
