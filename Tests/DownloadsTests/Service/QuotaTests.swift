import Foundation
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads

/// Concurrent downloads with a quota from a real origin.
@Suite("A quota", .timeLimit(.minutes(3)))
struct QuotaTests {
    private static let file: Int64 = 3 << 20

    @Test(
        "One file of a batch exceeds the quota, the others wait, and each deletion admits one more",
        arguments: ["", "&fault=chunked"])
    func batch(fault: String) async throws {
        let quota: Int64 = 5 << 20
        let fixture = try await ServiceFixture {
            $0.quota = quota
            $0.maxPerHost = 8
        }
        let first = try await fixture.end(of: fixture.add("size=\(Self.file)&seed=300").id)
        var batch: [Download] = []
        for seed in 301...306 { batch.append(try await fixture.add("size=\(Self.file)&seed=\(seed)\(fault)&pace=8000000")) }
        try await fixture.settled(waiting: 5, most: quota + Self.file)
        #expect(fixture.kept <= quota + Self.file)
        #expect(fixture.completed == 2)
        // No download repeats a request in vain.
        let requests = fixture.requests().count
        #expect(requests <= 7)
        if fault.isEmpty { #expect(try fixture.names(in: "incomplete").allSatisfy { !$0.hasSuffix(".part") }) }

        var done = try #require(batch.first { fixture.state(of: $0) == .completed })
        // With this one 3 MiB are left, and 3 are used: one more exceeds the quota.
        try await fixture.service.remove(first.id, deletingFile: true)
        for waiting in stride(from: 4, through: 0, by: -1) {
            try await fixture.settled(waiting: waiting, most: quota + Self.file)
            #expect(fixture.completed == 2)
            let next = try #require(batch.first { fixture.state(of: $0) == .completed && $0.id != done.id })
            try await fixture.service.remove(done.id, deletingFile: true)
            done = next
        }
        #expect(fixture.requests().count <= requests + 5 * 6)
        await fixture.service.shutdown()
    }

    @Test("Admits fitting downloads at once, whatever the others' lengths")
    func fits() async throws {
        let fixture = try await ServiceFixture {
            $0.quota = 1_000_000
            $0.maxPerHost = 8
        }
        for seed in 310...315 { _ = try await fixture.add("size=150000&seed=\(seed)\(seed % 2 == 0 ? "" : "&fault=chunked")") }
        try await until { fixture.completed == 6 }
        #expect(fixture.requests().count == 6)
        await fixture.service.shutdown()
    }

    @Test("One body of unknown length exceeds the quota; the other keeps its bytes, and continues once there is room")
    func unknownLengths() async throws {
        let fixture = try await ServiceFixture {
            $0.quota = 3_000_000
            $0.maxPerHost = 8
        }
        _ = try await fixture.end(of: fixture.add("size=1000000&seed=319").id)
        let made = [
            try await fixture.add("size=2500000&seed=320&fault=chunked&pace=1000000"),
            try await fixture.add("size=2500000&seed=321&fault=chunked&pace=1000000"),
        ]
        try await fixture.settled(waiting: 1, most: 3_000_000 + 2_500_000)
        let done = try #require(made.first { fixture.state(of: $0) == .completed })
        let waiting = try #require(made.first { $0.id != done.id })
        let held = try #require(fixture.service.index.download(waiting.id))
        #expect(held.bytesReceived > 0 && held.bytesReceived <= 2_000_000)
        #expect(held.error == nil)
        #expect(fixture.requests().count == 3)
        try await fixture.service.remove(done.id, deletingFile: true)
        #expect(try await fixture.end(of: waiting.id).state == .completed)
        await fixture.service.shutdown()
    }

    @Test("An admitted download continues after a restart although others precede it that the quota cannot admit")
    func restart() async throws {
        let before = try await ServiceFixture { $0.quota = 5_000_000 }
        _ = try await before.end(of: before.add("size=4500000&seed=330").id)
        let begun = try await before.add("size=3000000&seed=331&fault=stall@1000000;times=1")
        _ = try await before.follow(begun.id) { $0.bytesReceived == 1_000_000 }
        let other = try await before.add("size=1000&seed=332") { $0.priority = 9 }
        #expect(before.service.index.download(other.id)?.waitingFor == .quota)
        _ = try await before.service.perform(.pause, on: begun.id)
        await before.service.shutdown()

        let after = try await ServiceFixture(continuing: before) { $0.quota = 5_000_000 }
        #expect(after.service.index.download(other.id)?.waitingFor == .quota)
        _ = try await after.service.perform(.resume, on: begun.id)
        let ended = try await after.end(of: begun.id)
        #expect(ended.state == .completed)
        #expect(try after.file(ended, is: "size=3000000&seed=331"))
        #expect(after.service.index.download(other.id)?.waitingFor == .quota)
        #expect(after.requests("/entity?size=1000&").isEmpty)
        await after.service.shutdown()

        let raised = try await ServiceFixture(continuing: after) { $0.quota = 8_000_000 }
        #expect(try await raised.end(of: other.id).state == .completed)
        await raised.service.shutdown()
    }

    @Test("A larger new version without room keeps the bytes of the old one")
    func replacement() async throws {
        let fixture = try await ServiceFixture { $0.quota = 2_000_000 }
        let query = "size=1000000&seed=340&fault=stall@400000;times=1,change-length;times=1"
        let made = try await fixture.add(query)
        _ = try await fixture.follow(made.id) { $0.bytesReceived == 400_000 }
        _ = try await fixture.service.perform(.pause, on: made.id)
        let large = try await fixture.end(of: fixture.add("size=1650000&seed=341").id)
        #expect(large.state == .completed)
        // 1,650,000 bytes of others; the new version has 1,004,099: it is the last one, and may exceed the quota.
        _ = try await fixture.service.perform(.resume, on: made.id)
        let ended = try await fixture.end(of: made.id)
        #expect(ended.state == .completed)
        #expect(try fixture.file(ended, is: "size=1000000&seed=340&fault=change-length", version: 2))
        await fixture.service.shutdown()
    }

    @Test("A download that waits for room returns to its position with its bytes, and sends no request")
    func machine() {
        var walk = MachineWalk.receiving()
        let actions = walk.send(.ended(walk.number("transfer"), MachineWalk.ending(.awaitRoom(nil), MachineWalk.half)))
        #expect(walk.machine.phase == .waiting)
        #expect(walk.machine.record.download.state == .queued)
        #expect(walk.machine.record.download.bytesReceived == MachineWalk.half.byteCount)
        #expect(walk.machine.record.download.error == nil)
        #expect(!walk.machine.activity.contains(.takingRoom))
        #expect(actions.contains { if case .enqueue = $0 { true } else { false } })
        #expect(actions.contains { if case .flush(_, MachineWalk.half, _) = $0 { true } else { false } })
        #expect(!actions.contains { if case .start = $0 { true } else { false } })
    }
}

extension ServiceFixture {
    /// Bytes of all finished files and part files, according to records.
    fileprivate var kept: Int128 { service.index.keptBytes(except: []) }

    fileprivate var completed: Int { service.index.statistics().counts[.completed] ?? 0 }

    fileprivate func state(of download: Download) -> DownloadState? { service.index.download(download.id)?.state }

    /// Waits until nothing transfers and a number of downloads wait for the quota; the number of bytes must not exceed
    /// a limit until then.
    fileprivate func settled(waiting: Int, most: Int64) async throws {
        try await until {
            let files = try FileManager.default.contentsOfDirectory(atPath: "\(directory.path)/data/files")
            let bytes = files.reduce(Int64(0)) {
                let attributes = try? FileManager.default.attributesOfItem(atPath: "\(directory.path)/data/files/\($1)")
                return $0 + (attributes?[.size] as? Int64 ?? 0)
            }
            #expect(bytes <= most)
            let counts = service.index.statistics().counts
            return (counts[.downloading] ?? 0) == 0 && (counts[.queued] ?? 0) == waiting
                && service.index.live().allSatisfy { $0.waitingFor == .quota }
        }
    }
}
