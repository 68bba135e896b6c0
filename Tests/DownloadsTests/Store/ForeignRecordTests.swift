import Foundation
import HTTPClient
import HTTPCore
import System
import TestSupport
import Testing

@testable import Downloads

/// Records that another program has written to.
@Suite("Records by another hand", .timeLimit(.minutes(3)))
struct ForeignRecordTests {
    /// A data directory with a sound record and one that a statement has changed.
    private func scene(_ statement: String) async throws -> StoreScene {
        let scene = try StoreScene()
        let store = try scene.open()
        try await store.write([.save(fullRecord()), .save(sampleRecord(2, state: .paused)), .beginEpoch(1_763_717_520_001)])
        await store.close()
        try SQLiteConnection(path: scene.path + "/pawl.sqlite").execute(statement)
        return scene
    }

    private func start(_ path: String) async throws -> (DownloadService, [String]) {
        let warnings = Waiter<[String]>([])
        var configuration = DownloadsConfiguration(
            dataDirectory: path, destinationGuard: DestinationGuard(allowsPrivate: true, allowed: []))
        configuration.retention.completed = .seconds(1 << 30)
        // Nothing is transferred.
        configuration.maxConcurrent = 0
        let service = try await DownloadService(
            configuration: configuration, client: try HTTPClient(configuration: ClientConfiguration())
        ) { event in
            if case .warning(let text) = event { warnings.update { $0.append(text) } }
        }
        return (service, warnings.value)
    }

    @Test(
        "an impossible value has its record refused by name, the others load, and check repairs it",
        arguments: [
            ("event_epoch = -1", "event_epoch"), ("event_sequence = -1", "event_sequence"),
            ("bytes_received = 9223372036854775807", "bytes_received"), ("bytes_received = -5", "bytes_received"),
            ("bytes_total = -1", "bytes_total"), ("revision = -1", "revision"), ("attempts = 9223372036854775807", "attempts"),
            ("connections = -9223372036854775808", "connections"),
            ("requested_connections = 9223372036854775807", "requested_connections"),
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
            ("state = 'asleep'", "state"), ("url = 'no url'", "url"),
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
        "rows of the other tables are refused as well",
        arguments: [
            "INSERT INTO event_history (epoch, sequence, removed_id) VALUES (-1, 0, NULL)",
            "INSERT INTO event_history (epoch, sequence, removed_id) VALUES (5, 5, 'nobody')",
            "INSERT INTO idempotency_keys VALUES ('k', x'00', '[[1]]', 5)",
            "INSERT INTO idempotency_keys VALUES ('k', x'00', '{', 9223372036854775807)",
            "INSERT INTO webhook_deliveries VALUES ('x', 'y', 'http://h/', x'7b7d', 9223372036854775807, 0)",
        ])
    func otherTables(_ statement: String) async throws {
        let scene = try await scene(statement)
        let (service, warnings) = try await start(scene.path)
        #expect(warnings.count { $0.contains("refused") } == 1)
        #expect(service.index.page(ListQuery()).total == 2)
        await service.shutdown()
        _ = try DirectoryCheck(path: scene.path).run(repairing: true)
        let (again, after) = try await start(scene.path)
        #expect(!after.contains { $0.contains("refused") })
        await again.shutdown()
    }

    @Test("whatever number stands in whatever column, loading, starting, listing and checking end well")
    func extremes() async throws {
        let numbers: [Int64] = [.min, .min + 1, -1, 0, 1, 1 << 31, 1 << 53, 1 << 60, 1 << 62, .max - 1, .max]
        let texts = ["''", "'x'", "'[]'", "'{}'", "'[[0,1,9223372036854775807]]'", "x'00ff'", "'NaN'", "1e999", "NULL"]
        var random = SystemRandom()
        for column in DownloadRow.columns where column != "id" {
            let values = [numbers.randomElement(using: &random).map(String.init), texts.randomElement(using: &random)].compactMap(
                \.self)
            for value in values {
                // Some columns take no null.
                guard let scene = try? await scene("UPDATE downloads SET \(column) = \(value)") else { continue }
                let (service, _) = try await start(scene.path)
                await service.start()
                for download in service.index.page(ListQuery()).items {
                    _ = try? await service.change(download.id, DownloadChange())
                    _ = try? await service.perform(.pause, on: download.id)
                    _ = try? await service.perform(.cancel, on: download.id)
                    _ = (download.progress, download.etaSeconds, DownloadSnapshot.encode(download))
                }
                await service.shutdown()
                _ = try DirectoryCheck(path: scene.path).run(repairing: true)
            }
        }
    }
}
