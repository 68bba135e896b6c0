import Foundation
import TestSupport
import Testing

@testable import Postgres

@Suite(.enabled(if: PrivatePostgres.isWanted, "\(PrivatePostgres.whySkipped)"), .timeLimit(.minutes(3)))
@OffPool struct CommandTests {
    private static func rows(
        _ connection: PostgresConnection, _ sql: String, _ parameters: [PostgresValue] = []
    ) throws -> PostgresRows {
        let command = PostgresCommand(PostgresStatement("test " + sql.prefix(40), sql), parameters)
        return try #require(try connection.run([command], within: patience).first).rows
    }

    @Test("Values survive a round trip")
    func roundTrip() throws {
        let connection = try PrivatePostgres.database().connect()
        try connection.execute(
            "CREATE TABLE cells (s smallint, i integer, b bigint, n numeric, t text, o boolean, d bytea, j json, k jsonb, v varchar(9))",
            within: patience)
        let insert = PostgresStatement(
            "insert", "INSERT INTO cells VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING *")
        let all: [UInt8] = Array(0...255)
        let texts = [
            "", "plain", "naïve 日本語 🎧 e\u{301}", String(repeating: "x", count: 3_000_000), "'; DROP TABLE cells; --\\\n\t",
        ]
        for text in texts {
            for (integers, flag, data) in [
                ((Int16.min, Int32.min, Int64.min), true, []), ((Int16.max, Int32.max, Int64.max), false, all),
                ((0, -1, 1), true, [UInt8](repeating: 0, count: 2_000_000)),
            ] as [((Int16, Int32, Int64), Bool, [UInt8])] {
                let result = try #require(
                    try connection.run(
                        [
                            PostgresCommand(
                                insert,
                                [
                                    .integer(Int64(integers.0)), .integer(Int64(integers.1)), .integer(integers.2),
                                    .integer(integers.2),
                                    .text(text), .boolean(flag), .bytes(data), "[1, 2]", "{\"a\": null}", "nine",
                                ])
                        ], within: patience
                    ).first)
                let row = try #require(result.rows.first)
                #expect(row.integer(0) == Int64(integers.0))
                #expect(row.integer(1) == Int64(integers.1))
                #expect(row.integer(2) == integers.2)
                #expect(row.text(4) == text)
                #expect(row.boolean(5) == flag)
                #expect(row.bytes(6) == data)
                #expect(row.text(7) == "[1, 2]")
                #expect(row.text(8) == "{\"a\": null}")
                #expect(row.text(9) == "nine")
                // Values of other types, and missing ones.
                #expect(row.integer(3) == nil && !row.isNull(3))
                #expect(row.integer(4) == nil && row.text(2) == nil && row.bytes(4) == nil && row.boolean(0) == nil)
                for column in [-1, 10, Int.max, Int.min] { #expect(row.isNull(column) && row.integer(column) == nil) }
            }
        }
        let empty = try #require(
            try connection.run([PostgresCommand(insert, [PostgresValue](repeating: nil, count: 10))], within: patience).first?
                .rows)
        let nulls = try #require(empty.first)
        for column in 0..<10 { #expect(nulls.isNull(column)) }
        #expect(nulls.integer(0) == nil && nulls.text(4) == nil && nulls.boolean(5) == nil && nulls.bytes(6) == nil)
        #expect(empty[1].isNull(0) && empty[-1].isNull(0))
        #expect(try Self.rows(connection, "SELECT sum(n)::text FROM cells WHERE s = 0").first?.text(0) == "\(texts.count)")
    }

    @Test("Refuses values that the protocol lacks before sending")
    func unsendable() throws {
        let connection = try PrivatePostgres.database().connect()
        for parameters: [PostgresValue] in [["a\0b"], [PostgresValue](repeating: 1, count: 65_536)] {
            let error = #expect(throws: PostgresError.self) { try Self.rows(connection, "SELECT $1::text", parameters) }
            #expect(error?.invalid != nil, "\(String(describing: error))")
        }
        #expect(try Self.rows(connection, "SELECT $1::text", ["ab"]).first?.text(0) == "ab")
    }

