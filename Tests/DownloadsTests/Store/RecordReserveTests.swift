import Glibc
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore

@Suite("The space reserved for records", .timeLimit(.minutes(3)))
struct RecordReserveTests {
    struct Case {
        /// KiB.
        let capacity: Int64, size: Int64
        let pages: Int64
    }

    @Test(
        "A small disk reserves less, and moves the log sooner",
        arguments: [
            Case(capacity: 0, size: 4_096, pages: 768), Case(capacity: 1 << 40, size: 4_096, pages: 768),
            Case(capacity: 131_072, size: 4_096, pages: 768), Case(capacity: 65_536, size: 2_048, pages: 384),
            Case(capacity: 16_384, size: 512, pages: 96), Case(capacity: 1_024, size: 64, pages: 12),
        ])
    func smallDiskReservesLess(_ example: Case) {
        #expect(RecordReserve.size(capacity: example.capacity << 10) == example.size << 10)
        #expect(RecordReserve.checkpointPages(capacity: example.capacity << 10) == example.pages)
    }

    @Test(
        "Reserves space behind the ends of file and log, again after each checkpoint",
        .enabled(if: supportsReservation, "this file system reserves nothing"))
    func roomIsTakenBehindFileAndLog() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let database = scene.path + "/pawl.sqlite"
        var sizes: Set<Int64> = []
        for round in 0..<8 {
            try await store.write((0..<1_000).map { .add(bulkyRecord(round * 1_000 + $0)) })
            // The thread has reserved the missing space after this write before the next.
            try await store.write([.probe])
            let file = try extent(of: database)
            sizes.insert(file.size)
            #expect(file.allocated >= file.size + 4 << 20, "\(file)")
            #expect(try extent(of: database + "-wal").allocated >= 4 << 20)
            #expect(try extent(of: database + "-shm").allocated >= 64 << 10)
        }
        // The log has been moved into the file; otherwise the test would show nothing.
        #expect(sizes.count > 1)
        await store.close()
        // The next start finds space for the log, too.
        let closed = try extent(of: database)
        #expect(closed.allocated >= closed.size + 8 << 20, "\(closed)")
    }

    private func bulkyRecord(_ number: Int) -> DownloadRecord {
        var record = sampleRecord(number)
        record.download.track = Array(repeating: UInt8(ascii: "x"), count: 1_000)
        return record
    }

    private func extent(of path: String) throws -> (size: Int64, allocated: Int64) {
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        return (Int64(status.st_size), Int64(status.st_blocks) * 512)
    }

    /// Some file systems cannot reserve space; there the records have no reserve.
    private static var supportsReservation: Bool {
        guard let directory = try? TemporaryDirectory(),
            let file = try? FileDescriptor(opening: directory.path + "/trial", .creating)
        else { return false }
        return (try? file.preallocate(4_096)) == true
    }
}
