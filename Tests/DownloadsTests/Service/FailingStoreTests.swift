import Foundation
import HTTPCore
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import Downloads

/// The promises when the store cannot keep them, and the state when it can again.
@Suite("A failing store", .timeLimit(.minutes(5)))
struct FailingStoreTests {
    @Test("Refuses a download that cannot be recorded, and leaves nothing of it")
    func adding() async throws {
        let fixture = try await ServiceFixture()
        fixture.store.refuse { $0.saves(.queued) }
        await #expect(throws: DownloadError.self) { try await fixture.add("size=1000&seed=1") }
        #expect(fixture.service.index.page(ListQuery()).items.isEmpty)
        #expect(fixture.requests().isEmpty)
        fixture.store.refuse(nil)
        #expect(try await fixture.end(of: fixture.add("size=1000&seed=1").id).state == .completed)
        await fixture.service.shutdown()
    }

    @Test("An unrecorded cancellation is reported, keeps the bytes, and the next attempt does not write over them")
    func cancelling() async throws {
        let fixture = try await ServiceFixture()
        let query = "size=900000&seed=2&fault=stall@400000;times=1"
        let made = try await fixture.addStalled(query)
        _ = try await fixture.service.perform(.pause, on: made.id)
        let kept = try Data(contentsOf: fixture.part(of: made.id)).prefix(400_000)

        fixture.store.refuse { $0.saves(.cancelled) }
        await #expect(throws: DownloadError.self) { try await fixture.service.perform(.cancel, on: made.id) }
        // A crash now would find the record of a paused download, and its bytes.
        #expect(try Data(contentsOf: fixture.part(of: made.id)).prefix(400_000) == kept)

        fixture.store.refuse(nil)
        _ = try await fixture.service.perform(.retry, on: made.id)
        let done = try await fixture.end(of: made.id)
        #expect(try fixture.file(done, is: query))
        #expect(try fixture.names(in: "incomplete") == [])
        await fixture.service.shutdown()
    }

