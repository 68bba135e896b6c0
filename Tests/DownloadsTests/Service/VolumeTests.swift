import Foundation
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadFiles
@testable import Downloads

/// The downloads directory disappears, returns, and returns as another.
@Suite("A separate downloads directory", .timeLimit(.minutes(3)))
struct VolumeTests {
    private let volume: TemporaryDirectory
    private var path: String { volume.path + "/volume" }
    private var away: String { volume.path + "/away" }
    private static let slow = "size=4000000&seed=81&fault=stall@1500000;times=1"

    init() throws {
        volume = try TemporaryDirectory()
    }

    private func service(_ earlier: ServiceFixture? = nil, at path: String? = nil) async throws -> ServiceFixture {
        try await ServiceFixture(continuing: earlier) { $0.downloadsDirectory = path ?? self.path }
    }

    private func unmount() throws {
        try FileManager.default.moveItem(atPath: path, toPath: away)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    private func mount() throws {
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: away, toPath: path)
    }

    private func names(_ path: String) throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

    private func file(_ done: Download, is query: String, at path: String? = nil) throws -> Bool {
        let expected = try #require(TestUpstream.content(of: "/entity?" + query)?.bytes)
        return try Data(contentsOf: URL(filePath: "\(path ?? self.path)/files/\(done.filename ?? "")")) == Data(expected)
    }

    /// One download is paused with bytes, and one is completed.
    private func begin() async throws -> (ServiceFixture, paused: Download, done: Download) {
        let before = try await service()
        let made = try await before.add(Self.slow)
        _ = try await before.follow(made.id) { $0.bytesReceived > 200_000 }
        let paused = try await before.service.perform(.pause, on: made.id)
        let done = try await before.end(of: before.add("size=3000&seed=82").id)
        return (before, paused, done)
    }

