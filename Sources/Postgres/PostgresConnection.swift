internal import CPostgres
internal import System

/// A connection to a PostgreSQL server. One thread at a time may use it; its calls block that thread, at most for the
/// given time, even if the peer does not respond. It has no lock.
///
/// After `PostgresError.timedOut` and `.unavailable` it is closed and must be replaced.
@safe
public final class PostgresConnection {
    /// The connection of libpq; `nil` once it is closed.
    private var handle: OpaquePointer?
    /// The statements that the server has prepared.
    var prepared: Set<PostgresStatement> = []
    /// The parameters of the command that is being sent.
    var values = CValues()
    /// The id of the server's process for this connection, as in `pg_backend_pid()`.
    public let processID: Int32
    /// The reason why the connection is not safe from other machines, as a sentence; `nil` if it is safe.
    public let exposure: String?
    /// The server's version: major · 10,000 + minor, such as 150017.
    public let serverVersion: Int

    /// Connects. The connection string may contain everything that libpq supports: several hosts, `sslmode`, a service,
    /// a password file. It overrides ``ConnectionParameters/defaults``, except `client_encoding`, which is always
    /// UTF-8. The defaults override a service file.
    ///
    /// The hosts of the string are tried in order, each for its share of the remaining time; `connect_timeout` is
    /// ignored. Names are looked up with getaddrinfo(3), with the resolver's time limit. `hostaddr` avoids
    /// the lookup.
    /// - Parameters:
    ///   - conninfo: A `postgres://` URI, or `keyword=value …`.
    ///   - application: The name in `pg_stat_activity`, unless the string or `PGAPPNAME` sets one.
    ///   - limit: The time limit for everything: connecting, TLS, authentication.
    /// - Throws: `.library`, `.invalid`, `.unavailable`, and `.timedOut` if no host responded.
    public init(_ conninfo: String, application: String, within limit: Duration) throws(PostgresError) {
        let deadline = ContinuousClock.now + limit
        try PostgresLibrary.load()
        let attempts = try ConnectionParameters(conninfo, application: application)
            .attempts(environment: { ProcessEnvironment.variable($0) }, isFile: { ProcessEnvironment.isReadableFile($0) })
        var failures: [String] = []
        var isSilent = true
        for (index, parameters) in attempts.enumerated() {
            let left = deadline - .now
            let share = ContinuousClock.now + max(left, .zero) / (attempts.count - index)
            do throws(PostgresError) {
                let handle = unsafe try Self.connect(parameters, until: share)
                unsafe self.handle = handle
                processID = unsafe pawl_PQbackendPID(handle)
                serverVersion = unsafe Int(pawl_PQserverVersion(handle))
                exposure = parameters.exposure { ProcessEnvironment.variable($0) }
                return
            } catch .timedOut {
                failures.append("\(parameters.hostName) did not respond in time")
            } catch {
                isSilent = false
                failures.append(error.description)
            }
        }
        throw isSilent ? .timedOut : .unavailable(failures.joined(separator: "; "))
    }

    deinit {
        close()
    }

    /// Whether the connection is closed, because of `close()` or an error.
    public var isBroken: Bool { unsafe handle == nil }

    /// Closes the connection without waiting for the server. Further calls have no effect.
    public func close() {
        guard let closing = unsafe handle else { return }
        unsafe handle = nil
        unsafe pawl_PQfinish(closing)
    }

    // MARK: Connecting

    /// Connects to one host, or to a list that is left to libpq.
    private static func connect(
        _ parameters: ConnectionParameters, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> OpaquePointer {
        var (keywords, values) = (CValues(), CValues())
        for (keyword, value) in parameters.values {
            keywords.append(keyword)
            values.append(value)
        }
        keywords.appendEnd()
        values.appendEnd()
        let started = unsafe keywords.withPointers { keywords in
            unsafe values.withPointers { values in unsafe pawl_PQconnectStartParams(keywords, values, 0) }
        }
        guard let handle = unsafe started else { throw .unavailable("libpq is out of memory") }
        do throws(PostgresError) {
            unsafe pawl_drop_notices(handle)
            // The state before the first call of PQconnectPoll, as libpq documents it.
            var state = unsafe pawl_PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
            while state != PGRES_POLLING_OK {
                // Each further address, or a try without TLS, has another socket.
                let socket = unsafe pawl_PQsocket(handle)
                guard state != PGRES_POLLING_FAILED, socket >= 0 else { throw unsafe failure(of: handle) }
                guard ContinuousClock.now < deadline,
                    !SocketWait.wait(for: socket, state == PGRES_POLLING_READING ? .readable : .writable, until: deadline).isEmpty
                else { throw PostgresError.timedOut }
                state = unsafe pawl_PQconnectPoll(handle)
            }
            guard unsafe pawl_PQsetnonblocking(handle, 1) == 0 else { throw unsafe failure(of: handle) }
            return unsafe handle
        } catch {
            unsafe pawl_PQfinish(handle)
            throw error
        }
    }

    /// The last error of libpq for the connection.
    private static func failure(of handle: OpaquePointer) -> PostgresError {
        let message = unsafe pawl_PQerrorMessage(handle).map { unsafe PostgresError.oneLine(String(cString: $0)) } ?? ""
        return .unavailable(message.isEmpty ? "the connection broke" : message)
    }

    // MARK: Used by commands

    /// The connection of libpq. Throws `.unavailable` if it is closed.
    func opened() throws(PostgresError) -> OpaquePointer {
        guard let handle = unsafe handle else { throw .unavailable("the connection is closed") }
        return unsafe handle
    }

    /// Closes the connection because of an error. Returns the given error, or libpq's if there is none.
    func broken(_ error: PostgresError? = nil) -> PostgresError {
        let error = unsafe error ?? handle.map { unsafe Self.failure(of: $0) } ?? .unavailable("the connection is closed")
        close()
        return error
    }

    /// Checks that libpq accepted a call, which fails if it is out of memory or the connection is broken.
    func check(_ isAccepted: Bool) throws(PostgresError) {
        if !isAccepted { throw broken() }
    }

    /// Waits until the connection is readable or writable, and reads available data.
    private func progress(_ interest: SocketWait, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        let handle = unsafe try opened()
        guard ContinuousClock.now < deadline else { throw broken(.timedOut) }
        let ready = unsafe SocketWait.wait(for: pawl_PQsocket(handle), interest, until: deadline)
        if ready.isEmpty { throw broken(.timedOut) }
        if ready.contains(.readable) { try check(unsafe pawl_PQconsumeInput(handle) == 1) }
    }

    /// Sends everything that libpq holds. Also reads, since a server that cannot send its results does not read further
    /// commands.
    func flush(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        let handle = unsafe try opened()
        while true {
            let state = unsafe pawl_PQflush(handle)
            if state == 0 { return }
            try check(state == 1)
            try progress([.readable, .writable], until: deadline)
        }
    }

    /// The next result; `nil` at the end of a command's results.
    func result(until deadline: ContinuousClock.Instant) throws(PostgresError) -> ResultMemory? {
        let handle = unsafe try opened()
        while unsafe pawl_PQisBusy(handle) == 1 { try progress(.readable, until: deadline) }
        return unsafe pawl_PQgetResult(handle).map { unsafe ResultMemory(owning: $0) }
    }
}