    @Test("An error in a pipeline rolls back everything, and the connection stays usable")
    func rollback() throws {
        let connection = try PrivatePostgres.database().connect()
        try connection.execute(
            "CREATE TABLE keys (k bigint PRIMARY KEY, later bigint REFERENCES keys DEFERRABLE INITIALLY DEFERRED)",
            within: patience)
        let insert = PostgresStatement("insert", "INSERT INTO keys VALUES ($1, $2)")
        let count = PostgresCommand(PostgresStatement("count", "SELECT count(*) FROM keys"))
        func stored() throws -> Int64? { try connection.run([count], within: patience).first?.rows.first?.integer(0) }

        for _ in 1...2 {
            // The statement is prepared in the first pipeline, which fails, and used in the second.
            let error = #expect(throws: PostgresError.self) {
                try connection.run([1, 2, 1, 3, 3].map { PostgresCommand(insert, [.integer($0), nil]) }, within: patience)
            }
            #expect(
                error == .server(sqlState: "23505", message: "duplicate key value violates unique constraint \"keys_pkey\""))
            #expect(try stored() == 0)
        }
        // Found only at the commit.
        let late = #expect(throws: PostgresError.self) {
            try connection.run([PostgresCommand(insert, [1, 99])], within: patience)
        }
        #expect(late?.sqlState == "23503")
        #expect(try stored() == 0)
        // A statement that cannot be prepared, beside a valid one.
        let wrong = PostgresStatement("wrong", "SELECT nothing FROM nowhere")
        for _ in 1...2 {
            let error = #expect(throws: PostgresError.self) {
                try connection.run([PostgresCommand(insert, [1, nil]), PostgresCommand(wrong)], within: patience)
            }
            #expect(error == .server(sqlState: "42P01", message: "relation \"nowhere\" does not exist"))
            #expect(try stored() == 0)
        }
        try connection.execute("CREATE TABLE nowhere (nothing bigint)", within: patience)
        #expect(try connection.run([PostgresCommand(insert, [1, nil]), PostgresCommand(wrong)], within: patience).count == 2)
        #expect(try stored() == 1)
        // Another statement under a used name.
        let twin = #expect(throws: PostgresError.self) {
            try connection.run([PostgresCommand(PostgresStatement("insert", "SELECT 2"))], within: patience)
        }
        #expect(twin?.sqlState == "42P05")
        #expect(!connection.isBroken)
    }

    @Test("An empty pipeline is no transaction; a statement is prepared once")
    func preparing() throws {
        let connection = try PrivatePostgres.database().connect()
        #expect(try connection.run([], within: patience).isEmpty)
        let next = PostgresStatement("next", "SELECT $1::int + 1")
        let results = try connection.run((0..<100).map { PostgresCommand(next, [.integer($0)]) }, within: patience)
        #expect(results.map { $0.rows.first?.integer(0) } == (1...100).map { Int64($0) })
        let prepared = try Self.rows(connection, "SELECT count(*) FROM pg_prepared_statements WHERE name = 'next'")
        #expect(prepared.first?.integer(0) == 1)
    }

    @Test("Sends 20,000 commands of 1 KiB in one pipeline, with and without TLS", arguments: ["disable", "require"])
    func largePipeline(tls: String) throws {
        let database = try PrivatePostgres.database()
        guard tls == "disable" || database.server.hasTLS else { return }
        let connection = try database.connect(database.conninfo("sslmode=\(tls)"))
        try connection.execute("CREATE TABLE lines (n bigint, line text)", within: patience)
        // Results as large as the commands: without concurrent reading, both sides would wait for each other forever.
        let insert = PostgresStatement("insert", "INSERT INTO lines VALUES ($1, $2) RETURNING n, line")
        let line = String(repeating: "0123456789abcdef", count: 64)
        let results = try connection.run(
            (0..<20_000).map { PostgresCommand(insert, [.integer($0), .text(line)]) }, within: patience)
        #expect(results.count == 20_000)
        #expect(results.last?.rows.first?.integer(0) == 19_999)
        #expect(results.last?.rows.first?.text(1) == line)
        let stored = try Self.rows(connection, "SELECT count(*), sum(length(line)) FROM lines")
        #expect(stored.first?.integer(0) == 20_000)
        #expect(stored.first?.integer(1) == 20_480_000)
    }

    @Test("Passes 100,000 rows one by one, and the connection stays usable")
    func streaming() throws {
        let connection = try PrivatePostgres.database().connect()
        let series = PostgresStatement("series", "SELECT n, 'row ' || n FROM generate_series(1, $1::bigint) n")
        var (count, sum, isInOrder) = (0, Int64(0), true)
        try connection.query(PostgresCommand(series, [100_000]), within: patience) { row in
            count += 1
            let number = row.integer(0) ?? 0
            isInOrder = isInOrder && number == Int64(count) && row.text(1) == "row \(count)"
            sum += number
        }
        #expect(count == 100_000)
        #expect(sum == 5_000_050_000)
        #expect(isInOrder)
        // No rows, then an error after some.
        try connection.query(PostgresCommand(series, [0]), within: patience) { _ in Issue.record("a row") }
        var before = 0
        let division = PostgresStatement("division", "SELECT 1 / (10 - n) FROM generate_series(1, 20) n")
        let error = #expect(throws: PostgresError.self) {
            try connection.query(PostgresCommand(division), within: patience) { _ in before += 1 }
        }
        #expect(error == .server(sqlState: "22012", message: "division by zero"))
        #expect(before == 9)
        #expect(try connection.run([PostgresCommand(series, [2])], within: patience).first?.rows.count == 2)
    }

    @Test("An error thrown at a row is rethrown, and the connection is closed")
    func streamingIsStopped() throws {
        struct Enough: Error {}
        let connection = try PrivatePostgres.database().connect()
        let series = PostgresStatement("series", "SELECT generate_series(1, 1000000)")
        #expect(throws: Enough.self) {
            try connection.query(PostgresCommand(series), within: patience) { _ in throw Enough() }
        }
        #expect(connection.isBroken)
    }

    @Test("A script is one transaction, with commands that pipelines refuse")
    func scripts() throws {
        let connection = try PrivatePostgres.database().connect()
        let error = #expect(throws: PostgresError.self) {
            try connection.execute("CREATE TABLE a (n int); CREATE TABLE a (n int); CREATE TABLE b (n int)", within: patience)
        }
        #expect(error == .server(sqlState: "42P07", message: "relation \"a\" already exists"))
        #expect(try Self.rows(connection, "SELECT to_regclass('a') IS NULL").first?.boolean(0) == true)
        // Notices are discarded.
        try connection.execute("DROP TABLE IF EXISTS a; CREATE TABLE a (n int); SELECT 1; ;", within: patience)
        try connection.execute("", within: patience)
        #expect(try Self.rows(connection, "SELECT to_regclass('a') IS NULL").first?.boolean(0) == false)
        let copy = #expect(throws: PostgresError.self) { try connection.execute("COPY a FROM STDIN", within: patience) }
        #expect(copy == .unavailable("COPY is not supported"))
        #expect(connection.isBroken)
    }
}
