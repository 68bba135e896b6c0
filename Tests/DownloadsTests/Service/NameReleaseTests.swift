import HTTPCore
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import Downloads

@Suite("Released names of files", .timeLimit(.minutes(3)))
@OffPool
struct NameReleaseTests {
    private static let wrong = "sha-256:" + String(repeating: "0", count: 64)
    private static let named = "&disposition=attachment%3Bfilename%3Dfile.bin"

    /// An end of a download with wrong bytes, after which it no longer has its name.
    enum Release: String, CaseIterable, CustomTestStringConvertible {
        case delete, cancel, rename, move, nothing
        var testDescription: String { rawValue }
    }

    @Test("After a checksum mismatch, the origin's name is free at once, and stays so", arguments: Release.allCases)
    func mismatch(_ release: Release) async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=1000&seed=1" + Self.named) { $0.checksum = try? Checksum(parsing: Self.wrong) }
        let failed = try await fixture.end(of: made.id)
        #expect(failed.error?.code == .checksumMismatch && failed.filename == nil)
        try await fixture.restOfMachines()
        var change = DownloadChange()
        switch release {
        case .delete: try await fixture.service.remove(made.id, deletingFile: false)
        case .cancel: _ = try await fixture.service.perform(.cancel, on: made.id)
        case .rename:
            change.filename = "other"
            _ = try await fixture.service.change(made.id, change)
        case .move:
            change.folder = "folder"
            _ = try await fixture.service.change(made.id, change)
        case .nothing: break
        }
        let next = try await fixture.add("size=1000&seed=2" + Self.named)
        #expect(try await fixture.end(of: next.id).filename == "file.bin")
        let asked = try await fixture.add("size=1000&seed=3") {
            $0.filename = "other"
            $0.startsPaused = true
        }
        #expect(asked.filename == (release == .rename ? "other (2)" : "other"))
        await fixture.service.shutdown()
    }

    @Test("A requested name stays reserved after a checksum mismatch until its download is removed")
    func askedFor() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=1000&seed=1") {
            $0.filename = "a.bin"
            $0.checksum = try? Checksum(parsing: Self.wrong)
        }
        #expect(try await fixture.end(of: made.id).filename == "a.bin")
        try await fixture.restOfMachines()
        let second = try await fixture.add("size=1000&seed=2") {
            $0.filename = "a.bin"
            $0.startsPaused = true
        }
        #expect(second.filename == "a (2).bin")
        try await fixture.service.remove(made.id, deletingFile: false)
        let third = try await fixture.add("size=1000&seed=3") {
            $0.filename = "a.bin"
            $0.startsPaused = true
        }
        #expect(third.filename == "a.bin")
        for id in [second.id, third.id] { _ = try await fixture.service.perform(.cancel, on: id) }
        // A retried cancelled download gets new numbers.
        let retried = try await fixture.service.perform(.retry, on: second.id)
        #expect(retried.filename == "a.bin")
        await fixture.service.shutdown()
    }

    @Test("No reservation is left when all downloads have ended, in any way")
    func noneLeft() async throws {
        let fixture = try await ServiceFixture()
        var ids: [RecordID] = []
        for seed in 1...12 {
            ids.append(
                try await fixture.add("size=1000&seed=\(seed)" + Self.named) {
                    $0.folder = seed % 2 == 0 ? "a/b" : ""
                    if seed % 3 == 0 { $0.filename = "mine" }
                    if seed % 4 == 0 { $0.checksum = try? Checksum(parsing: Self.wrong) }
                    $0.startsPaused = seed % 5 == 0
                }.id)
        }
        for id in ids {
            let download = try #require(fixture.service.index.download(id))
            if download.state == .paused {
                _ = try await fixture.service.perform(.cancel, on: id)
            } else if try await fixture.end(of: id).state == .failed {
                try await fixture.service.remove(id, deletingFile: true)
            }
        }
        #expect(await fixture.service.names.reservationCount == 0)
        await fixture.service.shutdown()
    }

    @Test("Removes the path of a finished file with its record")
    func finished() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=1000&seed=1" + Self.named)
        let path = try #require(try await fixture.end(of: made.id).path)
        #expect(await fixture.service.names.finished.owner(of: path) == made.id)
        try await fixture.service.remove(made.id, deletingFile: false)
        #expect(await fixture.service.names.finished.owner(of: path) == nil)
        // The file itself exists, and its name is used.
        let next = try await fixture.add("size=1000&seed=2" + Self.named)
        #expect(try await fixture.end(of: next.id).filename == "file (2).bin")
        await fixture.service.shutdown()
    }
}

@Suite("Names of files behind redirects", .timeLimit(.minutes(3)))
@OffPool
struct RedirectNameTests {
    @Test(
        "The last redirect target names the file of a URL without a useful name",
        arguments: [
            ("/get.php?file=x.zip", "film%20one.mkv"), ("/latest", "film%20one.mkv"), ("/good.bin", "film%20one.mkv"),
            ("/get.php", "send.php"),
        ])
    func redirects(link: String, target: String) async throws {
        let fixture = try await ServiceFixture()
        let origin = try ScriptedOrigin { request in
            switch request.target {
            case link: [.response(302, [("Location", "/between/other.zip")])]
            case "/between/other.zip": [.response(301, [("Location", "/cdn/\(target)?name=y.exe")])]
            default: [.response(200, [("Content-Type", "video/x-matroska")], body: Array("hello".utf8))]
            }
        }
        let url = try #require(HTTPURL(origin.url(link)))
        let made = try await fixture.service.add(NewDownload(url: url)).download
        let done = try await fixture.end(of: made.id)
        let own = link.hasPrefix("/get.php") ? "get.php" : String(link.dropFirst())
        #expect(done.filename == (own == "good.bin" || target == "send.php" ? own : "film one.mkv"))
        await fixture.service.shutdown()
    }
}

extension ServiceFixture {
    /// Waits until no download has a machine, some time after the last end.
    func restOfMachines() async throws {
        try await until { await self.service.machineCount == 0 }
    }
}
