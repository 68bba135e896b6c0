internal import PawlConfiguration
internal import System

/// A PostgreSQL server of the fleet's own, on a port of 127.0.0.1. Its data stays in a directory.
struct DemoDatabase {
    private static let role = "pawl"

    /// Where `initdb` and `postgres` are.
    let programs: String
    /// The directory that holds all of it.
    let directory: String
    /// What its one role has to know: any user of the machine can reach the port.
    let password: String
    let port: Int
    /// What both programs get.
    let environment: [String: String]
    /// PostgreSQL refuses to be root's.
    private let user = UserAccount.isRoot ? UserAccount(named: "postgres") ?? UserAccount(named: "nobody") : nil

    /// As replicas are told of it.
    var url: String { "postgres://\(Self.role):\(password)@127.0.0.1:\(port)/postgres" }

    /// The server.
    var server: ChildProcess.Program {
        var program = program(
            "postgres",
            [
                "-D", "data", "-p", String(port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
                "-c", "lc_messages=C", "-c", "log_min_messages=log",
            ])
        // At once, and without leaving a process of its own behind.
        program.deathSignal = .quit
        return program
    }

    /// Whether it is this line that the server writes when it takes connections.
    static func tellsReadiness(_ line: String) -> Bool {
        line.contains("database system is ready to accept connections")
    }

    /// Makes the database, if there is none yet.
    /// - Throws: one line that says why that is not possible.
    func prepare() async throws(StartError) {
        let existing = try? Directory(opening: directory + "/data")
        guard existing == nil else { return }
        // One that was not finished goes first. The directory gets its name when it is whole.
        let (passwordFile, unfinished) = ("password", "unfinished")
        do {
            try SmallFile.makeDirectory(directory)
            try Directory(opening: directory).setPermissions(0o700)
            try SmallFile.write(Array(password.utf8), to: "\(directory)/\(passwordFile)")
            try user?.own(directory)
            try user?.own("\(directory)/\(passwordFile)")
        } catch {
            throw StartError("cannot prepare \(directory): \(error)")
        }
        try await ProgramRun.finish(
            ChildProcess.Program("/bin/rm", ["-rf", "--", unfinished], environment: environment, directory: directory))
        do throws(StartError) {
            try await ProgramRun.finish(
                program(
                    "initdb",
                    [
                        "-D", unfinished, "-U", Self.role, "-A", "scram-sha-256", "--pwfile", passwordFile, "-E", "UTF8",
                        "--locale=C",
                    ]))
        } catch {
            let reason = user.map { "; it runs as \($0.name), who has to be able to reach \(directory): see --data-dir" } ?? ""
            throw StartError(error.description + reason)
        }
        do throws(SmallFile.Failure) {
            try SmallFile.move("\(directory)/\(unfinished)", to: "\(directory)/data")
        } catch {
            throw StartError("\(error)")
        }
        SmallFile.removeIfPossible("\(directory)/\(passwordFile)")
    }

    private func program(_ name: String, _ arguments: [String]) -> ChildProcess.Program {
        var program = ChildProcess.Program(
            "\(programs)/\(name)", arguments, environment: environment, directory: directory)
        program.user = user
        return program
    }
}
