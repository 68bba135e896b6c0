internal import CPostgres

/// The result of a command.
public struct PostgresResult: Sendable {
    /// The rows of SELECT or RETURNING.
    public let rows: PostgresRows

    init(_ memory: ResultMemory) {
        rows = PostgresRows(memory: memory)
    }
}

/// The rows of a result, which stay in memory while referenced.
public struct PostgresRows: Sendable, RandomAccessCollection {
    let memory: ResultMemory

    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of rows.
    public var endIndex: Int { Int(memory.rowCount) }
    /// A row. A row beyond the end has no cells.
    public subscript(position: Int) -> PostgresRow { PostgresRow(memory: memory, index: Int32(clamping: position)) }
}

/// A result in libpq's memory, freed with the last reference. It never changes, so several threads may read it.
@safe
final class ResultMemory: @unchecked Sendable {
    let pointer: OpaquePointer
    let rowCount: Int32
    let columnCount: Int32

    /// Takes ownership of the result.
    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = pointer
        rowCount = unsafe pawl_PQntuples(pointer)
        columnCount = unsafe pawl_PQnfields(pointer)
    }

    deinit {
        unsafe pawl_PQclear(pointer)
    }

    var status: ExecStatusType { unsafe pawl_PQresultStatus(pointer) }

    /// A field of an error result.
    private func field(_ number: Int) -> String? {
        unsafe pawl_PQresultErrorField(pointer, Int32(number)).map { unsafe PostgresError.oneLine(String(cString: $0)) }
    }

    /// The error of an error result. FATAL and PANIC end the connection, and so do errors that libpq itself detects,
    /// which have no SQLSTATE.
    var error: PostgresError {
        let whole = unsafe pawl_PQresultErrorMessage(pointer).map { unsafe PostgresError.oneLine(String(cString: $0)) }
        let message = field(PG_DIAG_MESSAGE_PRIMARY) ?? whole ?? ""
        guard let sqlState = field(PG_DIAG_SQLSTATE), field(PG_DIAG_SEVERITY_NONLOCALIZED) == "ERROR" else {
            return .unavailable(message)
        }
        return .server(sqlState: sqlState, message: message)
    }

    /// Calls the body with a cell; returns `nil` for a cell that is NULL or absent.
    func withCell<Value>(_ row: Int32, _ column: Int, _ body: (_ type: Oid, _ bytes: UnsafeRawBufferPointer) -> Value?) -> Value?
    {
        guard row >= 0, row < rowCount, let column = Int32(exactly: column), column >= 0, column < columnCount,
            unsafe pawl_PQgetisnull(pointer, row, column) == 0, let bytes = unsafe pawl_PQgetvalue(pointer, row, column)
        else { return nil }
        let count = unsafe Int(pawl_PQgetlength(pointer, row, column))
        return unsafe body(pawl_PQftype(pointer, column), UnsafeRawBufferPointer(start: bytes, count: count))
    }
}
