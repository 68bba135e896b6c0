internal import CSQLite
package import DownloadCore
package import DownloadFiles
internal import Glibc
package import System

/// A connection to a SQLite database. It has no lock inside, so it belongs to one thread at a time.
@safe package final class SQLiteConnection {
    fileprivate let handle: OpaquePointer
    /// Keeps the descriptor open through which SQLite's path leads.
    private let directory: Directory?

    /// Opens a database file, and its log, in an open directory. The directory's path may lead elsewhere by then.
    package convenience init(_ name: String, in directory: Directory) throws {
        let path = try directory.descriptorPath(of: name)
        try unsafe self.init(path, creates: false, pawl_sqlite_unresolved(), directory)
    }

    /// Opens the database file.
    /// - Parameter creates: Whether a missing file is created.
    package convenience init(path: String, creates: Bool = true) throws(SQLiteError) {
        try unsafe self.init(path, creates: creates, nil, nil)
    }

    private init(
        _ path: String, creates: Bool, _ vfs: UnsafePointer<CChar>?, _ directory: Directory?
    ) throws(SQLiteError) {
        self.directory = directory
        var handle: OpaquePointer?
        var flags = Int32(PAWL_SQLITE_OPEN_READWRITE | PAWL_SQLITE_OPEN_NOMUTEX)
        if creates { flags |= Int32(PAWL_SQLITE_OPEN_CREATE) }
        let code = unsafe sqlite3_open_v2(path, &handle, flags, vfs)
        guard let opened = unsafe handle else {
            throw SQLiteError(code: code, message: "out of memory")
        }
        guard code == PAWL_SQLITE_OK else {
            let error = unsafe SQLiteError(code: code, message: String(cString: sqlite3_errmsg(opened)))
            unsafe sqlite3_close_v2(opened)
            throw error
        }
        unsafe self.handle = opened
        unsafe sqlite3_extended_result_codes(opened, 1)
        // No other process should use the database, but a command-line tool may hold it for a moment.
        unsafe sqlite3_busy_timeout(opened, 5_000)
    }

    deinit {
        unsafe sqlite3_close_v2(handle)
    }

    /// Sets the maximum wait of a statement for another program that holds the database.
    func setPatience(milliseconds: Int32) {
        unsafe sqlite3_busy_timeout(handle, milliseconds)
    }

    /// Whether a transaction is open.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    /// Runs one statement to its end and ignores its rows.
    package func execute(_ sql: String) throws(SQLiteError) {
        let statement = try prepare(sql)
        while try statement.step() {}
    }

    /// Runs the statements of a script, and ignores their rows.
    package func execute(script: String) throws(SQLiteError) {
        let code = unsafe sqlite3_exec(handle, script, nil, nil, nil)
        guard code == PAWL_SQLITE_OK else { throw error(code) }
    }

    /// Returns the first column of the first row as a number; 0 if there is none.
    package func number(_ sql: String) throws(SQLiteError) -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) ?? 0 : 0
    }

    /// Returns the first column of the first row as text; `nil` if there is none.
    package func text(_ sql: String) throws(SQLiteError) -> String? {
        let statement = try prepare(sql)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Compiles one statement.
    package func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
        var compiled: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(
            handle, sql, -1, UInt32(PAWL_SQLITE_PREPARE_PERSISTENT), &compiled, nil)
        guard code == PAWL_SQLITE_OK, let statement = unsafe compiled else { throw error(code) }
        return unsafe SQLiteStatement(statement, of: self)
    }

    /// Runs the body in a transaction: either all its changes are made, or none.
    func transaction<Failure: Error>(
        _ body: () throws(Failure) -> Void, failure: (SQLiteError) -> Failure
    ) throws(Failure) {
        do { try execute("BEGIN IMMEDIATE") } catch { throw failure(error) }
        do {
            try body()
        } catch {
            rollBack()
            throw error
        }
        do {
            try execute("COMMIT")
        } catch {
            rollBack()
            throw failure(error)
        }
    }

    private func rollBack() {
        // Some failures, such as a full disk, have already ended the transaction.
        guard isInTransaction else { return }
        try? execute("ROLLBACK")
    }

    /// Returns the error for a result code.
    /// - Parameter systemError: The `errno` of the last system call that failed in SQLite's call; 0 if none did.
    fileprivate func error(_ code: Int32, systemError: Int32 = 0) -> SQLiteError {
        var code = unsafe code == PAWL_SQLITE_ERROR ? sqlite3_extended_errcode(handle) : code
        // SQLite reports a full disk only for ENOSPC in writes, and keeps no system error of a failed commit.
        let numbers = unsafe [systemError, sqlite3_system_errno(handle)]
        let isOutOfSpace = numbers.contains { $0 == ENOSPC || $0 == EDQUOT || $0 == EFBIG }
        if code & 0xFF == PAWL_SQLITE_IOERR, isOutOfSpace { code = Int32(PAWL_SQLITE_FULL) }
        // The lock of another program is EAGAIN. Without a lock service, SQLite reports the same.
        if code & 0xFF == PAWL_SQLITE_BUSY, numbers.contains(where: { $0 == ENOLCK || $0 == EACCES }) {
            code = SQLiteError.lockFailure
        }
        // A file system that has failed locks nothing either.
        if code & 0xFF == PAWL_SQLITE_IOERR, numbers.contains(where: { SystemError($0).meansFailedDevice }) {
            code = Int32(PAWL_SQLITE_IOERR)
        }
        return unsafe SQLiteError(code: code, message: String(cString: sqlite3_errmsg(handle)))
    }
}

