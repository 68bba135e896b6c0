import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore

/// Prints the costs of the store on this machine.
@Suite(.timeLimit(.minutes(3)), .serialized)
@OffPool
struct StoreMeasurementTests {
    private func rate(_ count: Int, _ elapsed: Duration) -> Int {
        Int(Double(count) / (elapsed / .seconds(1)))
    }

    @Test("Writes and loads twenty thousand records")
    func twentyThousandRecordsLoad() async throws {
        let scene = try StoreScene()
        let count = 20_000
        let clock = ContinuousClock()
        do {
            let store = try scene.open()
            let written = try await clock.measure {
                for start in stride(from: 0, to: count, by: 1_000) {
                    try await store.write((start..<start + 1_000).map { .save(sampleRecord($0, state: .completed)) })
                }
            }
            print("store: \(rate(count, written)) records/s in writes of 1,000")
            await store.close()
        }
        let store = try scene.open()
        var loaded = 0
        let elapsed = try clock.measure { loaded = try store.load().records.count }
        print("store: \(count) records loaded in \(elapsed)")
        #expect(loaded == count)
        await store.close()
    }

    @Test("Writers share commits")
    func writersShareCommits() async throws {
        let scene = try StoreScene()
        let store = try scene.open()
        let clock = ContinuousClock()
        let alone = try await clock.measure {
            for number in 0..<500 { try await store.save(sampleRecord(number)) }
        }
        let together = try await clock.measure {
            try await withThrowingTaskGroup { group in
                for writer in 0..<64 {
                    group.addTask {
                        for round in 0..<50 { try await store.save(sampleRecord(1_000 + writer * 50 + round)) }
                    }
                }
                try await group.waitForAll()
            }
        }
        print("store: \(rate(500, alone)) commits/s by one writer, \(rate(3_200, together))/s by 64")
        #expect(try store.load().records.count == 3_700)
        await store.close()
    }
}
