import Dispatch
import Foundation
import HTTPClient
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadTransfer
@testable import Downloads

/// Reading the progress of a transfer while its own lock is held.
@Suite("Progress for readers", .timeLimit(.minutes(3)))
struct TransferProgressTests {
    @Test("Ranges, connections and sources can be read while the transfer is locked, as during a wait for a disk")
    func locked() async throws {
        let fixture = try await ServiceFixture()
        let query = "size=24000000&seed=231&fault=stall@3000000"
        let made = try await fixture.add(query) { $0.segments = 3 }
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 0 && $0.segments == 3 }
        let attempt = try #require(await fixture.service.attempt(of: made.id))
        try await until { attempt.written.byteCount == 9_000_000 }
        let entered = Gate()
        let leave = DispatchSemaphore(value: 0)
        let thread = Task.detached {
            attempt.state.withLock { _ in
                entered.open()
                _ = leave.wait(timeout: .now() + 60)
            }
        }
        try await entered.wait()
        let details = try await fixture.service.details(of: made.id)
        #expect(details.connections.count == 3)
        #expect(details.sources.map(\.isUsed) == [true])
        let shown = try #require(fixture.service.index.download(made.id))
        #expect(shown.receivedRanges.count == 3)
        #expect(shown.bytesReceived == 9_000_000)
        leave.signal()
        await thread.value
        _ = try await fixture.service.perform(.cancel, on: made.id)
        await fixture.service.shutdown()
    }

    @Test(
        "At full speed, every read has the ranges and connections of its moment, and never fewer bytes than before",
        arguments: [1, 4])
    func fullSpeed(segments: Int) async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=300000000&seed=232&pace=6000000") { $0.segments = segments }
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 0 }
        var most: Int64 = 0
        var asked = 0
        while asked < 100 {
            let before = try #require(fixture.service.index.download(made.id))
            let details = try await fixture.service.details(of: made.id)
            let after = try #require(fixture.service.index.download(made.id))
            // A transfer that broke off has no connections until it is retried.
            guard before.state == .downloading, after.state == .downloading, before.attempts == after.attempts else { continue }
            let count = details.download.receivedRanges.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
            // On a busy machine, all bytes may arrive first. Then connections are closed, and the file is verified.
            if count == 300_000_000 { break }
            asked += 1
            try #require(count >= before.bytesReceived && count >= most)
            try #require(!details.connections.isEmpty)
            try #require(!before.receivedRanges.isEmpty)
            most = count
        }
        #expect(asked > 0)
        _ = try await fixture.service.perform(.cancel, on: made.id)
        await fixture.service.shutdown()
    }
}

extension DownloadService {
    /// The transfer of a download with one.
    func attempt(of id: RecordID) -> TransferAttempt? { entries[id]?.resources?.attempt }
}