    @Test("A start without the volume creates nothing, marks no file missing, and continues once it returns")
    func awayAtStart() async throws {
        let (before, paused, done) = try await begin()
        await before.service.shutdown()
        try unmount()
        let after = try await service(before)
        #expect(await after.service.storeCondition().degraded == [.volumeAway])
        #expect(after.service.index.download(paused.id)?.bytesReceived == paused.bytesReceived)
        // Accepts commands and additions.
        _ = try await after.service.perform(.resume, on: paused.id)
        let new = try await after.add("size=5000&seed=83")
        #expect(after.service.index.download(new.id)?.waitingFor == .volume)
        #expect(after.service.index.download(paused.id)?.waitingFor == .volume)
        await #expect(throws: FinishedFileError.self) { _ = try await after.service.openFile(of: done.id) }
        #expect(after.service.index.download(done.id)?.fileMissing == false)
        #expect(try await after.add("size=3000&seed=82").id == done.id)
        // A missing file cannot be deleted.
        await #expect(throws: DownloadError.directoryAway) { try await after.service.remove(done.id, deletingFile: true) }
        await #expect(throws: DownloadError.directoryAway) {
            _ = try await after.service.removeAll(ListQuery(states: [.completed]), deletingFiles: true)
        }
        #expect(after.service.index.download(done.id) != nil)
        #expect(try names(path).isEmpty)
        try mount()
        let ended = try await after.end(of: paused.id)
        #expect(try file(ended, is: Self.slow))
        #expect(after.requests().contains { $0.range == range(continuing: paused.bytesReceived) })
        #expect(try await after.end(of: new.id).state == .completed)
        #expect(await after.service.storeCondition().degraded == [])
        _ = try await after.service.openFile(of: done.id)
        await after.service.shutdown()
    }

    @Test("Downloads wait while nothing can be written, wherever the directory is, and continue", arguments: [true, false])
    func unwritable(_ isApart: Bool) async throws {
        let fixture = try await ServiceFixture { if isApart { $0.downloadsDirectory = path } }
        let incomplete = (isApart ? path : fixture.directory.path + "/data") + "/incomplete"
        let made = try await fixture.add("size=4000000&seed=84&pace=1500000")
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 200_000 }
        try await until { try !names(incomplete).isEmpty }
        // The directory is gone, and cannot be made anew.
        try FileManager.default.removeItem(atPath: incomplete)
        try Data().write(to: URL(filePath: incomplete))
        var others: [RecordID] = []
        for seed in 90..<94 { others.append(try await fixture.add("size=5000&seed=\(seed)").id) }
        for id in others {
            try await until { fixture.service.index.download(id)?.waitingFor == .volume }
            #expect(fixture.service.index.download(id)?.error == nil)
        }
        #expect(await fixture.service.storeCondition().degraded == [.volumeAway])
        #expect(fixture.service.index.count(of: .failed) == 0)
        try FileManager.default.removeItem(atPath: incomplete)
        for id in others + [made.id] { #expect(try await fixture.end(of: id).state == .completed) }
        await fixture.service.shutdown()
    }

    @Test("A record stays with its file if the directory is found to be away when the file is to be removed")
    func recordStays() async throws {
        let disk = SlowDisk()
        disk.gate.open()
        let fixture = try await ServiceFixture(disk: disk) { $0.downloadsDirectory = path }
        let done = try await fixture.end(of: fixture.add("size=3000&seed=82").id)
        try FileManager.default.removeItem(atPath: path + "/incomplete")
        try Data().write(to: URL(filePath: path + "/incomplete"))
        disk.keepsFiles.withLock { $0 = true }
        await #expect(throws: DownloadError.directoryAway) { try await fixture.service.remove(done.id, deletingFile: true) }
        await #expect(throws: DownloadError.directoryAway) {
            _ = try await fixture.service.removeAll(ListQuery(states: [.completed]), deletingFiles: true)
        }
        #expect(fixture.service.index.download(done.id)?.fileMissing == false)
        try FileManager.default.removeItem(atPath: path + "/incomplete")
        disk.keepsFiles.withLock { $0 = false }
        try await until { await fixture.service.storeCondition().degraded == [] }
        #expect(try file(done, is: "size=3000&seed=82"))
        try await fixture.service.remove(done.id, deletingFile: true)
        #expect(try names(path + "/files") == [] && fixture.service.index.download(done.id) == nil)
        // A file that cannot be removed from a directory that works does not keep its record.
        let other = try await fixture.end(of: fixture.add("size=3000&seed=83").id)
        disk.keepsFiles.withLock { $0 = true }
        try await fixture.service.remove(other.id, deletingFile: true)
        #expect(fixture.service.index.download(other.id) == nil)
        await fixture.service.shutdown()
    }

    @Test("Transfers wait for a volume that disappears with the bytes that they have, and continue")
    func awayMeanwhile() async throws {
        let fixture = try await service()
        let made = try await fixture.add("size=4000000&seed=84&pace=1500000")
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 200_000 }
        try unmount()
        let waiting = try await fixture.follow(made.id) { $0.state == .queued }
        #expect(waiting.error == nil)
        #expect(waiting.bytesReceived > 200_000)
        #expect(try names(path).isEmpty)
        try mount()
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed)
        #expect(try file(done, is: "size=4000000&seed=84"))
        await fixture.service.shutdown()
    }

    @Test("A returning volume is tidied as at a start")
    func tidiedWhenBack() async throws {
        let (before, paused, done) = try await begin()
        let gone = try await before.add(Self.slow + "&name=gone")
        _ = try await before.follow(gone.id) { $0.bytesReceived > 200_000 }
        _ = try await before.service.perform(.pause, on: gone.id)
        await before.service.shutdown()
        let incomplete = path + "/incomplete"
        let kept = try names(incomplete).filter { !$0.hasPrefix("\(gone.id)") }
        #expect(try kept.count == 1 && names(incomplete).count == 2)
        // A run has reserved names, and has ended before it renamed the part files.
        for (id, name) in [(paused.id, "kept.bin"), (gone.id, "gone.bin")] {
            let identity = try #require(done.file)
            let note = PublicationNote(
                path: FilePath(name, in: ""), identity: identity, sha256: Array(repeating: 1, count: 32), generation: 1)
            try Data(note.text.utf8).write(to: URL(filePath: "\(incomplete)/\(id).publishing"))
            try Data().write(to: URL(filePath: "\(path)/files/\(name)"))
        }
        try unmount()
        let after = try await service(before)
        try await after.service.remove(gone.id, deletingFile: false)
        let new = try await after.add("size=5000&seed=83")
        try mount()
        let ended = try await after.end(of: new.id)
        #expect(ended.state == .completed)
        #expect(try names(path + "/files") == [done.filename, ended.filename].compactMap(\.self).sorted())
        #expect(try names(incomplete).filter { $0.hasSuffix(".part") } == kept)
        #expect(try !names(incomplete).contains { $0.hasPrefix("\(gone.id)") })
        _ = try await after.service.perform(.resume, on: paused.id)
        #expect(try file(try await after.end(of: paused.id), is: Self.slow))
        await after.service.shutdown()
    }

    @Test("From one directory to another and back, bytes of two generations never mix")
    func thereAndBack() async throws {
        let (before, paused, _) = try await begin()
        await before.service.shutdown()
        let other = try await service(before, at: volume.path + "/other")
        #expect(await other.service.storeCondition().degraded == [])
        _ = try await other.service.perform(.resume, on: paused.id)
        _ = try await other.follow(paused.id) { $0.bytesReceived > 2_000_000 || $0.state == .completed }
        if other.service.index.download(paused.id)?.state.isLive == true {
            _ = try? await other.service.perform(.pause, on: paused.id)
        }
        await other.service.shutdown()
        let back = try await service(other)
        #expect(await back.service.storeCondition().degraded == [])
        if back.service.index.download(paused.id)?.state == .paused {
            _ = try await back.service.perform(.resume, on: paused.id)
            let done = try await back.end(of: paused.id)
            #expect(try file(done, is: Self.slow))
        }
        await back.service.shutdown()
    }

    @Test("Keeps another service's part files until its marker is emptied; a check takes no file of a missing volume for lost")
    func others() async throws {
        let (before, paused, done) = try await begin()
        await before.service.shutdown()
        let parts = try names(path + "/incomplete")
        let stranger = try await service()
        #expect(await stranger.service.storeCondition().degraded == [.volumeAway])
        #expect(try names(path + "/incomplete") == parts)
        await stranger.service.shutdown()
        let data = before.directory.path + "/data"
        try unmount()
        for name in ["files", "incomplete"] {
            try FileManager.default.createDirectory(atPath: "\(path)/\(name)", withIntermediateDirectories: false)
        }
        #expect(throws: DownloadsStartError.self) { try DirectoryCheck(path: data, downloads: path).run(repairing: true) }
        try mount()
        #expect(try DirectoryCheck(path: data, downloads: path).run(repairing: false).faults.isEmpty)
        let after = try await service(before)
        #expect(after.service.index.download(paused.id)?.bytesReceived == paused.bytesReceived)
        #expect(after.service.index.download(done.id)?.fileMissing == false)
        await after.service.shutdown()
        try Data().write(to: URL(filePath: path + "/.pawl"))
        let heir = try await service()
        #expect(await heir.service.storeCondition().degraded == [])
        #expect(try names(path + "/incomplete").isEmpty)
        await heir.service.shutdown()
    }

    @Test("On a volume in an earlier state, unfinished downloads start over")
    func rolledBack() async throws {
        let fixture = try await service()
        let query = "size=4000000&seed=85&pace=1500000"
        let made = try await fixture.add(query)
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 200_000 }
        try FileManager.default.copyItem(atPath: path, toPath: away)
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 1_500_000 }
        _ = try await fixture.service.perform(.pause, on: made.id)
        await fixture.service.shutdown()
        try mount()
        let after = try await service(fixture)
        _ = try await after.service.perform(.resume, on: made.id)
        let done = try await after.end(of: made.id)
        #expect(try file(done, is: "size=4000000&seed=85"))
        await after.service.shutdown()
    }

    @Test("Detects an earlier state even from the last second of a transfer")
    func rolledBackToTheLastSecond() async throws {
        let fixture = try await service()
        let query = "size=4000000&seed=86&pace=1500000"
        let made = try await fixture.add(query)
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 200_000 }
        try FileManager.default.copyItem(atPath: path, toPath: away)
        let marker = try Data(contentsOf: URL(filePath: away + "/.pawl"))
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 700_000 }
        _ = try await fixture.service.perform(.pause, on: made.id)
        try await until { try Data(contentsOf: URL(filePath: path + "/.pawl")) != marker }
        try mount()
        _ = try await fixture.follow(made.id) { $0.bytesReceived == 0 }
        _ = try await fixture.service.perform(.resume, on: made.id)
        let done = try await fixture.end(of: made.id)
        #expect(try file(done, is: query))
        await fixture.service.shutdown()
    }

    @Test("A stop right after the volume disappeared creates nothing at its path")
    func awayAtStop() async throws {
        let (before, paused, _) = try await begin()
        try unmount()
        await before.service.shutdown()
        #expect(try names(path).isEmpty)
        let after = try await service(before, at: volume.path + "/./volume")
        #expect(await after.service.storeCondition().degraded == [.volumeAway])
        try mount()
        try await until { await after.service.storeCondition().degraded == [] }
        #expect(after.service.index.download(paused.id)?.bytesReceived == paused.bytesReceived)
        await after.service.shutdown()
    }

    @Test("Notices the loss of a directory without a marker while the service runs")
    func unmarked() async throws {
        try FileManager.default.createDirectory(atPath: path + "/.pawl", withIntermediateDirectories: true)
        let fixture = try await service()
        #expect(await fixture.service.storeCondition().degraded == [])
        try unmount()
        try await until { await fixture.service.storeCondition().degraded == [.volumeAway] }
        let made = try await fixture.add("size=3000&seed=87")
        #expect(fixture.service.index.download(made.id)?.waitingFor == .volume)
        #expect(try names(path).isEmpty)
        try mount()
        let done = try await fixture.end(of: made.id)
        #expect(try file(done, is: "size=3000&seed=87"))
        await fixture.service.shutdown()
    }

    @Test(
        "A service does not start on the directory of a running one, whatever marker and records it has",
        arguments: [false, true])
    func inUse(hasOwnDownloads: Bool) async throws {
        let (running, _, _) = try await begin()
        let directory = try TemporaryDirectory()
        let other = try await ServiceFixture(directory: directory) { configuration in
            if hasOwnDownloads { configuration.downloadsDirectory = directory.path + "/own" }
        }
        await other.service.shutdown()
        let error = await #expect(throws: DownloadsStartError.self) {
            _ = try await ServiceFixture(directory: directory, continuing: other) { $0.downloadsDirectory = path }
        }
        #expect(error?.description == "directory \(path) is in use by another process of pawl")
        await running.service.shutdown()
    }
}
