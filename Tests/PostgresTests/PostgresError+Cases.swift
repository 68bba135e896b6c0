import Postgres

/// The message of an error with this name.
extension PostgresError {
    var library: String? { if case .library(let message) = self { message } else { nil } }
    var invalid: String? { if case .invalid(let message) = self { message } else { nil } }
    var unavailable: String? { if case .unavailable(let message) = self { message } else { nil } }
    var sqlState: String? { if case .server(let sqlState, _) = self { sqlState } else { nil } }
}
