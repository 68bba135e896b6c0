import HTTPCore
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore

@Suite("Slots in a fleet", .timeLimit(.minutes(3)), .enabled(if: PrivatePostgres.isWanted, "\(PrivatePostgres.whySkipped)"))
@OffPool struct SlotRequestTests {
    /// A new waiting download.
    private func waiting(_ number: Int, host: String = "a.example", priority: Int = 0, arrival: Int? = nil) -> StoreChange {
        var record = sampleRecord(number)
        record.download.url = "https://\(host)/\(number)"
        record.download.priority = priority
        record.download.arrival = arrival.map { sampleRecord($0).id }
        return .add(record)
    }

    private func requestSlots(_ writer: PostgresRecordWriter, _ free: Int, _ hostLimit: Int) throws -> Set<RecordID> {
        Set(try writer.requestSlots(free: free, hostLimit: hostLimit).map(\.id))
    }

    private func ids(_ numbers: Int...) -> Set<RecordID> { Set(numbers.map { sampleRecord($0).id }) }

    @Test("Grants slots by priority, then by arrival")
    func order() throws {
        let scene = try PostgresScene()
        let writer = try PostgresRecordWriter(scene.options())
        try writer.commit(
            [waiting(1), waiting(2), waiting(3, priority: 1), waiting(4, priority: -1), waiting(5, arrival: 0), waiting(6)],
            isRepeated: false)
        for numbers in [3, 5, 1, 2, 6, 4] { #expect(try requestSlots(writer, 1, 99) == ids(numbers)) }
        #expect(try requestSlots(writer, 1, 99).isEmpty)
        #expect(try scene.number("SELECT count(*) FROM pawl.downloads WHERE slot_holder = \(writer.instance.id)") == 6)
        try writer.commit([.fleet(.leaveQueue(sampleRecord(3).id)), .fleet(.enqueue(sampleRecord(3).id))], isRepeated: false)
        #expect(try requestSlots(writer, 2, 99) == ids(3))
        #expect(try requestSlots(writer, 0, 99).isEmpty)
    }

    @Test("A host's limit applies over all replicas, and does not hold up other hosts")
    func hostLimit() throws {
        let scene = try PostgresScene()
        let (first, second) = try (PostgresRecordWriter(scene.options("a")), PostgresRecordWriter(scene.options("b")))
        try first.commit((1...4).map { waiting($0) } + [waiting(5, host: "b.example")], isRepeated: false)
        #expect(try requestSlots(first, 1, 2) == ids(1))
        #expect(try requestSlots(second, 9, 2) == ids(2, 5))
        #expect(try requestSlots(first, 9, 2).isEmpty)
        try second.commit([.fleet(.leaveQueue(sampleRecord(2).id))], isRepeated: false)
        #expect(try requestSlots(first, 9, 2) == ids(3))
        // Downloads of another replica are skipped.
        try second.commit([.fleet(.leaveQueue(sampleRecord(5).id)), .fleet(.enqueue(sampleRecord(5).id))], isRepeated: false)
        #expect(try requestSlots(first, 9, 9) == ids(4))
        #expect(try requestSlots(second, 9, 9) == ids(5))
    }

    @Test("Granting a slot costs the same with any number of waiting downloads, even at a host's limit")
    func manyWaiting() throws {
        let scene = try PostgresScene()
        let writer = try PostgresRecordWriter(scene.options())
        func add(_ hosts: String, _ count: Int, priority: Int) throws {
            try scene.execute(
                """
                INSERT INTO pawl.downloads (id, url, state, bytes_received, file_missing, segments, attempts, priority, speed_limit,
                        created_at, updated_at, revision, entity_known, event_epoch, event_sequence, host, needs_slot)
                    SELECT '\(priority) ' || lpad(n::text, 9, '0'), '', 'queued', 0, 0, 0, 0, \(priority), 0, 0, 0, 0, 0, 0, 0,
                        \(hosts), true
                        FROM generate_series(1, \(count)) AS n
                """)
        }
        // Plans for the empty table are kept, since it has not been analysed since.
        for _ in 0..<10 { try scene.execute("SELECT pawl.claim(7, 4, 4)") }
        try scene.execute("ALTER TABLE pawl.downloads SET (autovacuum_enabled = off)")
        try add("'crowded'", 100_000, priority: 9)
        try add("'h' || n % 50", 5_000, priority: 0)
        /// The pages that it read.
        func pages(free: Int, expecting hosts: [String]) throws -> Int {
            try scene.execute("UPDATE pawl.downloads SET slot_holder = NULL WHERE slot_holder = 7")
            let plan = try scene.texts(
                "EXPLAIN (ANALYZE, BUFFERS, TIMING off, SUMMARY off) SELECT * FROM pawl.claim(7, \(free), 4)"
            ).compactMap(\.self)
            let taken = try scene.texts(
                "SELECT host || ' ' || id FROM pawl.downloads WHERE slot_holder = 7 ORDER BY priority DESC, id")
            #expect(taken.compactMap { $0?.split(separator: " ").first.map(String.init) } == hosts)
            let buffers = try #require(plan.first { $0.contains("Buffers:") })
            let counts = buffers.split(separator: " ").filter { $0.hasPrefix("hit=") || $0.hasPrefix("read=") }
            return counts.compactMap { Int($0.drop { $0 != "=" }.dropFirst()) }.reduce(0, +)
        }
        #expect(try pages(free: 4, expecting: Array(repeating: "crowded", count: 4)) < 5_000)
        // The crowd has all its slots.
        try scene.execute(
            "UPDATE pawl.downloads SET slot_holder = 1 WHERE id IN (SELECT id FROM pawl.downloads WHERE host = 'crowded' ORDER BY id LIMIT 4)"
        )
        #expect(try pages(free: 4, expecting: ["h1", "h2", "h3", "h4"]) < 5_000)
        #expect(try pages(free: 4, expecting: ["h1", "h2", "h3", "h4"]) < 5_000)
        withExtendedLifetime(writer) {}
    }
}
