import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Postgres

/// Long enough for every call that succeeds.
let patience = Duration.seconds(60)

extension TestDatabase {
    /// A connection to the server.
    func connect(_ conninfo: String? = nil) throws -> PostgresConnection {
        try withExtendedLifetime(self) {
            try PostgresConnection(conninfo ?? self.conninfo, application: "pawl tests", within: patience)
        }
    }
}

@Suite(.enabled(if: PrivatePostgres.isWanted, "\(PrivatePostgres.whySkipped)"), .timeLimit(.minutes(3)))
@OffPool struct ConnectionTests {
    @Test("A connection knows its server and sends its name")
    func connecting() throws {
        let database = try PrivatePostgres.database()
        let connection = try database.connect()
        #expect(connection.serverVersion >= 14_00_00)
        #expect(!connection.isBroken)
        let identity = PostgresStatement(
            "identity",
            "SELECT pg_backend_pid(), current_setting('application_name'), current_setting('client_encoding'), current_database()"
        )
        let row = try #require(try connection.run([PostgresCommand(identity)], within: patience).first?.rows.first)
        #expect(row.integer(0) == Int64(connection.processID))
        #expect(row.text(1) == "pawl tests")
        #expect(row.text(2) == "UTF8")
        #expect(row.text(3) == database.name)
        connection.close()
        #expect(connection.isBroken)
        #expect(throws: PostgresError.unavailable("the connection is closed")) {
            try connection.run([PostgresCommand(identity)], within: patience)
        }
        connection.close()
    }

    @Test("Reports a wrong password without it, and accepts the right one (SCRAM)")
    func passwords() throws {
        let database = try PrivatePostgres.database()
        try database.server.administer("CREATE ROLE \(database.name) LOGIN PASSWORD $$right$$")
        let right = try database.connect(database.conninfo("user=\(database.name) password=right"))
        #expect(!right.isBroken)
        let error = #expect(throws: PostgresError.self) {
            try database.connect(database.conninfo("user=\(database.name) password=WRONG"))
        }
        let message = try #require(error?.unavailable)
        #expect(message.hasSuffix("FATAL: password authentication failed for user \"\(database.name)\""))
        #expect(!message.contains("WRONG"))
        right.close()
        try database.server.administer("DROP ROLE \(database.name)")
    }

    @Test("Reports a refusal, and tries the next host")
    func refusing() throws {
        let database = try PrivatePostgres.database()
        let closed = try ClosedPort()
        let error = #expect(throws: PostgresError.self) { try database.connect(database.conninfo(port: closed.number)) }
        let message = try #require(error?.unavailable)
        #expect(message.contains("port \(closed.number) failed: Connection refused"))
        #expect(!message.contains("\n"))
        let hosts = "host=127.0.0.1,127.0.0.1 port=\(closed.number),\(database.server.port)"
        #expect(!(try database.connect(database.conninfo(hosts)).isBroken))
    }

    @Test("A silent host uses its share of the time, then the next one is tried")
    func swallowingHost() throws {
        let database = try PrivatePostgres.database()
        let relay = try FaultyRelay(to: database.server.port, mode: .swallow)
        let connection = try PostgresConnection(
            database.conninfo("host=127.0.0.1,127.0.0.1 port=\(relay.port),\(database.server.port)"), application: "pawl tests",
            within: .seconds(4))
        #expect(!connection.isBroken)
    }

    @Test(
        "A server that stops responding while connecting uses no more than the limit",
        arguments: ["disable", "require"], [0, 1, 5])
    func swallowingWhileConnecting(tls: String, answered: Int) throws {
        let database = try PrivatePostgres.database()
        let relay = try FaultyRelay(to: database.server.port, mode: .answers(answered))
        let clock = ContinuousClock.now
        #expect(throws: PostgresError.timedOut) {
            try PostgresConnection(
                database.conninfo(port: relay.port, "sslmode=\(tls)"), application: "pawl tests", within: .milliseconds(200))
        }
        #expect(clock.duration(to: .now) >= .milliseconds(200))
    }

    @Test("Skips a read-only server")
    func readOnly() throws {
        let database = try PrivatePostgres.database()
        try database.server.administer("ALTER DATABASE \(database.name) SET default_transaction_read_only = on")
        let error = #expect(throws: PostgresError.self) { try database.connect() }
        let message = try #require(error?.unavailable)
        #expect(message.contains("read-only"))
        #expect(!(try database.connect(database.conninfo + " target_session_attrs=any").isBroken))
    }

    @Test("A lost network uses no more than the limit in every call", arguments: [FaultyRelay.Mode.swallow, .stall])
    func swallowing(mode: FaultyRelay.Mode) throws {
        let database = try PrivatePostgres.database()
        let relay = try FaultyRelay(to: database.server.port)
        let limit = Duration.milliseconds(200)
        let one = PostgresCommand(PostgresStatement("one", "SELECT 1"))
        // More than the sockets buffer.
        let large = PostgresCommand(
            PostgresStatement("large", "SELECT length($1::bytea)"), [.bytes([UInt8](repeating: 1, count: 1 << 20))])
        let calls: [(PostgresConnection) throws -> Void] = [
            { _ = try $0.run([one], within: limit) },
            { _ = try $0.run([PostgresCommand](repeating: large, count: 32), within: limit) },
            { try $0.query(one, within: limit) { _ in } },
            { try $0.query(large, within: limit) { _ in } },
            { try $0.execute("SELECT 1", within: limit) },
        ]
        for call in calls {
            relay.set(.relay)
            let connection = try database.connect(database.conninfo(port: relay.port))
            try connection.run([one], within: patience)
            relay.set(mode)
            let clock = ContinuousClock.now
            #expect(throws: PostgresError.timedOut) { try call(connection) }
            #expect(clock.duration(to: .now) >= limit)
            #expect(connection.isBroken)
        }
    }

    @Test("A lost response leaves the result open; here the change happened")
    func lostAnswer() throws {
        let database = try PrivatePostgres.database()
        let direct = try database.connect()
        try direct.execute("CREATE TABLE numbers (n bigint)", within: patience)
        let relay = try FaultyRelay(to: database.server.port)
        let insert = PostgresCommand(PostgresStatement("insert", "INSERT INTO numbers VALUES ($1)"), [7])
        let connection = try database.connect(database.conninfo(port: relay.port))
        relay.set(.cutAnswers)
        let error = #expect(throws: PostgresError.self) { try connection.run([insert], within: patience) }
        let message = try #require(error?.unavailable)
        #expect(message.hasPrefix("server closed the connection unexpectedly"))
        #expect(!message.contains("\n"))
        #expect(connection.isBroken)
        let count = PostgresCommand(PostgresStatement("count", "SELECT count(*) FROM numbers"))
        #expect(try direct.run([count], within: patience).first?.rows.first?.integer(0) == 1)
    }

    @Test("A server that ends the session breaks the connection")
    func terminated() throws {
        let database = try PrivatePostgres.database()
        let (victim, other) = (try database.connect(), try database.connect())
        let end = PostgresStatement("end", "SELECT pg_terminate_backend($1::int)")
        let wait = PostgresStatement("wait", "SELECT 1")
        try victim.run([PostgresCommand(wait)], within: patience)
        // By the server itself during a pipeline: the error arrives as a result.
        let own = #expect(throws: PostgresError.self) {
            try victim.run([PostgresCommand(end, [.integer(Int64(victim.processID))]), PostgresCommand(wait)], within: patience)
        }
        #expect(own == .unavailable("terminating connection due to administrator command"))
        #expect(victim.isBroken)
        // By another session between two calls.
        let second = try database.connect()
        try other.run([PostgresCommand(end, [.integer(Int64(second.processID))])], within: patience)
        let error = #expect(throws: PostgresError.self) {
            while true { try second.run([PostgresCommand(wait)], within: patience) }
        }
        #expect(error?.unavailable != nil, "\(String(describing: error))")
        #expect(second.isBroken)
        #expect(!other.isBroken)
    }
}
