internal import CPostgres

extension PostgresConnection {
    /// The number of bytes handed to libpq at once. libpq keeps unsent bytes and moves them after each write, so a
    /// large pipeline would be moved many times.
    private static let pieceSize = 64 << 10

    /// Runs commands in one transaction: all of them take effect, or none. They are sent as one pipeline with one Sync,
    /// without waits in between. Statements that are new to the connection are prepared first.
    ///
    /// - Parameter limit: The time limit for everything.
    /// - Returns: A result for each command, in order.
    /// - Throws: `.server` with the first error, after which nothing has taken effect and the connection is usable.
    ///   `.invalid`, before anything is sent. `.timedOut` and `.unavailable`, after which the commands may have taken
    ///   effect.
    @discardableResult
    public func run(_ commands: [PostgresCommand], within limit: Duration) throws(PostgresError) -> [PostgresResult] {
        for command in commands { try command.check() }
        if commands.isEmpty { return [] }
        let handle = unsafe try opened()
        let deadline = ContinuousClock.now + limit
        var seen = prepared
        let missing = commands.map(\.statement).filter { seen.insert($0).inserted }
        try start(missing, commands, until: deadline)
        let results = try receive(missing, until: deadline)
        try check(unsafe pawl_PQexitPipelineMode(handle) == 1)
        return try results.get()
    }

    /// Runs one command, and passes on its rows as they arrive, so that they are not all in memory.
    ///
    /// - Parameters:
    ///   - limit: The maximum time without data from the server.
    ///   - row: Receives each row. If it throws, the connection is closed, since further rows are arriving.
    /// - Throws: The errors of `run` and of `row`.
    public func query(_ command: PostgresCommand, within limit: Duration, row: (PostgresRow) throws -> Void) throws {
        try command.check()
        let handle = unsafe try opened()
        let missing = prepared.contains(command.statement) ? [] : [command.statement]
        try start(missing, [command], until: .now + limit)
        var isPrepared = missing.isEmpty
        if isPrepared { try check(unsafe pawl_PQsetSingleRowMode(handle) == 1) }
        var failure: PostgresError?
        while true {
            guard let result = try result(until: .now + limit) else {
                // The end of the preparation, or of the rows. The single-row mode applies to the current command only.
                if !isPrepared, failure == nil { try check(unsafe pawl_PQsetSingleRowMode(handle) == 1) }
                isPrepared = true
                continue
            }
            switch result.status {
            case PGRES_SINGLE_TUPLE:
                do {
                    try row(PostgresRow(memory: result, index: 0))
                } catch {
                    close()
                    throw error
                }
            case PGRES_PIPELINE_SYNC:
                try check(unsafe pawl_PQexitPipelineMode(handle) == 1)
                if let failure { throw failure }
                return
            case PGRES_COMMAND_OK where !isPrepared: prepared.insert(command.statement)
            // The end of the rows, or no rows.
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY, PGRES_PIPELINE_ABORTED: break
            default:
                let error = try self.failure(result)
                failure = failure ?? error
            }
        }
    }

    /// Runs an SQL script: in one transaction, unless it has its own BEGIN.
    ///
    /// - Parameter limit: The time limit for everything.
    /// - Throws: `.server` with the first error, `.timedOut`, `.unavailable`.
    public func execute(_ script: String, within limit: Duration) throws(PostgresError) {
        _ = try value(script, within: limit)
    }

    /// Runs an SQL script without preparing it, like ``execute(_:within:)``.
    ///
    /// - Parameter limit: The time limit for everything.
    /// - Returns: The text in the first column of the first row; `nil` if there is no row.
    /// - Throws: The errors of ``execute(_:within:)``.
    public func value(_ script: String, within limit: Duration) throws(PostgresError) -> String? {
        var value: String?
        let deadline = ContinuousClock.now + limit
        try check(unsafe pawl_PQsendQuery(try opened(), script) == 1)
        try flush(until: deadline)
        var failure: PostgresError?
        while let result = try result(until: deadline) {
            switch result.status {
            case PGRES_TUPLES_OK: value = value ?? PostgresResult(result).rows.first?.text(0)
            case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
            default:
                let error = try self.failure(result)
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return value
    }

    // MARK: Pipelines

    /// Sends statements to prepare and commands to run as one pipeline.
    private func start(
        _ statements: [PostgresStatement], _ commands: [PostgresCommand], until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        let handle = unsafe try opened()
        try check(unsafe pawl_PQenterPipelineMode(handle) == 1)
        for statement in statements {
            try check(unsafe pawl_PQsendPrepare(handle, statement.name, statement.sql, 0, nil) == 1)
        }
        var size = 0
        for command in commands {
            size += try send(command)
            if size >= Self.pieceSize {
                try flush(until: deadline)
                size = 0
            }
        }
        try check(unsafe pawl_PQpipelineSync(handle) == 1)
        try flush(until: deadline)
    }

    /// Receives the results of a pipeline up to its Sync.
    private func receive(
        _ preparing: [PostgresStatement], until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> Result<[PostgresResult], PostgresError> {
        var results: [PostgresResult] = []
        var failure: PostgresError?
        // The number of completed commands, and of consecutive ends of results.
        var (answered, ends) = (0, 0)
        while true {
            guard let result = try result(until: deadline) else {
                // Each command has one end. libpq may add one at the Sync, but never more.
                ends += 1
                if ends > 2 { throw broken(.unavailable("libpq lost the order of a pipeline")) }
                continue
            }
            ends = 0
            switch result.status {
            case PGRES_PIPELINE_SYNC: return failure.map { .failure($0) } ?? .success(results)
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                // The statement stays prepared even if the transaction fails.
                if answered < preparing.count {
                    prepared.insert(preparing[answered])
                } else {
                    results.append(PostgresResult(result))
                }
            case PGRES_PIPELINE_ABORTED: break
            default:
                let error = try self.failure(result)
                failure = failure ?? error
            }
            answered += 1
        }
    }

    /// Hands one command to libpq.
    /// - Returns: Its approximate size in bytes.
    @discardableResult
    private func send(_ command: PostgresCommand) throws(PostgresError) -> Int {
        let handle = unsafe try opened()
        values.removeAll()
        for parameter in command.parameters { values.append(parameter) }
        let isAccepted = unsafe values.withPointers { pointers in
            unsafe pawl_PQsendQueryPrepared(
                handle, command.statement.name, Int32(clamping: values.count), pointers, values.lengths, values.formats, 1)
        }
        try check(isAccepted == 1)
        return values.lengths.reduce(64) { $0 + Int($1) }
    }

    /// The error of an unsuccessful result. Throws it if the connection is broken.
    private func failure(_ result: ResultMemory) throws(PostgresError) -> PostgresError {
        guard result.status == PGRES_FATAL_ERROR || result.status == PGRES_BAD_RESPONSE else {
            throw broken(.unavailable("COPY is not supported"))
        }
        let error = result.error
        if case .unavailable = error { throw broken(error) }
        return error
    }
}
