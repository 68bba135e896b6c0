import Foundation
import HTTPCore
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads

@Suite("Downloads with folders", .timeLimit(.minutes(3)))
struct FolderServiceTests {
    private static let stalling = "size=4000000&seed=80&fault=stall@1000000"

    private func change(_ edit: (inout DownloadChange) -> Void) -> DownloadChange {
        var change = DownloadChange()
        edit(&change)
        return change
    }

    @Test("A file is finished in its folder, kept over a restart, and removed with it")
    func life() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=1000&seed=1") {
            $0.filename = "a.bin"
            $0.folder = "music/live"
        }
        #expect(made.folder == "music/live")
        let root = try await fixture.add("size=1000&seed=2") { $0.filename = "a.bin" }
        let second = try await fixture.add("size=1000&seed=3") {
            $0.filename = "a.bin"
            $0.folder = "music/live"
        }
        #expect([made, root, second].map(\.filename) == ["a.bin", "a.bin", "a (2).bin"])
        for (download, seed) in zip([made, root, second], 1...) {
            let done = try await fixture.end(of: download.id)
            #expect(done.state == .completed)
            #expect(try fixture.file(done, is: "size=1000&seed=\(seed)"))
        }
        await fixture.service.shutdown()

        let later = try await ServiceFixture(directory: fixture.directory, continuing: fixture)
        let found = try #require(later.service.index.download(made.id))
        #expect(found.folder == "music/live" && found.filename == "a.bin")
        #expect(try await later.service.openFile(of: made.id).1 == found.file)
        try await later.service.remove(made.id, deletingFile: true)
        #expect(try later.names(in: "files/music/live") == ["a (2).bin"])
        try await later.service.remove(second.id, deletingFile: true)
        #expect(try later.names(in: "files") == ["a.bin"])
        await later.service.shutdown()
    }

    @Test("Refuses an invalid folder of a new download and of an existing one")
    func refusals() async throws {
        let fixture = try await ServiceFixture(starting: false)
        let made = try await fixture.add("size=1000&seed=1")
        try FileManager.default.createDirectory(
            atPath: fixture.directory.path + "/data/files/a", withIntermediateDirectories: true)
        try Data([1]).write(to: URL(filePath: fixture.directory.path + "/data/files/a/file"))
        for folder in ["../a", "/a", "a//b", "a/file", "a/file/b"] {
            await #expect(throws: DownloadError.self) { try await fixture.add("size=1000&seed=2") { $0.folder = folder } }
            await #expect(throws: DownloadError.self) {
                try await fixture.service.change(made.id, self.change { $0.folder = folder })
            }
        }
        #expect(fixture.service.index.download(made.id)?.folder == "")
        await fixture.service.shutdown()
    }

    @Test("The folder can change until completion in any state, and not afterwards")
    func changing() async throws {
        let fixture = try await ServiceFixture()
        let live = try await fixture.add(Self.stalling)
        let named = try await fixture.follow(live.id) { $0.bytesReceived > 0 }
        let moved = try await fixture.service.change(live.id, change { $0.folder = "u\u{308}/b" })
        #expect(moved.folder == "\u{fc}/b" && moved.filename == named.filename && moved.state == .downloading)
        #expect(try await fixture.service.change(live.id, change { $0.priority = 2 }).folder == "\u{fc}/b")

        // The names of one folder do not affect another.
        let paused = try await fixture.add("size=1000&seed=4") {
            $0.filename = "x"
            $0.folder = "a"
            $0.startsPaused = true
        }
        let other = try await fixture.add("size=1000&seed=5") {
            $0.filename = "x"
            $0.folder = "b"
            $0.startsPaused = true
        }
        #expect(try await fixture.service.change(other.id, change { $0.folder = "a" }).filename == "x (2)")
        #expect(try await fixture.service.change(paused.id, change { $0.folder = "" }).filename == "x")
        #expect(try await fixture.service.change(other.id, change { $0.folder = "a" }).filename == "x")
        let both = try await fixture.service.change(
            other.id,
            change {
                $0.folder = ""
                $0.filename = "X"
            })
        #expect(both.filename == "X (2)" && both.folder == "")

        let crashed = try await fixture.crash(starting: false)
        #expect(crashed.service.index.download(live.id)?.folder == "\u{fc}/b")
        #expect(crashed.service.index.download(other.id)?.path == "X (2)")
        await crashed.service.shutdown()

        _ = try await fixture.service.perform(.resume, on: paused.id)
        let done = try await fixture.end(of: paused.id)
        #expect(done.path == "x")
        await #expect(throws: DownloadError.illegalTransition(from: .completed, command: "new folder")) {
            try await fixture.service.change(paused.id, self.change { $0.folder = "a" })
        }
        // A cancelled download's folder applies to its next attempt.
        _ = try await fixture.service.perform(.cancel, on: other.id)
        #expect(try await fixture.service.change(other.id, change { $0.folder = "c" }).folder == "c")
        _ = try await fixture.service.perform(.retry, on: other.id)
        #expect(try await fixture.end(of: other.id).path == "c/X")
        #expect(try fixture.names(in: "files/c") == ["X"])
        await fixture.service.shutdown()
    }

    @Test("Chooses the origin's name within the folder")
    func originsName() async throws {
        let fixture = try await ServiceFixture()
        var done: [Download] = []
        for (seed, folder) in ["a", "a", "b"].enumerated() {
            let query = "size=1000&seed=\(seed)&disposition=attachment%3Bfilename%3Dfile.bin"
            done.append(try await fixture.end(of: fixture.add(query) { $0.folder = folder }.id))
        }
        #expect(done.map(\.path) == ["a/file.bin", "a/file (2).bin", "b/file.bin"])
        await fixture.service.shutdown()
    }

    @Test("An obstacle to a folder between two attempts keeps the bytes")
    func lateObstacle() async throws {
        let fixture = try await ServiceFixture { $0.stallTimeout = .milliseconds(500) }
        let query = "size=4000000&seed=80&fault=stall@1000000;times=1"
        let made = try await fixture.add(query) { $0.folder = "a/b" }
        _ = try await fixture.follow(made.id) { $0.bytesReceived == 1_000_000 }
        try Data([1]).write(to: URL(filePath: fixture.directory.path + "/data/files/a"))
        let failed = try await fixture.end(of: made.id)
        #expect(failed.state == .failed && failed.error?.code == .ioError)
        #expect(failed.bytesReceived == 1_000_000 && fixture.requests().count == 1)
        _ = try await fixture.service.change(made.id, change { $0.folder = "b" })
        _ = try await fixture.service.perform(.resume, on: made.id)
        let done = try await fixture.end(of: made.id)
        #expect(done.path == "b/entity")
        #expect(try fixture.file(done, is: query))
        #expect(fixture.requests().last?.range == range(continuing: 1_000_000))
        await fixture.service.shutdown()
    }

    @Test("A folder and a file of live downloads do not get the same name")
    func foldersAndFiles() async throws {
        let fixture = try await ServiceFixture(starting: false)
        let folder = try await fixture.add("size=1000&seed=1") { $0.folder = "music/live" }
        let file = try await fixture.add("size=1000&seed=2") { $0.filename = "music" }
        #expect(file.filename == "music (2)")
        let other = try await fixture.add("size=1000&seed=3") { $0.filename = "video" }
        for name in ["video", "video/new", "Video"] {
            await #expect(throws: DownloadError.self) { try await fixture.add("size=1000&seed=4") { $0.folder = name } }
            await #expect(throws: DownloadError.self) {
                try await fixture.service.change(folder.id, self.change { $0.folder = name })
            }
        }
        await fixture.service.shutdown()

        // Reservations survive a restart.
        let later = try await ServiceFixture(continuing: fixture, starting: false)
        #expect(try await later.add("size=1000&seed=5") { $0.filename = "music" }.filename == "music (3)")
        await #expect(throws: DownloadError.self) { try await later.add("size=1000&seed=6") { $0.folder = "video" } }
        try await later.service.remove(other.id, deletingFile: false)
        #expect(try await later.add("size=1000&seed=7") { $0.folder = "video" }.folder == "video")
        await later.service.start()
        #expect(try await later.end(of: folder.id).path == "music/live/entity")
        await later.service.shutdown()
    }

    @Test("An obstacle to a folder fails the download before a byte is fetched, and another folder completes it")
    func obstacle() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=1000&seed=6") {
            $0.folder = "a/b"
            $0.startsPaused = true
        }
        try Data([1]).write(to: URL(filePath: fixture.directory.path + "/data/files/a"))
        _ = try await fixture.service.perform(.resume, on: made.id)
        let failed = try await fixture.end(of: made.id)
        #expect(failed.state == .failed && failed.error?.code == .ioError && failed.error?.retryable == false)
        #expect(failed.error?.message == "folder 'a/b' cannot be used: 'a' in the files directory is no directory")
        #expect(failed.bytesReceived == 0 && fixture.requests().isEmpty)
        _ = try await fixture.service.change(made.id, change { $0.folder = "c" })
        _ = try await fixture.service.perform(.resume, on: made.id)
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed && done.folder == "c")
        #expect(try fixture.file(done, is: "size=1000&seed=6"))
        #expect(fixture.requests().count == 1)
        await fixture.service.shutdown()
    }

    @Test("Lists, bulk commands and removals apply to a folder, without its subfolders")
    func filters() async throws {
        let fixture = try await ServiceFixture(starting: false)
        var ids: [String: RecordID] = [:]
        for (seed, folder) in ["", "a", "a/b", "A"].enumerated() {
            let made = try await fixture.add("size=1000&seed=\(seed)") {
                $0.folder = folder
                $0.labels = folder.isEmpty ? [] : ["l"]
            }
            ids[folder] = made.id
        }
        let index = fixture.service.index
        for (folder, id) in ids { #expect(index.page(ListQuery(folder: folder)).items.map(\.id) == [id]) }
        #expect(index.page(ListQuery(folder: "b")).total == 0)
        #expect(index.page(ListQuery(label: "l", folder: "a")).total == 1)
        #expect(index.page(ListQuery(label: "l", folder: "")).total == 0)
        #expect(index.page(ListQuery(states: [.queued], folder: "a")).total == 1)
        #expect(index.page(ListQuery(states: [.paused], folder: "a")).total == 0)
        #expect(try await fixture.service.performOnAll(.pause, folder: "a") == 1)
        #expect(index.page(ListQuery(states: [.paused])).items.map(\.folder) == ["a"])
        let moved = try #require(ids["a/b"])
        _ = try await fixture.service.change(moved, change { $0.folder = "a" })
        #expect(index.page(ListQuery(folder: "a")).total == 2)
        #expect(index.page(ListQuery(folder: "a/b")).total == 0)
        #expect(try await fixture.service.removeAll(ListQuery(folder: ""), deletingFiles: true) == 1)
        #expect(try await fixture.service.removeAll(ListQuery(folder: "a"), deletingFiles: true) == 2)
        #expect(index.page(ListQuery()).items.map(\.folder) == ["A"])
        await fixture.service.shutdown()
    }
}
