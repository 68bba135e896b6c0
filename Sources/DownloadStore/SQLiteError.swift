internal import CSQLite
package import DownloadCore
internal import Postgres

/// An error of SQLite: its result code and message.
package struct SQLiteError: Error, Sendable, Equatable {
    /// The extended result code.
    package let code: Int32
    /// The message of SQLite.
    package let message: String

    /// The primary result code, which is the low byte.
    var primaryCode: Int32 { code & 0xFF }

    /// The error of the store that corresponds to the result code.
    package var storeError: StoreError {
        switch Int(primaryCode) {
        case PAWL_SQLITE_FULL: .full
        case PAWL_SQLITE_CORRUPT, PAWL_SQLITE_NOTADB: .damaged(message)
        // Nothing was written. The write can succeed once the lock is released.
        case PAWL_SQLITE_BUSY, PAWL_SQLITE_LOCKED: .interrupted("another program holds the records (\(message))")
        case PAWL_SQLITE_IOERR, PAWL_SQLITE_READONLY, PAWL_SQLITE_CANTOPEN, PAWL_SQLITE_PERM, PAWL_SQLITE_AUTH,
            PAWL_SQLITE_NOMEM:
            .inputOutput("\(message) (SQLite \(code))")
        default: .refused("SQLite error \(code): \(message)")
        }
    }
}

extension StoreError {
    /// Runs the body, and translates errors of the database to errors of the store.
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
