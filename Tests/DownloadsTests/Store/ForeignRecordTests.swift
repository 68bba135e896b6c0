import Foundation
import HTTPClient
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import DownloadTransfer
@testable import Downloads

/// Records that another program has written to.
@Suite("Records with foreign values", .timeLimit(.minutes(3)))
struct ForeignRecordTests {
    /// A data directory with a valid record and one that a statement has changed.
    private func scene(_ statement: String) async throws -> StoreScene {
        let scene = try StoreScene()
        let store = try scene.open()
        try await store.write([.save(fullRecord()), .save(sampleRecord(2, state: .paused)), .beginEpoch(1_763_717_520_001)])
        await store.close()
        try SQLiteConnection(path: scene.path + "/pawl.sqlite").execute(statement)
        return scene
    }

    private struct NoReceiver: WebhookSender {
        func send(_ delivery: WebhookDelivery) async throws(ClientError) -> Int { throw .connectionFailed("there is none") }
        func resource(of download: Download) -> [UInt8] { Array("{}".utf8) }
    }

    /// - Parameter awaitsRefusal: whether a row is refused after the start, as messages to webhooks are read then.
    private func start(
        _ path: String, quota: Int64 = 0, awaitsRefusal: Bool = false
    ) async throws -> (DownloadService, [String]) {
        let warnings = Waiter<[String]>([])
        var configuration = DownloadsConfiguration(
            dataDirectory: path, destinationGuard: DestinationGuard(allowsPrivate: true, allowed: []))
        // Nothing is old enough.
        configuration.retention.completed = .seconds(1 << 36)
        configuration.quota = quota
        // Nothing transfers.
        configuration.maxConcurrent = 0
        let service = try await DownloadService(
            configuration: configuration, client: try HTTPClient(configuration: ClientConfiguration()), webhooks: NoReceiver()
        ) { event in
            if case .warning(let text) = event { warnings.update { $0.append(text) } }
        }
        if awaitsRefusal {
            await service.start()
            try await warnings.wait { $0.contains { $0.contains("refused") } }
        }
        return (service, warnings.value)
    }

    @Test(
        "Refuses a record with an impossible value by name, loads the others, and check repairs it",
        arguments: [
            ("event_epoch = -1", "event_epoch"), ("event_sequence = -1", "event_sequence"),
            ("bytes_received = 9223372036854775807", "bytes_received"), ("bytes_received = -5", "bytes_received"),
            ("bytes_total = -1", "bytes_total"), ("revision = -1", "revision"), ("attempts = 9223372036854775807", "attempts"),
            ("segments = -9223372036854775808", "segments"),
            ("requested_segments = 9223372036854775807", "requested_segments"),
            ("transfer_crashes = 9223372036854775807", "transfer_crashes"), ("priority = 9223372036854775807", "priority"),
            ("speed_limit = -1", "speed_limit"), ("created_at = 9223372036854775807", "created_at"),
            ("updated_at = -9223372036854775808", "updated_at"), ("retry_at = 9223372036854775807", "retry_at"),
            ("synced_segments = '[[0,9,9],[5,12,12]]'", "synced_segments"), ("synced_segments = '[[-5,9,9]]'", "synced_segments"),
            ("synced_segments = '[[0,9223372036854775807,9223372036854775807]]'", "synced_segments"),
            ("synced_segments = '[[7,9,3]]'", "synced_segments"),
            ("synced_segments = '[[0,null,1001]]'", "synced_segments"), ("entity_total = -1", "entity_total"),
            ("arrival = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ'", "arrival"),
            ("track = '{\"a\":'", "track"), ("track = '{oops}'", "track"), ("requested_filename = '../x'", "requested_filename"),
            ("event_epoch = 4611686018427387904", "event_epoch"),
            ("headers = '[[\"a\",\"b\\r\\nc: d\"]]'", "headers"),
            ("file_identity = '1:1:9223372036854775807:1'", "file_identity"), ("filename = '../../etc/passwd'", "filename"),
            ("state = 'asleep'", "state"), ("url = 'no url'", "url"), ("bytes_received = (1 << 50) + 1", "bytes_received"),
            // Other types.
            ("speed_limit = '1:1'", "speed_limit"), ("revision = 1.5", "revision"), ("file_missing = x'31'", "file_missing"),
            ("labels = CAST('[\"a\"]' AS BLOB)", "labels"), ("track_name = CAST(x'ff' AS TEXT)", "track_name"),
            ("sha256 = 'text'", "sha256"), ("url = CAST(url AS BLOB)", "url"), ("retry_wait = 'soon'", "retry_wait"),
            ("event_epoch = 'x'", "event_epoch"), ("retry_wait = NULL", "retry_wait"),
            // An ended download has an end.
            ("state = 'failed', ended_at = NULL", "ended_at"),
            // A finished file has a name.
            ("state = 'completed', filename = NULL", "filename"),
        ])
    func refusal(_ change: String, _ column: String) async throws {
        let id = fullRecord().id
        let scene = try await scene("UPDATE downloads SET \(change) WHERE id = '\(id)'")
        for _ in 0..<2 {
            let (service, warnings) = try await start(scene.path)
            #expect(warnings.count { $0.contains("\(id)") && $0.contains(column) } == 1)
            #expect(service.index.page(ListQuery()).items.map(\.id) == [sampleRecord(2).id])
            await service.shutdown()
        }
        // The row is as it was.
        let report = try DirectoryCheck(path: scene.path).run(repairing: false)
        #expect(report.faults.contains { $0.kind == .refusedRecord && $0.id == id && $0.detail.contains(column) })
        let repaired = try DirectoryCheck(path: scene.path).run(repairing: true)
        #expect(repaired.repaired >= 1)
        #expect(try DirectoryCheck(path: scene.path).run(repairing: false).faults.isEmpty)
        let (service, warnings) = try await start(scene.path)
        #expect(warnings.isEmpty)
        #expect(service.index.page(ListQuery()).total == (column == "url" ? 1 : 2))
        await service.shutdown()
        #expect(FileManager.default.fileExists(atPath: scene.path + "/pawl.sqlite.before-repair"))
    }