    @Test("Records a failed cancellation once possible, and then removes the bytes")
    func cancellingLate() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.addStalled("size=900000&seed=9&fault=stall@400000")
        fixture.store.refuse { $0.saves(.cancelled) }
        await #expect(throws: DownloadError.self) { try await fixture.service.perform(.cancel, on: made.id) }
        #expect(try fixture.names(in: "incomplete") != [])
        fixture.store.refuse(nil)
        while try fixture.names(in: "incomplete") != [] { try await nextTurn() }
        let after = try await fixture.crash(starting: false)
        #expect(after.service.index.download(made.id)?.state == .cancelled)
        await after.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("A repeated cancellation after a failed one removes the bytes", arguments: [false, true])
    func cancellingAgain(resting: Bool) async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.addStalled("size=900000&seed=9&fault=stall@400000")
        if resting { _ = try await fixture.service.perform(.pause, on: made.id) }
        fixture.store.refuse { $0.saves(.cancelled) }
        await #expect(throws: DownloadError.self) { try await fixture.service.perform(.cancel, on: made.id) }
        fixture.store.refuse(nil)
        #expect(try await fixture.service.perform(.cancel, on: made.id).state == .cancelled)
        #expect(try fixture.names(in: "incomplete") == [])
        await fixture.service.shutdown()
    }

    @Test(
        "On a full disk, the bytes of a cancelled download make room for its record",
        arguments: [false, true], [false, true])
    func cancellingOnAFullDisk(resting: Bool, retrying: Bool) async throws {
        let fixture = try await ServiceFixture()
        let query = "size=900000&seed=10&fault=stall@400000;times=1"
        let made = try await fixture.addStalled(query)
        if resting { _ = try await fixture.service.perform(.pause, on: made.id) }
        let part = fixture.part(of: made.id).path
        fixture.store.refuse(as: .full) { _ in FileManager.default.fileExists(atPath: part) }
        #expect(try await fixture.service.perform(.cancel, on: made.id).state == .cancelled)
        #expect(fixture.store.refused > 0)
        #expect(try fixture.names(in: "incomplete") == [])
        fixture.store.refuse(nil)
        if retrying {
            _ = try await fixture.service.perform(.retry, on: made.id)
            #expect(try await fixture.file(fixture.end(of: made.id), is: query))
        } else {
            let after = try await fixture.crash(starting: false)
            #expect(after.service.index.download(made.id)?.state == .cancelled)
            await after.service.shutdown()
        }
        await fixture.service.shutdown()
    }

    @Test("Removes an empty part file, too")
    func cancellingWithoutRoom() async throws {
        let origin = try ScriptedOrigin { _ in
            [.send(Array("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: \(1 << 60)\r\n\r\n".utf8)), .stall]
        }
        let fixture = try await ServiceFixture()
        let url = try #require(HTTPURL(origin.url("/file.bin")))
        let made = try await fixture.service.add(NewDownload(url: url)).download
        #expect(try await fixture.end(of: made.id).error?.code == .insufficientStorage)
        #expect(try fixture.names(in: "incomplete") != [])
        _ = try await fixture.service.perform(.cancel, on: made.id)
        #expect(try fixture.names(in: "incomplete") == [])
        await fixture.service.shutdown()
    }

    @Test("Carries out a retry right after a cancellation that frees many bytes")
    func retryingBehindMuch() async throws {
        let fixture = try await ServiceFixture()
        let query = "size=20000000&seed=10&fault=stall@18000000;times=1"
        let made = try await fixture.add(query) { $0.segments = 1 }
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 17_000_000 }
        _ = try await fixture.service.perform(.pause, on: made.id)
        fixture.store.delay { $0.saves(.cancelled) }
        let service = fixture.service
        let cancellation = Task { try await service.perform(.cancel, on: made.id) }
        _ = try await fixture.store.delayed.wait { !$0.isEmpty }
        let retry = Task { try await service.perform(.retry, on: made.id) }
        try await until { await service.countOfWaiters >= 2 }
        fixture.store.delay(nil)
        for commit in fixture.store.delayed.value { commit.set(nil) }
        #expect(try await cancellation.value.state == .cancelled)
        #expect(try await retry.value.state == .queued)
        #expect(try await fixture.file(fixture.end(of: made.id), is: query))
        await fixture.service.shutdown()
    }

    @Test("Reports a cancellation without room for its record despite its bytes, and records it later")
    func cancellingInVain() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.addStalled("size=900000&seed=13&fault=stall@400000")
        fixture.store.refuse(as: .full) { $0.saves(.cancelled) }
        await #expect(throws: DownloadError.insufficientStorage(StoreError.full.description)) {
            try await fixture.service.perform(.cancel, on: made.id)
        }
        #expect(try fixture.names(in: "incomplete") == [])
        try await until { await fixture.service.isUnsaved(made.id) }
        fixture.store.refuse(nil)
        try await until { await !fixture.service.isUnsaved(made.id) }
        let after = try await fixture.crash(starting: false)
        #expect(after.service.index.download(made.id)?.state == .cancelled)
        await after.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("Records a failed state although a failed removal came in between")
    func removingMeanwhile() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.addStalled("size=900000&seed=14&fault=stall@400000")
        fixture.store.refuse { $0.saves(.paused) || $0.removes }
        await #expect(throws: DownloadError.self) { try await fixture.service.perform(.pause, on: made.id) }
        fixture.store.refuse(as: .full) { $0.saves(.paused) || $0.removes }
        await #expect(throws: DownloadError.self) { try await fixture.service.remove(made.id, deletingFile: false) }
        #expect(await fixture.service.isUnsaved(made.id))
        fixture.store.refuse(nil)
        try await until { await !fixture.service.isUnsaved(made.id) }
        let after = try await fixture.crash(starting: false)
        #expect(after.service.index.download(made.id)?.state == .paused)
        await after.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("A file with an unrecorded removal is missing, and the next removal keeps another file with its name")
    func removingTwice() async throws {
        let fixture = try await ServiceFixture()
        let query = "size=70000&seed=15"
        let first = try await fixture.end(of: fixture.add(query) { $0.filename = "a.bin" }.id)
        fixture.store.refuse(as: .full) { $0.removes }
        await #expect(throws: DownloadError.self) { try await fixture.service.remove(first.id, deletingFile: true) }
        #expect(fixture.service.index.download(first.id)?.fileMissing == true)
        fixture.store.refuse(nil)
        let second = try await fixture.end(of: fixture.add(query) { $0.filename = "a.bin" }.id)
        #expect(second.id != first.id)
        #expect(second.filename == "a.bin")
        try await fixture.service.remove(first.id, deletingFile: true)
        #expect(try fixture.file(second, is: query))
        await fixture.service.shutdown()
    }

    @Test("On a full disk, a removal deletes the bytes before the record", arguments: [false, true])
    func removingOnAFullDisk(finished: Bool) async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=900000&seed=11" + (finished ? "" : "&fault=stall@400000"))
        let place: String
        if finished {
            place = "files/" + (try #require(try await fixture.end(of: made.id).filename))
        } else {
            _ = try await fixture.follow(made.id) { $0.bytesReceived >= 400_000 }
            place = "incomplete/" + fixture.part(of: made.id).lastPathComponent
        }
        let path = fixture.directory.path + "/data/" + place
        fixture.store.refuse(as: .full) { change in change.removes && FileManager.default.fileExists(atPath: path) }
        try await fixture.service.remove(made.id, deletingFile: true)
        // A finished file is always removed first.
        #expect(fixture.store.refused == (finished ? 0 : 1))
        #expect(fixture.service.index.download(made.id) == nil)
        #expect(!FileManager.default.fileExists(atPath: path))
        let after = try await fixture.crash(starting: false)
        #expect(after.service.index.download(made.id) == nil)
        await after.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("A removal that a full disk finally refuses starts the download again instead of losing it")
    func removingInVain() async throws {
        let fixture = try await ServiceFixture()
        let query = "size=900000&seed=12&fault=stall@400000;times=1"
        let made = try await fixture.addStalled(query)
        fixture.store.refuse(as: .full) { $0.removes }
        await #expect(throws: DownloadError.insufficientStorage(StoreError.full.description)) {
            try await fixture.service.remove(made.id, deletingFile: true)
        }
        fixture.store.refuse(nil)
        #expect(try await fixture.file(fixture.end(of: made.id), is: query))
        #expect(try fixture.names(in: "incomplete") == [])
        await fixture.service.shutdown()
    }

    @Test(
        "Records an unrecorded failure once possible, at the latest at a stop", arguments: [false, true])
    func failing(stopping: Bool) async throws {
        let fixture = try await ServiceFixture()
        fixture.store.refuse { $0.saves(.failed) }
        let made = try await fixture.add("size=1000&seed=8&fault=404")
        #expect(try await fixture.end(of: made.id).state == .failed)
        try await until { await fixture.service.isUnsaved(made.id) }
        fixture.store.refuse(nil)
        if !stopping { try await until { await !fixture.service.isUnsaved(made.id) } }
        if stopping { await fixture.service.shutdown() }
        let after = try await fixture.crash(starting: false)
        #expect(after.service.index.download(made.id)?.state == .failed)
        await after.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("A repeated unrecorded command succeeds only once it is recorded")
    func repeating() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=900000&seed=6&fault=stall@400000") { $0.startsPaused = true }
        fixture.store.refuse { change in change.savedRecord.map { $0.download.state != .paused } ?? false }
        await #expect(throws: DownloadError.self) { try await fixture.service.perform(.resume, on: made.id) }
        await #expect(throws: DownloadError.self) { try await fixture.service.perform(.resume, on: made.id) }
        fixture.store.refuse(nil)
        #expect(try await fixture.service.perform(.resume, on: made.id).state != .paused)

        let after = try await fixture.crash(starting: false)
        #expect(after.service.index.download(made.id)?.state == .queued)
        await after.service.shutdown()
        await fixture.service.shutdown()
    }

    @Test("Reports a removal that cannot be recorded, and continues the download")
    func removing() async throws {
        let fixture = try await ServiceFixture()
        let query = "size=900000&seed=3&fault=stall@400000;times=1"
        let made = try await fixture.addStalled(query)
        fixture.store.refuse { $0.removes }
        await #expect(throws: DownloadError.self) { try await fixture.service.remove(made.id, deletingFile: false) }
        fixture.store.refuse(nil)
        let done = try await fixture.end(of: made.id)
        #expect(try fixture.file(done, is: query))
        #expect(fixture.requests().last?.range == range(continuing: 400_000))
        await fixture.service.shutdown()
    }

    @Test("An unrecorded new version does not replace the old bytes, and is fetched again")
    func swapping() async throws {
        let fixture = try await ServiceFixture()
        let query = "size=900000&seed=4&fault=stall@400000;times=1,change;times=1"
        let made = try await fixture.addStalled(query)
        _ = try await fixture.service.perform(.pause, on: made.id)

        fixture.store.refuse { change in
            if case .save(let record) = change { record.download.state == .downloading && record.entity != nil } else { false }
        }
        _ = try await fixture.service.perform(.resume, on: made.id)
        let retrying = try await fixture.follow(made.id) { $0.error != nil }
        #expect(retrying.error?.code == .ioError)
        fixture.store.refuse(nil)
        if retrying.state == .failed { _ = try await fixture.service.perform(.resume, on: made.id) }
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed)
        #expect(try fixture.names(in: "incomplete") == [])
        #expect(try fixture.file(done, is: query, version: 2))
        await fixture.service.shutdown()
    }

    @Test("The next start finds a file with an unrecorded completion, and does not fetch it again")
    func completing() async throws {
        let before = try await ServiceFixture()
        before.store.refuse { $0.saves(.completed) }
        let made = try await before.end(of: before.add("size=300000&seed=5").id)
        #expect(made.state == .completed)
        await before.service.shutdown()
        let asked = before.requests().count

        let after = try await ServiceFixture(continuing: before)
        let done = try await after.end(of: made.id)
        #expect(done.state == .completed)
        #expect(done.sha256 == made.sha256)
        #expect(done.filename == made.filename)
        #expect(after.requests().count == asked)
        #expect(try after.names(in: "files") == [done.filename])
        #expect(try after.names(in: "incomplete") == [])
        await after.service.shutdown()
    }

    @Test("The next start finds a finished file under any name although nothing of it could be recorded")
    func completingUnnamed() async throws {
        let before = try await ServiceFixture()
        // From its acceptance on, nothing is recorded: neither the name nor the end.
        before.store.refuse { change in
            if case .save(let record) = change { record.download.state != .queued } else { false }
        }
        let made = try await before.end(of: before.add("size=300000&seed=7").id)
        await before.service.shutdown()
        let asked = before.requests().count

        let after = try await ServiceFixture(continuing: before)
        let done = try await after.end(of: made.id)
        #expect(done.state == .completed)
        #expect(done.filename == made.filename)
        #expect(done.sha256 == made.sha256)
        #expect(after.requests().count == asked)
        #expect(try after.names(in: "files") == [done.filename])
        await after.service.shutdown()
    }
}

extension ServiceFixture {
    /// Adds a download whose origin stalls after 400,000 bytes, and waits for these.
    fileprivate func addStalled(_ query: String) async throws -> Download {
        let made = try await add(query)
        return try await follow(made.id) { $0.bytesReceived >= 400_000 }
    }
}

extension DownloadService {
    /// The number of commands without a result.
    fileprivate var countOfWaiters: Int { runner.waits.count }
}
