import Downloads
import Foundation
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import PawlService

@Suite("Files in another directory with other modes", .timeLimit(.minutes(3)))
struct DownloadsDirectoryTests {
    /// A directory on another file system than temporary files, where there is one.
    private static func volume() throws -> TemporaryDirectory {
        try TemporaryDirectory(under: FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : nil)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test("Files are on another volume than the records, over a restart, with the given modes")
    func elsewhere() async throws {
        let volume = try Self.volume()
        let directory = try TemporaryDirectory()
        let path = volume.path + "/files/music/a.bin"
        var id = ""
        try await RunningService.with(directory: directory) {
            $0.downloads.downloadsDirectory = volume.path
            ($0.downloads.filePermissions.file, $0.downloads.filePermissions.directory) = (0o640, 0o750)
        } _: { running in
            id = try await running.add("/entity?size=2000000", #","filename":"a.bin","folder":"music""#)
            try await running.complete(id)
            let stalled = try await running.add("/entity?size=3000000&fault=stall@1000000")
            try await running.follow(stalled) { ($0["bytesReceived"]?.integer ?? 0) > 0 }
            let parts = try FileManager.default.contentsOfDirectory(atPath: volume.path + "/incomplete")
            #expect(parts.count == 1 && parts.allSatisfy { $0.hasPrefix("\(stalled).") && $0.hasSuffix(".part") })
            let stats = try await running.send("GET", "/stats")
            #expect(stats.json["freeBytes"]?.integer != nil)
        }
        #expect(try mode(path) == 0o640)
        #expect(try [volume.path + "/files", volume.path + "/files/music"].map(mode) == [0o750, 0o750])
        #expect(try mode(directory.path + "/pawl.sqlite") == 0o600)
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/files"))
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/incomplete"))
        try await RunningService.with(directory: directory) {
            $0.downloads.downloadsDirectory = volume.path
        } _: { running in
            let file = try await running.send("GET", "/downloads/\(id)/file")
            #expect(file.status == 200 && file.body.count == 2_000_000)
            #expect(try await running.send("DELETE", "/downloads/\(id)?deleteFile=true").status == 204)
            #expect(try FileManager.default.contentsOfDirectory(atPath: volume.path + "/files").isEmpty)
        }
    }

    @Test("Two services with their own records do not share a directory of files")
    func isHeld() async throws {
        let volume = try Self.volume()
        try await RunningService.with {
            $0.downloads.downloadsDirectory = volume.path
        } _: { _ in
            await #expect(throws: (any Error).self) {
                try await RunningService.with({ $0.downloads.downloadsDirectory = volume.path }) { _ in }
            }
        }
    }
}
