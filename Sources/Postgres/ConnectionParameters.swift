internal import HTTPCore
internal import CPostgres

/// The parameters of a connection for libpq: a connection string's, and defaults for the others.
///
/// <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS>
struct ConnectionParameters: Equatable {
    /// The values by keyword. An empty value counts as absent.
    var values: [String: String]

    /// Parameters that the connection string can override. Keepalives detect a dead peer of an idle connection within
    /// half a minute. `tcp_user_timeout` detects a peer that acknowledges nothing within 10 s. Neither detects a proxy
    /// that discards data, so all calls have limits as well.
    static let defaults = [
        "target_session_attrs": "read-write",
        "keepalives": "1",
        "keepalives_idle": "15",
        "keepalives_interval": "5",
        "keepalives_count": "3",
        "tcp_user_timeout": "10000",
    ]

    /// Parses a connection string, a `postgres://` URI or `keyword=value …`.
    /// - Parameter application: The name in `pg_stat_activity`, unless the string or the environment sets one.
    /// - Throws: `PostgresError.invalid`.
    init(_ conninfo: String, application: String) throws(PostgresError) {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = unsafe pawl_PQconninfoParse(conninfo, &message) else {
            let text = unsafe message.map { unsafe String(cString: $0) } ?? "out of memory"
            unsafe pawl_PQfreemem(message)
            throw .invalid("the connection string cannot be read: " + Self.withoutQuotations(text, of: conninfo))
        }
        var given: [String: String] = [:]
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val, unsafe value.pointee != 0 {
                unsafe given[String(cString: keyword)] = unsafe String(cString: value)
            }
            unsafe option += 1
        }
        unsafe pawl_PQconninfoFree(options)
        try self.init(given: given, application: application)
    }

    /// Adds the defaults to the given values.
    init(given: [String: String], application: String) throws(PostgresError) {
        // An unescaped "@", ":" or "/" in the password of a URI would make the rest of the password a host or a port,
        // and libpq's messages would contain it. A host that begins with "@" is an abstract socket.
        for host in Self.list(given["host"]) where host.dropFirst().contains("@") { throw .invalid(Self.unescaped) }
        for port in Self.list(given["port"]) where !port.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x20 }) {
            throw .invalid(Self.unescaped)
        }
        values = Self.defaults.merging(given) { $1 }
        if values["fallback_application_name"] == nil { values["fallback_application_name"] = application }
        // All texts in this program are UTF-8.
        values["client_encoding"] = "UTF8"
    }

    private static let unescaped =
        "the connection string has an invalid host or port: in a URI, write @, : and / of a password as %40, %3A and %2F"

    /// A message of libpq without quotations, which may be part of the password. Only a quotation that follows the user
    /// and password of a URI is kept.
    private static func withoutQuotations(_ message: String, of conninfo: String) -> String {
        let line = PostgresError.oneLine(message)
        guard let first = line.firstIndex(of: "\""), let last = line.lastIndex(of: "\""), first < last else { return line }
        let quoted = line[line.index(after: first)..<last]
        if let sign = conninfo.lastIndex(of: "@"), conninfo.hasPrefix("postgres://") || conninfo.hasPrefix("postgresql://") {
            let tail = conninfo[conninfo.index(after: sign)...].split(whereSeparator: { !$0.isLetter && $0 != "_" })
            let mentionsPassword = tail.contains { $0.contains("pass") }
            if !mentionsPassword, tail.contains(quoted) { return line }
        }
        return line[..<first] + "\"…\"" + line[line.index(after: last)...]
    }

    private static func list(_ value: String?) -> [String] {
        (value ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    }

    /// The connections to try, each with the parameters of ``securing(environment:isFile:)``.
    /// - Parameters:
    ///   - environment: Returns a variable of the process's environment.
    ///   - isFile: Whether a path leads to a file.
    func attempts(environment: (String) -> String?, isFile: (String) -> Bool) -> [ConnectionParameters] {
        attempts(environment: environment).map { $0.securing(environment: environment, isFile: isFile) }
    }

    /// Adds the check of the certificate of a server on another machine, unless the string, a service file or the
    /// environment sets it. Without the check, libpq sends the password in clear to any machine that responds.
    private func securing(environment: (String) -> String?, isFile: (String) -> Bool) -> ConnectionParameters {
        let isChosen = values["sslmode"] != nil || environment("PGSSLMODE") != nil
        let isElsewhere = values["service"] != nil || environment("PGSERVICE") != nil
        guard !isChosen, !isElsewhere, leavesMachine(environment: environment) else { return self }
        var secured = self
        secured.values["sslmode"] = "verify-full"
        if values["sslrootcert"] == nil, environment("PGSSLROOTCERT") == nil,
            let bundle = Self.certificateBundles.first(where: isFile)
        {
            secured.values["sslrootcert"] = bundle
        }
        return secured
    }

    /// The certificates that the system trusts. By default libpq reads a file in the user's home directory.
    private static let certificateBundles = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]

    /// Whether the server may be on another machine.
    private func leavesMachine(environment: (String) -> String?) -> Bool {
        let hosts = Self.list(values["host"] ?? environment("PGHOST"))
        let addresses = Self.list(values["hostaddr"] ?? environment("PGHOSTADDR"))
        return (hosts + addresses).contains { host in
            // Without a host, with a path or with an abstract name, libpq connects to a Unix socket.
            let isLoopback =
                host == "localhost" || host == "::1"
                || host.hasPrefix("127.") && host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
            return !host.isEmpty && !host.hasPrefix("/") && !host.hasPrefix("@") && !isLoopback
        }
    }

    /// The reason why the connection to another machine is not safe, as a sentence; `nil` if it is safe, or stays on
    /// this machine.
    /// - Parameter environment: Returns a variable of the process's environment.
    func exposure(environment: (String) -> String?) -> String? {
        guard leavesMachine(environment: environment), let mode = values["sslmode"] ?? environment("PGSSLMODE"),
            mode != "verify-full"
        else { return nil }
        return "sslmode=\(mode) lets another machine impersonate the database at \(hostName); verify-full checks its certificate"
    }

    /// The parameters for each host, in order. libpq accepts a list as well, but may wait for an unresponsive host
    /// until the whole time is over: its `connect_timeout` only applies to its blocking calls.
    ///
    /// Some lists are left to libpq: those whose order it changes, inconsistent ones, for which it has messages, and
    /// lists of a service file or the environment.
    /// - Parameter environment: Returns a variable of the process's environment.
    func attempts(environment: (String) -> String?) -> [ConnectionParameters] {
        let hosts = Self.list(values["host"])
        let addresses = Self.list(values["hostaddr"])
        let ports = Self.list(values["port"])
        let count = max(hosts.count, addresses.count)
        let namesPorts = values["port"] != nil
        func fits(_ keyword: String, _ list: [String]) -> Bool {
            values[keyword] == nil || list.count == count && !list.contains("")
        }
        guard count > 1, fits("host", hosts), fits("hostaddr", addresses),
            !namesPorts || ports.count == count || ports.count == 1,
            namesPorts || values["service"] == nil && environment("PGSERVICE") == nil && environment("PGPORT") == nil,
            values["target_session_attrs"] != "prefer-standby", values["load_balance_hosts"] ?? "disable" == "disable"
        else { return [self] }
        return (0..<count).map { index in
            var one = self
            if values["host"] != nil { one.values["host"] = hosts[index] }
            if values["hostaddr"] != nil { one.values["hostaddr"] = addresses[index] }
            if namesPorts {
                let port = ports[ports.count == 1 ? 0 : index]
                // In a list, an empty port means the default; alone it would mean the environment's.
                one.values["port"] = port.isEmpty ? "5432" : port
            }
            return one
        }
    }

    /// The address of the server in messages.
    var hostName: String { values["host"] ?? values["hostaddr"] ?? "the server" }
}
