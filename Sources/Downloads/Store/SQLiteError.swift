import CSQLite
internal import Postgres

/// A result code of SQLite's, with its message.
struct SQLiteError: Error, Sendable, Equatable {
    /// The extended result code.
    let code: Int32
    /// What SQLite says about it.
    let message: String

    /// The primary result code: the low byte.
    var primaryCode: Int32 { code & 0xFF }

    /// What it means to the store.
    var storeError: StoreError {
        switch Int(primaryCode) {
        case PAWL_SQLITE_FULL: .full
        case PAWL_SQLITE_CORRUPT, PAWL_SQLITE_NOTADB: .damaged(message)
        // Nothing was written, and it can be once the lock is released.
        case PAWL_SQLITE_BUSY, PAWL_SQLITE_LOCKED: .interrupted("another program holds the records (\(message))")
        case PAWL_SQLITE_IOERR, PAWL_SQLITE_READONLY, PAWL_SQLITE_CANTOPEN, PAWL_SQLITE_PERM, PAWL_SQLITE_AUTH,
            PAWL_SQLITE_NOMEM:
            .inputOutput("\(message) (SQLite \(code))")
        default: .refused("SQLite error \(code): \(message)")
        }
    }
}

extension StoreError {
    /// Runs the body, and throws what the database has to say as an error of the store.
    static func translating<Value>(_ body: () throws -> Value) throws(StoreError) -> Value {
        do {
            return try body()
        } catch let error as StoreError {
            throw error
        } catch let error as SQLiteError {
            throw error.storeError
        } catch let error as PostgresError {
            throw StoreError(error)
        } catch {
            throw .inputOutput("\(error)")
        }
    }
}