/// A compiled statement of a connection. As in SQLite, parameters count from 1 and columns from 0.
@safe package final class SQLiteStatement {
    private let handle: OpaquePointer
    private let connection: SQLiteConnection

    fileprivate init(_ handle: OpaquePointer, of connection: SQLiteConnection) {
        unsafe self.handle = handle
        self.connection = connection
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    /// Advances to the next row; returns false at the end.
    package func step() throws(SQLiteError) -> Bool {
        errno = 0
        let code = unsafe sqlite3_step(handle)
        let systemError = errno
        switch Int(code) {
        case PAWL_SQLITE_ROW: return true
        case PAWL_SQLITE_DONE: return false
        default: throw connection.error(code, systemError: systemError)
        }
    }

    /// Runs the statement to its end with the bound values. Resets it in any case, so that it can be bound and run
    /// again.
    func run() throws(SQLiteError) {
        defer { reset() }
        while try step() {}
    }

    /// Prepares the statement to be bound and run again.
    func reset() {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }
}

// MARK: - Parameters

extension SQLiteStatement {
    // ``reset()`` has made all parameters NULL, so `nil` binds nothing.

    package func bind(_ index: Int32, _ value: Int64?) throws(SQLiteError) {
        guard let value else { return }
        try check(unsafe sqlite3_bind_int64(handle, index, value))
    }

    package func bind(_ index: Int32, _ value: String?) throws(SQLiteError) {
        guard var value else { return }
        let code = value.withUTF8 { bytes in
            unsafe pawl_sqlite_bind_text(handle, index, bytes.baseAddress, Int32(clamping: bytes.count))
        }
        try check(code)
    }

    package func bind(_ index: Int32, _ value: [UInt8]?) throws(SQLiteError) {
        guard let value else { return }
        let code = unsafe value.withUnsafeBytes { bytes in
            unsafe pawl_sqlite_bind_blob(handle, index, bytes.baseAddress, Int32(clamping: bytes.count))
        }
        try check(code)
    }

    /// Binds the parameters of ``RefusedRow/Table/condition``.
    package func bind(_ key: RefusedRow.Key) throws(SQLiteError) {
        try bind(1, key.bytes)
        try bind(2, key.isBlob ? 1 : 0)
    }

    private func check(_ code: Int32) throws(SQLiteError) {
        guard code != PAWL_SQLITE_OK else { return }
        let error = connection.error(code)
        // The values of this row must not become part of the next one.
        reset()
        throw error
    }
}

// MARK: - Columns

extension SQLiteStatement: RowDecoder {
    package func value(_ column: Int32) -> SQLiteValue? {
        let value = unsafe SQLiteValue(sqlite3_column_value(handle, column))
        return value.type == PAWL_SQLITE_NULL ? nil : value
    }

    package func key(_ column: Int32) -> RefusedRow.Key {
        let value = value(column)
        return RefusedRow.Key(isBlob: value?.type == PAWL_SQLITE_BLOB, bytes: value?.bytes ?? [])
    }
}

/// A value of a statement's current row. It is read before the statement's next step.
@safe package struct SQLiteValue: ColumnValue {
    private let handle: OpaquePointer?
    /// The storage class.
    fileprivate let type: Int

    fileprivate init(_ handle: OpaquePointer?) {
        unsafe self.handle = handle
        type = unsafe Int(sqlite3_value_type(handle))
    }

    // SQLite converts values of other types, so that a text would be read as a number.

    package var integer: Int64? { type == PAWL_SQLITE_INTEGER ? unsafe sqlite3_value_int64(handle) : nil }

    package var text: String? {
        guard type == PAWL_SQLITE_TEXT, let bytes = unsafe sqlite3_value_text(handle) else { return nil }
        let text = unsafe UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(handle)))
        // Validation takes longer than reading all of most rows.
        if unsafe text.reduce(0, |) < 0x80 { return unsafe String(decoding: text, as: UTF8.self) }
        return unsafe String(validating: text, as: UTF8.self)
    }

    package var blob: [UInt8]? { type == PAWL_SQLITE_BLOB ? bytes : nil }

    fileprivate var bytes: [UInt8] {
        // SQLite gives no address for an empty blob.
        guard let bytes = unsafe sqlite3_value_blob(handle) else { return [] }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(handle))))
    }
}

extension DataDirectory {
    /// Opens the record file, which must exist.
    package func openDatabase() throws -> SQLiteConnection { try SQLiteConnection(Self.databaseName, in: top) }

    /// Opens the records, and migrates them to the schema of this release. The first start creates the file.
    /// - Parameter beginsAnew: Whether lost records are replaced by new ones.
    /// - Returns: The connection, and the reason why records seem to be lost; `nil` if none are.
    /// - Throws: `StoreError.foreign`, `.newerSchema`, `.damaged`, `.unavailable`, also if records are lost, or an error of
    ///   SQLite.
    package func openRecords(
        beginningAnew beginsAnew: Bool = false
    ) throws(StoreError) -> (connection: SQLiteConnection, loss: String?) {
        func accepted(_ loss: String?) throws(StoreError) -> String? {
            if let loss, !beginsAnew { throw .unavailable(path: databasePath, reason: loss) }
            return loss
        }
        let loss = try accepted(recordLoss())
        try prepareDatabaseFile()
        let (connection, isUnused) = try StoreError.translating {
            let connection = try openDatabase()
            try StoreSchema.prepare(connection, path: databasePath, in: top)
            return (connection, try connection.number(StoreSchema.isUnused) == 1)
        }
        return (connection, try isUnused ? accepted(recordLoss(isUnused: true)) ?? loss : loss)
    }
}
