package import DownloadCore
package import Postgres

extension StoreError {
    /// Translates an error of PostgreSQL. The classes of states are in
    /// <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
    package init(_ error: PostgresError) {
        switch error {
        case .library(let message), .invalid(let message): self = .unavailable(path: "the database", reason: message)
        case .unavailable(let message): self = .interrupted(message)
        case .timedOut: self = .interrupted("it does not answer in time")
        case .server("PW001", _): self = .fenced
        case .server("PW003", _): self = .unclaimed
        case .server("53100", _): self = .full
        // Two replicas can only conflict over URLs, idempotency keys, gids, and works of subscriptions, which are unique.
        case .server("23505", _): self = .conflict
        // The statement was cancelled for taking too long, and would take as long again.
        case .server("57014", let message): self = .inputOutput(message)
        // Lost connections, missing resources, operator intervention, conflicts, read-only servers, and missing tables
        // while a backup is restored. Another attempt may succeed.
        case .server(let state, let message)
        where ["08", "3F", "40", "53", "57"].contains(state.prefix(2)) || ["25006", "42P01", "42883", "55P03"].contains(state):
            self = .interrupted(message)
        // Data, constraints, and limits of sizes.
        case .server(let state, let message) where ["22", "23", "54"].contains(state.prefix(2)):
            self = .unstorable("PostgreSQL error \(state): \(message)")
        case .server(let state, let message): self = .refused("PostgreSQL error \(state): \(message)")
        }
    }
}