    @Test(
        "Refuses rows of the other tables as well",
        arguments: [
            "INSERT INTO event_history (epoch, sequence, removed_id) VALUES (-1, 0, NULL)",
            "INSERT INTO event_history (epoch, sequence, removed_id) VALUES (5, 5, 'nobody')",
            "INSERT INTO idempotency_keys VALUES ('k', x'00', '[[1]]', 5)",
            "INSERT INTO idempotency_keys VALUES ('k', x'00', '{', 9223372036854775807)",
            "INSERT INTO webhook_deliveries VALUES ('x', 'y', 'http://h/', x'7b7d', 9223372036854775807, 0)",
        ])
    func otherTables(_ statement: String) async throws {
        let scene = try await scene(statement)
        let (service, warnings) = try await start(scene.path, awaitsRefusal: statement.contains("webhook_deliveries"))
        #expect(warnings.count { $0.contains("refused") } == 1)
        #expect(service.index.page(ListQuery()).total == 2)
        await service.shutdown()
        _ = try DirectoryCheck(path: scene.path).run(repairing: true)
        let (again, after) = try await start(scene.path)
        #expect(!after.contains { $0.contains("refused") })
        await again.shutdown()
    }

    @Test(
        "Refuses a row whose key is no text or no identity by name, and check removes it",
        arguments: [
            ("downloads", "id", "x'0001'", "x'0001'"), ("downloads", "id", "'a' || char(10)", "x'610a'"),
            ("downloads", "id", "CAST(x'fffe' AS TEXT)", "x'fffe'"), ("downloads", "id", "'7ZZZZZZZZZZZZZZZZZZZZZZZZZ'", "7ZZZ"),
            ("webhook_deliveries", "id", "x'0001'", "x'0001'"),
            ("webhook_deliveries", "id", "CAST(x'ff' AS TEXT)", "x'ff'"),
            ("webhook_deliveries", "id", "replace(hex(zeroblob(9999)), '0', 'k')", "'kkkk"),
            ("idempotency_keys", "key", "x'0001'", "x'0001'"), ("idempotency_keys", "key", "CAST(x'ff' AS TEXT)", "x'ff'"),
            ("idempotency_keys", "request_digest", "'text'", "'key0"), ("event_history", "removed_id", "x'00'", "number '3'"),
        ])
    func oddKey(_ table: String, _ column: String, _ value: String, _ name: String) async throws {
        let scene = try await scene("SELECT 1")
        let path = scene.path + "/pawl.sqlite"
        try Self.addRows(path)
        try Self.copyRow(path, table, column, value)
        let (service, warnings) = try await start(scene.path, awaitsRefusal: table == "webhook_deliveries")
        #expect(warnings.filter { $0.contains("refused") }.map { $0.contains(name) && $0.utf8.count < 300 } == [true])
        await service.shutdown()
        let rows = try SQLiteConnection(path: path).number("SELECT count(*) FROM \(table)")
        let report = try DirectoryCheck(path: scene.path).run(repairing: true)
        #expect(report.repaired == report.faults.count && report.faults.contains { $0.detail.contains(name) })
        #expect(try SQLiteConnection(path: path).number("SELECT count(*) FROM \(table)") == rows - 1)
        #expect(try DirectoryCheck(path: scene.path).run(repairing: true).faults.isEmpty)
    }

