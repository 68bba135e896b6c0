internal import CPostgres
internal import System

/// One connection to a PostgreSQL server. It belongs to one thread at a time, which its calls block, never longer than they are told:
/// not even if a peer swallows everything and says nothing. There is no lock inside.
///
/// After `PostgresError.timedOut` and `.unavailable` it is closed: another one has to be made.
@safe
public final class PostgresConnection {
    /// `nil` once it is closed.
    private var handle: OpaquePointer?
    /// What the server has prepared.
    var prepared: Set<PostgresStatement> = []
    /// The parameters of the command that is being sent.
    var values = CValues()
    /// The number of the server's process that serves it: what `pg_backend_pid()` says.
    public let processID: Int32
    /// Why the connection is not safe from other machines, as a sentence; `nil`: it is.
    public let exposure: String?
    /// The server's version: major · 10,000 + minor, such as 150017.
    public let serverVersion: Int

    /// Connects. Whatever libpq takes may be in the connection string: several hosts, `sslmode`, a service, a password file; what it says
    /// wins over ``ConnectionParameters/defaults`` (except `client_encoding`, which is UTF-8), and these over a service file.
    ///
    /// The hosts of the string are tried in order, each for its share of the time that is left; `connect_timeout` counts for nothing.
    /// Names are looked up by getaddrinfo(3), whose limit is the resolver's and not ours: who must not wait for that gives `hostaddr`.
    /// - Parameters:
    ///   - conninfo: a `postgres://` URI, or `keyword=value …`.
    ///   - application: what `pg_stat_activity` shows, unless the string or `PGAPPNAME` says something else.
    ///   - limit: the time for everything: connecting, TLS, authentication.
    /// - Throws: `.library`, `.invalid`, `.unavailable`, and `.timedOut` if no host answered.
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
                failures.append("\(parameters.place) did not answer in time")
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

    /// Whether it is closed, by somebody or because it broke.
    public var isBroken: Bool { unsafe handle == nil }

    /// Says goodbye to the server, without waiting. Closing it again does nothing.
    public func close() {
        guard let closing = unsafe handle else { return }
        unsafe handle = nil
        unsafe pawl_PQfinish(closing)
    }

    // MARK: Connecting

    /// Connects to one host, or to those that libpq chooses from.
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
            // As if it had said so: the first step is to write.
            var state = unsafe pawl_PQstatus(handle) == CONNECTION_BAD ? PGRES_POLLING_FAILED : PGRES_POLLING_WRITING
            while state != PGRES_POLLING_OK {
                // The next address, or the next try without TLS, has another socket.
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

    /// What libpq says of the connection.
    private static func failure(of handle: OpaquePointer) -> PostgresError {
        let message = unsafe pawl_PQerrorMessage(handle).map { unsafe PostgresError.oneLine(String(cString: $0)) } ?? ""
        return .unavailable(message.isEmpty ? "the connection broke" : message)
    }

    // MARK: For the commands

    /// The connection, as long as it is not closed.
    func opened() throws(PostgresError) -> OpaquePointer {
        guard let handle = unsafe handle else { throw .unavailable("the connection is closed") }
        return unsafe handle
    }

    /// Closes the connection because of an error; returns that of libpq's unless there is another.
    func broken(_ error: PostgresError? = nil) -> PostgresError {
        let error = unsafe error ?? handle.map { unsafe Self.failure(of: $0) } ?? .unavailable("the connection is closed")
        close()
        return error
    }

    /// Checks that libpq accepted something, as it does unless it is out of memory or the connection is broken.
    func check(_ isAccepted: Bool) throws(PostgresError) {
        if !isAccepted { throw broken() }
    }

    /// Waits until there is something to read, which it takes, or room to write.
    private func progress(_ interest: SocketWait, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        let handle = unsafe try opened()
        guard ContinuousClock.now < deadline else { throw broken(.timedOut) }
        let ready = unsafe SocketWait.wait(for: pawl_PQsocket(handle), interest, until: deadline)
        if ready.isEmpty { throw broken(.timedOut) }
        if ready.contains(.readable) { try check(unsafe pawl_PQconsumeInput(handle) == 1) }
    }

    /// Sends all that libpq has to send. It reads, too: a server that cannot get rid of its answers reads no further commands.
    func flush(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        let handle = unsafe try opened()
        while true {
            let state = unsafe pawl_PQflush(handle)
            if state == 0 { return }
            try check(state == 1)
            try progress([.readable, .writable], until: deadline)
        }
    }

    /// The next result; `nil` at the end of those of one command.
    func result(until deadline: ContinuousClock.Instant) throws(PostgresError) -> ResultMemory? {
        let handle = unsafe try opened()
        while unsafe pawl_PQisBusy(handle) == 1 { try progress(.readable, until: deadline) }
        return unsafe pawl_PQgetResult(handle).map { unsafe ResultMemory(owning: $0) }
    }
}
