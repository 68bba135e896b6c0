import Foundation
import Glibc
import Postgres
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore

/// Replicas that reach their database through PgBouncer.
@Suite(
    "Poolers", .timeLimit(.minutes(5)), .enabled(if: PrivatePostgres.isWanted, "\(PrivatePostgres.whySkipped)"))
@OffPool
struct PoolerTests {
    /// PgBouncer for a database, for the lifetime of the value.
    private final class Pooler {
        let port: Int
        private let process = TestProcess()
        private let directory: TemporaryDirectory

        init(_ database: TestDatabase, _ settings: [String]) throws {
            directory = try TemporaryDirectory()
            port = try ClosedPort().number
            let server = database.server
            let lines =
                [
                    "[databases]",
                    "\(database.name) = host=127.0.0.1 port=\(server.port) user=\(PrivatePostgres.user) dbname=\(database.name)",
                    "[pgbouncer]", "listen_addr = 127.0.0.1", "listen_port = \(port)", "auth_type = any", "unix_socket_dir =",
                    "ignore_startup_parameters = extra_float_digits,options", "logfile =",
                ] + settings
            let path = directory.path + "/pgbouncer.ini"
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
            // It refuses to run as root.
            unsafe chmod(directory.path, 0o755)
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments =
                (geteuid() == 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []) + [
                    "pgbouncer", "-q", path,
                ]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
        }

        deinit {
            process.signal(SIGKILL)
            process.waitUntilExit()
        }

        /// Waits until it responds.
        func database(_ database: TestDatabase) throws -> String {
            let conninfo = database.conninfo(port: port)
            while true {
                guard let connection = try? PostgresConnection(conninfo, application: "test", within: .seconds(5)) else {
                    continue
                }
                connection.close()
                return conninfo
            }
        }
    }

    @Test(
        "Refuses a pooler in transaction mode, with any number and order of sessions",
        arguments: [1, 2, 20], [0, 1])
    func transactionMode(poolSize: Int, roundRobin: Int) throws {
        let database = try PrivatePostgres.database()
        let pooler = try Pooler(
            database, ["pool_mode = transaction", "default_pool_size = \(poolSize)", "server_round_robin = \(roundRobin)"])
        let conninfo = try pooler.database(database)
        // With any sessions that others have left there.
        for left in 0..<3 {
            let connections = try (0..<min(left, poolSize)).map { _ in
                let connection = try PostgresConnection(conninfo, application: "test", within: .seconds(5))
                try connection.execute("BEGIN", within: .seconds(5))
                return connection
            }
            for connection in connections {
                try connection.execute("COMMIT", within: .seconds(5))
                connection.close()
            }
            let error = #expect(throws: StoreError.self) { try PostgresRecordWriter(options(conninfo)) }
            #expect(
                error?.description.contains("a pooler gives each transaction another session") == true,
                "\(String(describing: error))")
        }
    }

    @Test("Refuses a pooler in statement mode, and accepts one in session mode")
    func otherModes() throws {
        let database = try PrivatePostgres.database()
        let statements = try Pooler(database, ["pool_mode = statement"])
        #expect(throws: StoreError.self) { try PostgresRecordWriter(options(try statements.database(database))) }
        let sessions = try Pooler(database, ["pool_mode = session"])
        let conninfo = try sessions.database(database)
        let writers = try (0..<2).map { _ in try PostgresRecordWriter(options(conninfo)) }
        for writer in writers { writer.close() }
    }

    private func options(_ conninfo: String) -> PostgresRecordWriter.Options {
        PostgresRecordWriter.Options(database: conninfo, node: UUID().uuidString)
    }
}
