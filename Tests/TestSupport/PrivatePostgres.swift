import Foundation
import Synchronization

/// A PostgreSQL server for all tests of the process, started at the first request for a database. It listens on a Unix
/// socket in its own directory and on a port of 127.0.0.1, and does not sync its disk.
///
/// A shell waits at a pipe for the end of the process; then it stops the server and removes the directory.
public final class PrivatePostgres: Sendable {
    /// The directory of its socket: `host` in a connection string.
    public let socketDirectory: String
    /// Its port on 127.0.0.1, which is also a part of the socket's name.
    public let port: Int
    /// Whether it accepts TLS on its port, with its own untrusted certificate.
    public let hasTLS: Bool
    private let programs: Programs
    private let directory: TemporaryDirectory
    /// The pipe whose end signals the end of the process.
    private let alive: Pipe
    private let databases = Mutex(0)

    /// The superuser, without a password. All other users need theirs (SCRAM).
    public static let user = "postgres"

    /// Whether tests with a database run: only with `PAWL_FLEET_TESTS`, as in `Tests/Fleet/run`. They wait for leases
    /// and load the machine, which would affect concurrent tests.
    public static let isWanted = ProcessInfo.processInfo.environment["PAWL_FLEET_TESTS"] != nil

    /// The comment on skipped tests.
    public static let whySkipped: String = "PAWL_FLEET_TESTS is not set: Tests/Fleet/run runs them"

    private static let shared = Result {
        for _ in 1..<5 {
            // Another process may take the port between its choice and its use.
            do { return try PrivatePostgres() } catch let failure as Failed where failure.description.contains("in use") {}
        }
        return try PrivatePostgres()
    }

    /// The server.
    /// - Throws: ``Failed`` if there is none.
    public static func server() throws -> PrivatePostgres { try shared.get() }

    /// Creates a new, empty database. Blocks for a moment.
    public static func database() throws -> TestDatabase { try TestDatabase(server()) }

    /// PostgreSQL is missing or does not start.
    public struct Failed: Error, CustomStringConvertible {
        /// The output of the programs.
        public let description: String
    }

    /// The paths of PostgreSQL's programs, and their start.
    private struct Programs {
        let folder: String
        /// The user of the programs, if this process is root's: they refuse to run as root.
        let user: String?
        let hasKeeper: Bool

        static let installed: Programs? = {
            let files = FileManager.default
            let versions = ((try? files.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? [])
                .sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }
            let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
            let folders = path + versions.map { "/usr/lib/postgresql/\($0)/bin" }
            func has(_ program: String, in folder: String) -> Bool { files.isExecutableFile(atPath: "\(folder)/\(program)") }
            guard
                let folder = folders.first(where: { folder in
                    ["initdb", "postgres", "psql"].allSatisfy { has($0, in: folder) }
                })
            else { return nil }
            let hasKeeper = path.contains { has("setpriv", in: $0) }
            guard geteuid() == 0 else { return Programs(folder: folder, user: nil, hasKeeper: hasKeeper) }
            let user = unsafe getpwnam("postgres") != nil ? "postgres" : "nobody"
            return hasKeeper ? Programs(folder: folder, user: user, hasKeeper: true) : nil
        }()

        /// The prefix of a shell command, which makes it run as the user and end with its parent.
        var launcher: String {
            guard hasKeeper else { return "" }
            let user = user.map { "--reuid=\($0) --regid=$(id -g \($0)) --clear-groups " } ?? ""
            return "setpriv \(user)--pdeathsig QUIT "
        }
    }

    private init() throws {
        guard let programs = Programs.installed else { throw Failed(description: "PostgreSQL's server is not installed") }
        self.programs = programs
        directory = try TemporaryDirectory()
        socketDirectory = directory.path
        hasTLS = try Self.prepare(programs, directory.path)
        port = try ClosedPort().number
        alive = try Self.start(programs, directory.path, port: port, hasTLS: hasTLS)
    }

