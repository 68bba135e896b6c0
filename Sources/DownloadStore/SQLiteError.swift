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

    /// The extended code of a file that cannot be locked (SQLITE_IOERR_LOCK).
    static let lockFailure = Int32(PAWL_SQLITE_IOERR | 15 << 8)

    /// Whether the file system lacks locks, or files that are shared in memory. The numbers belong to UNLOCK, RDLOCK,
    /// CHECKRESERVEDLOCK, LOCK, SHMOPEN, SHMSIZE, SHMLOCK and SHMMAP (<https://www.sqlite.org/rescode.html>).
    private var meansNoLocks: Bool { [8, 9, 14, 15, 18, 19, 20, 21].contains(code >> 8) }

    /// The error of the store that corresponds to the result code.
    package var storeError: StoreError {
        switch Int(primaryCode) {
        case PAWL_SQLITE_FULL: .full
        case PAWL_SQLITE_CORRUPT, PAWL_SQLITE_NOTADB: .damaged(message)
        // Nothing was written. The write can succeed once the lock is released.
        case PAWL_SQLITE_BUSY, PAWL_SQLITE_LOCKED: .interrupted("another program holds the records (\(message))")
        case PAWL_SQLITE_IOERR where meansNoLocks:
            .inputOutput(
                "this file system cannot lock files as SQLite needs it (\(message), SQLite \(code)); "
                    + "give --data-dir a directory on a local disk, and --downloads-dir the directory of the files")
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