    @Test("Refuses a record with an identity in a blob, and repairs it as text unless another record has it")
    func blobIdentity() async throws {
        let scene = try await scene("UPDATE downloads SET id = CAST(id AS BLOB), labels = '[\"blob\"]'")
        let store = try scene.open()
        try await store.write([.save(sampleRecord(2, state: .paused))])
        await store.close()
        let (service, warnings) = try await start(scene.path)
        #expect(warnings.count { $0.contains("x'") && $0.contains("download's id") } == 2)
        #expect(service.index.page(ListQuery()).items.map(\.id) == [sampleRecord(2).id])
        await service.shutdown()
        let report = try DirectoryCheck(path: scene.path).run(repairing: true)
        #expect(report.repaired == report.faults.count && report.faults.count { $0.kind == .refusedRecord } == 2)
        let (again, after) = try await start(scene.path)
        #expect(after.isEmpty)
        #expect(again.index.download(fullRecord().id)?.labels == ["blob"])
        #expect(again.index.download(sampleRecord(2).id)?.labels == [])
        await again.shutdown()
    }

    @Test("A repair keeps the copy of an earlier one, and names its own")
    func backups() async throws {
        let scene = try await scene("UPDATE downloads SET attempts = -1")
        let path = scene.path + "/pawl.sqlite"
        #expect(try DirectoryCheck(path: scene.path).run(repairing: true).backup == "pawl.sqlite.before-repair")
        try SQLiteConnection(path: path).execute("UPDATE downloads SET attempts = -2")
        #expect(try DirectoryCheck(path: scene.path).run(repairing: false).backup == nil)
        #expect(try DirectoryCheck(path: scene.path).run(repairing: true).backup == "pawl.sqlite.before-repair.2")
        for (name, attempts) in [("", -1), (".2", -2)] as [(String, Int64)] {
            let copy = try SQLiteConnection(path: path + ".before-repair" + name)
            #expect(try copy.number("SELECT max(attempts) FROM downloads") == attempts)
        }
    }