    /// Creates the files; returns whether there is a certificate.
    private static func prepare(_ programs: Programs, _ directory: String) throws -> Bool {
        let owner = programs.user.map { "chown \($0) '\(directory)'" } ?? "true"
        let result = try shell(
            """
            set -e
            \(owner)
            cd '\(directory)'
            \(programs.launcher) sh -c '
                set -e
                umask 077
                "\(programs.folder)/initdb" -D data -U \(user) -A trust -E UTF8 --locale=C --no-sync >/dev/null
                printf "%s\\n" "local all \(user) trust" "host all \(user) 127.0.0.1/32 trust" \
                    "local all all scram-sha-256" "host all all 127.0.0.1/32 scram-sha-256" >data/pg_hba.conf
                openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout data/server.key \
                    -out data/server.crt 2>/dev/null && echo certified || true
            '
            """)
        return result.contains("certified")
    }

    /// Starts the server, and returns when it is ready.
    /// - Returns: An object that must live as long as the server.
    private static func start(_ programs: Programs, _ directory: String, port: Int, hasTLS: Bool) throws -> Pipe {
        // A Ctrl-C for the tests must not end the shell before its clean-up. Only the server has the output, so that
        // its end is the server's. No input arrives at the shell: `read` waits for the end of the process.
        let process = TestProcess()
        // In its own session if possible, so that ending all processes of a test run does not end the shell.
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments =
            (programs.hasKeeper ? ["setsid"] : []) + [
                "/bin/sh", "-c",
                """
                trap '' INT TERM HUP
                cd '\(directory)'
                \(programs.launcher) '\(programs.folder)/postgres' -D data -p \(port) -c listen_addresses=127.0.0.1 \
                    -c unix_socket_directories='\(directory)' -c fsync=off -c max_connections=600 -c shared_buffers=32MB \
                    -c max_wal_size=256MB -c lc_messages=C -c log_min_messages=log -c log_min_error_statement=panic \
                    -c ssl=\(hasTLS ? "on" : "off") </dev/null &
                server=$!
                exec >/dev/null 2>&1
                read -r _
                kill -QUIT "$server"
                cd /
                # Not `wait`: SIGCHLD may be blocked here, as it was in the thread that started this.
                for try in 1 2 3 4 5 6 7 8 9; do rm -rf '\(directory)' && break; sleep 0.2; done
                """,
            ]
        let alive = Pipe()
        // Other child processes of the tests must not keep it open.
        _ = fcntl(alive.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        let log = Pipe()
        process.standardInput = alive
        process.standardOutput = log
        process.standardError = log
        try process.run()
        var output = Data()
        let handle = log.fileHandleForReading
        while !String(decoding: output, as: UTF8.self).contains("ready to accept connections") {
            let more = handle.availableData
            guard !more.isEmpty else { throw Failed(description: String(decoding: output, as: UTF8.self)) }
            output += more
        }
        // A server that cannot write its log stops.
        Thread.detachNewThread { while !handle.availableData.isEmpty {} }
        return alive
    }

    /// Runs a script, and returns its output.
    @discardableResult
    private static func shell(_ script: String) throws -> String {
        let process = TestProcess()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script]
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(description: text) }
        return text
    }

    /// Runs SQL as the superuser in the database `postgres`.
    public func administer(_ sql: String) throws {
        try psql("-d postgres -c '\(sql)'")
    }

    /// Runs psql as the superuser.
    func psql(_ arguments: String) throws {
        try Self.shell(
            "'\(programs.folder)/psql' -X -q -v ON_ERROR_STOP=1 -h '\(socketDirectory)' -p \(port) -U \(Self.user) \(arguments)")
    }

    /// A name that no database and no user of the server has.
    func unusedName() -> String {
        databases.withLock { count in
            count += 1
            return "test_\(count)"
        }
    }
}
