import Foundation
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads

@Suite("Many downloads of one URL", .timeLimit(.minutes(3)))
struct ManyOfOneURLTests {
    private static let count = 400

    /// A service with many completed downloads of one URL, and its disk.
    private func fixture() async throws -> (ServiceFixture, SlowDisk, [Download]) {
        let disk = SlowDisk()
        disk.gate.open()
        let fixture = try await ServiceFixture(disk: disk) { $0.maxConcurrent = 32 }
        let url = try fixture.url("size=10&seed=1")
        let outcomes = try await fixture.service.add(
            (0..<Self.count).map { _ in .success(NewDownload(url: url, .with { $0.onDuplicate = .new })) })
        var ended: [Download] = []
        for outcome in outcomes { ended.append(try await fixture.end(of: try outcome.get().download.id)) }
        #expect(ended.allSatisfy { $0.state == .completed })
        return (fixture, disk, ended)
    }

    /// The file checks and store submissions of an addition.
    private func cost(of body: () async throws -> Void, _ disk: SlowDisk) async throws -> Int {
        let before = disk.looks.withLock { $0 }
        try await body()
        return disk.looks.withLock { $0 } - before
    }

    @Test("An addition checks a limited number of files, even if all were moved away")
    func movedAway() async throws {
        let (fixture, disk, _) = try await fixture()
        let present = try await cost(of: { _ = try await fixture.add("size=10&seed=1") }, disk)
        #expect(present <= 4)
        for name in try fixture.names(in: "files") {
            try FileManager.default.removeItem(atPath: "\(fixture.directory.path)/data/files/\(name)")
        }
        for round in 0..<3 {
            let looks = try await cost(
                of: {
                    let made = try await fixture.add("size=10&seed=1") { $0.startsPaused = true }
                    #expect(made.state == .paused)
                    try await fixture.service.remove(made.id, deletingFile: true)
                }, disk)
            #expect(looks <= 40, "round \(round)")
        }
        // A batch of one URL costs no more than one item.
        let url = try fixture.url("size=10&seed=1")
        let batch = try await cost(
            of: {
                let items = (0..<40).map { _ in
                    Result<NewDownload, Problem>.success(NewDownload(url: url, .with { $0.startsPaused = true }))
                }
                let outcomes = try await fixture.service.add(items)
                #expect(Set(try outcomes.map { try $0.get().download.id }).count == 1)
            }, disk)
        #expect(batch <= 40)
        await fixture.service.shutdown()
    }

    @Test("A returned file represents its URL, and a recorded observation is not recorded again")
    func returned() async throws {
        let fixture = try await ServiceFixture()
        let first = try await fixture.end(of: try await fixture.add("size=10&seed=2").id)
        let path = "\(fixture.directory.path)/data/files/\(try #require(first.filename))"
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        let second = try await fixture.add("size=10&seed=2") { $0.startsPaused = true }
        #expect(second.id != first.id)
        #expect(fixture.service.index.download(first.id)?.fileMissing == true)
        let revision = fixture.service.index.download(first.id)?.revision
        _ = try await fixture.service.perform(.cancel, on: second.id)
        let third = try await fixture.add("size=10&seed=2") { $0.startsPaused = true }
        #expect(third.id != first.id)
        #expect(fixture.service.index.download(first.id)?.revision == revision)
        _ = try await fixture.service.perform(.cancel, on: third.id)
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        #expect(try await fixture.add("size=10&seed=2").id == first.id)
        #expect(fixture.service.index.download(first.id)?.fileMissing == false)
        await fixture.service.shutdown()
    }

    @Test("The candidates of a URL are all of its downloads, after any changes")
    func candidates() {
        var random = SystemRandom()
        let index = SnapshotIndex()
        var model: [RecordID: Download] = [:]
        for step in 0..<2_000 {
            let id = RecordID(value: UInt128(Int.random(in: 1..<60, using: &random)) << 80)
            if Int.random(in: 0..<4, using: &random) == 0 {
                index.remove(id)
                model[id] = nil
            } else {
                var download = Download(id: id, url: "http://h/\(step % 2)", createdAt: id.createdAt)
                download.state = DownloadState.allCases.randomElement(using: &random) ?? .queued
                download.fileMissing = download.state == .completed && Bool.random(using: &random)
                index.publish(download, counters: nil)
                model[id] = download
            }
            for url in ["http://h/0", "http://h/1"] {
                let all = model.values.filter { $0.url == url }.sorted { $0.id > $1.id }
                let current = all.filter { $0.state.isLive || ($0.state == .completed && !$0.fileMissing) }
                let missing = all.filter { $0.state == .completed && $0.fileMissing }
                let ended = all.filter { !$0.state.isLive && $0.state != .completed }
                let expected = current.prefix(3) + missing.prefix(3) + ended.prefix(3)
                let found = index.downloads(ofURL: url, atMost: 3).map(\.id)
                #expect(found == expected.map(\.id))
                if found != expected.map(\.id) { return }
                #expect(index.hasDownload(ofURL: url) == !all.isEmpty)
                #expect(index.reference(toURL: url)?.id == all.first.flatMap { $0.fileMissing ? nil : $0.id })
            }
        }
    }
}