    @Test("Names the first of many refused rows, and counts the others")
    func manyRefused() async throws {
        let scene = try await scene("SELECT 1")
        let path = scene.path + "/pawl.sqlite"
        try Self.addRows(path)
        try SQLiteConnection(path: path).execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
            INSERT INTO idempotency_keys SELECT 'bad' || i, x'00', 'no outcomes', 1 FROM n
            """)
        let (service, warnings) = try await start(scene.path)
        #expect(warnings.count { $0.contains("'bad") } == 20)
        #expect(warnings.count { $0.hasPrefix("480 more rows of idempotency_keys") } == 1)
        await service.shutdown()
    }

    @Test("Counts bytes whose sum exceeds 64 bits, with a quota and without", arguments: [0, 5 << 30] as [Int64])
    func hugeSums(quota: Int64) async throws {
        let scene = try await scene(
            "UPDATE downloads SET bytes_received = 1 << 50, state = 'completed', ended_at = 5, filename = 'a', file_missing = 0")
        let columns = DownloadRow.columns.map { $0 == "id" ? "substr(id, 1, 20) || printf('%06d', i + 1000)" : $0 }
        try SQLiteConnection(path: scene.path + "/pawl.sqlite").execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8200)
            INSERT INTO downloads (\(DownloadRow.columns.joined(separator: ", ")))
            SELECT \(columns.joined(separator: ", ")) FROM n, (SELECT * FROM downloads ORDER BY id LIMIT 1)
            """)
        let (service, warnings) = try await start(scene.path, quota: quota)
        #expect(!warnings.contains { $0.contains("refused") })
        #expect(service.index.keptBytes(except: []) == 8202 << 50)
        let ledger = service.quota
        #expect(ledger.isFull == (quota > 0))
        await service.shutdown()
    }

    // MARK: - Random values

    /// Values of all types, as SQL.
    private static let values: [String] = {
        let numbers: [Int64] = [.min, .min + 1, -1, 0, 1, 16, 1 << 31, 1 << 50, 1 << 53, 1 << 60, 1 << 62, .max - 1, .max]
        let texts = [
            "", "x", "[]", "{}", "null", "[[0,1,9223372036854775807]]", "[[0,null,5]]", "[\"a\"]", "NaN", "1:1",
            "1:1:1125899906842624:1", "http://127.0.0.1:9/", "a.", "[[\"a\",\"b\"]]", "completed", "queued", "retrying", "paused",
            "io-error", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01AN4Z07BY79KA1307SR9X4MV3",
        ]
        let others = [
            "'a' || char(10)", "'a' || char(0) || 'b'", "x''", "x'00ff'", "x'3a'", "CAST(x'ff' AS TEXT)", "CAST('1' AS BLOB)",
            "1e999",
            "1.5", "NULL",
        ]
        return numbers.map { "\($0)" } + texts.map { "'\($0)'" } + others
    }()

    @Test(
        "Loaded records can be changed, saved and loaded again, and two repairs leave no fault",
        arguments: [0, 5 << 30] as [Int64])
    func anything(quota: Int64) async throws {
        var random = SystemRandom()
        let scene = try StoreScene()
        let store = try scene.open()
        var record = fullRecord()
        record.webhook = "http://127.0.0.1:9/"
        try await store.write([.save(record), .save(sampleRecord(2, state: .paused)), .beginEpoch(1_763_717_520_001)])
        await store.close()
        let path = scene.path + "/pawl.sqlite"
        try Self.addRows(path)
        for table in ["downloads", "event_history", "idempotency_keys", "webhook_deliveries", "settings"] {
            let columns = try SQLiteConnection(path: path).prepare("SELECT name FROM pragma_table_info('\(table)')")
            while try columns.step() {
                guard let column = columns.text(0) else { continue }
                for value in Self.values.shuffled(using: &random).prefix(6) {
                    // Later than the valid rows, and later than the copies before it.
                    let key = RecordID(value: sampleRecord(100).id.value + UInt128(random.next() >> 1))
                    // The number of an event is unique in any case.
                    try? Self.copyRow(path, table, column, value, key: "'\(key)'")
                }
            }
        }
        let states = DownloadState.allCases.map { "'\($0.rawValue)'" }
        for (number, state) in states.enumerated() {
            // An unreadable row stays unreadable.
            try SQLiteConnection(path: path).execute(
                "UPDATE downloads SET state = \(state) WHERE typeof(state) = 'text' AND abs(random()) % \(states.count) = \(number)"
            )
        }
        func contents() async throws -> (ids: Set<RecordID>, refused: Set<String>) {
            let store = try scene.open()
            let contents = try store.load()
            await store.close()
            return (Set(contents.records.map(\.id)), Set(contents.refused.map(\.reason)))
        }
        let before = try await contents()
        for _ in 0..<2 {
            let (service, _) = try await start(scene.path, quota: quota)
            await service.start()
            await withTaskGroup { group in
                for id in before.ids {
                    let commands = [DownloadCommand.pause, .resume, .retry, .cancel].shuffled(using: &random).prefix(3)
                    group.addTask {
                        var change = DownloadChange()
                        change.labels = ["changed"]
                        _ = try? await service.change(id, change)
                        for command in commands { _ = try? await service.perform(command, on: id) }
                        guard let download = service.index.download(id) else { return }
                        _ = (download.progress, download.etaSeconds, DownloadSnapshot.encode(download))
                    }
                }
            }
            _ = (service.index.statistics(), service.index.page(ListQuery()))
            await service.shutdown()
            let after = try await contents()
            #expect(before.ids.subtracting(after.ids) == [])
            #expect(after.refused.subtracting(before.refused) == [])
        }
        for isSecond in [false, true] {
            let report = try DirectoryCheck(path: scene.path).run(repairing: true)
            #expect(report.faults.count == report.repaired)
            if isSecond { #expect(report.faults == []) }
        }
        let (service, warnings) = try await start(scene.path, quota: quota)
        #expect(!warnings.contains { $0.contains("refused") })
        await service.shutdown()
    }

    /// Adds a valid row to each of the other tables.
    private static func addRows(_ path: String) throws {
        let delivery = WebhookDelivery(
            id: sampleRecord(9).id, url: "http://127.0.0.1:9/", subject: sampleRecord(2).id, body: Array("{}".utf8), due: .now())
        try SQLiteStatements(SQLiteConnection(path: path)).commit([
            .keepDelivery(delivery), .remember(IdempotencyRecord(key: "key", digest: [1], outcomes: [], createdAt: .now())),
            .remove(sampleRecord(8).id, changeID: EventID(epoch: 1_763_717_520_001, sequence: 1)),
            .set(name: "name", value: "value"),
        ])
    }

    /// Copies the last row of a table with another value in a column; has no effect if the column refuses it.
    private static func copyRow(_ path: String, _ table: String, _ column: String, _ value: String, key: String? = nil) throws {
        let connection = try SQLiteConnection(path: path)
        let rows = try connection.prepare("SELECT name, pk FROM pragma_table_info('\(table)')")
        var names: [String] = []
        var values: [String] = []
        while try rows.step() {
            guard let name = rows.text(0) else { continue }
            names.append(name)
            let isKey = rows.integer(1) == 1
            let fresh = table == "event_history" ? "max(number) + 1" : key ?? "substr(\(name), 1, 20) || '00000A'"
            values.append(name == column ? value : isKey ? fresh : name)
        }
        try connection.execute(
            """
            INSERT OR IGNORE INTO \(table) (\(names.joined(separator: ", ")))
            SELECT \(values.joined(separator: ", ")) FROM \(table) ORDER BY 1 DESC LIMIT 1
            """)
    }
}
