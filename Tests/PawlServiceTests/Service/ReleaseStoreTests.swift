import DownloadCore
import Downloads
import Foundation
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import PawlService

/// The records that `Tests/Releases/make` has kept of each release.
@Suite("Records of all releases", .timeLimit(.minutes(3)))
struct ReleaseStoreTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Releases").standardizedFileURL

    /// The folders of the releases.
    private func releases() throws -> [URL] {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        let versions = names.filter { $0.first?.isNumber ?? false }
        #expect(versions.contains("0.1.0"))
        return versions.map { Self.folder.appending(path: $0) }
    }

    /// Opens the records, and checks their contents.
    /// - Parameter body: Receives the downloads, in the order of their creation.
    private func check(
        _ configure: (inout Configuration) -> Void, _ body: (RunningService, [JSONValue]) async throws -> Void = { _, _ in }
    ) async throws {
        let lines = Locked<[String]>([])
        let log = Log(
            level: .warning, format: .text, now: { .now() },
            sink: { line in lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } })
        try await RunningService.with(log: log, configure) { running in
            let downloads = try await running.send("GET", "/downloads?order=oldest").json["items"]?.array ?? []
            #expect(
                downloads.map { "\($0["folder"]?.string ?? "")/\($0["filename"]?.string ?? ""): \($0["state"]?.string ?? "")" }
                    == [
                        "a/b/whole.bin: completed", "/part.bin: paused", "/missing.bin: failed",
                        "Tides/2026-11-29 Flood.mp3: completed",
                    ])
            try #require(downloads.count == 4)
            #expect(downloads[0]["labels"]?.array?.map(\.string) == ["tide", "ü"])
            #expect(downloads[0]["track"]?["number"]?.integer == 7 && downloads[1]["priority"]?.integer == -3)
            #expect(downloads[2]["error"]?["httpStatus"]?.integer == 404)
            let subscriptions = try await running.send("GET", "/subscriptions").json["items"]?.array ?? []
            #expect(subscriptions.map { $0["name"]?.string } == ["Tides"])
            let items = try #require(subscriptions.first?["links"]?["items"]?.string)
            #expect(
                try await running.send("GET", items).json["items"]?.array?.map { $0["state"]?.string } == ["taken", "skipped"])
            #expect(try await running.send("GET", "/settings").json["maxConcurrent"]?.integer == 3)
            try await body(running, downloads)
            // Its receiver is an address that this service must not connect to.
            try await until { lines.withLock { $0.contains { $0.contains("webhook delivery is abandoned") } } }
            #expect(lines.withLock { $0.filter { $0.contains("refused") } } == [])
        }
    }

    @Test("A service opens a data directory of each release, with its files")
    func directories() async throws {
        for release in try releases() {
            let temporary = try TemporaryDirectory()
            let data = temporary.path + "/data"
            try FileManager.default.copyItem(atPath: release.appending(path: "data").path, toPath: data)
            try await check {
                $0.downloads.dataDirectory = data
            } _: { running, downloads in
                for download in [downloads[0], downloads[3]] {
                    let file = try await running.send("GET", try #require(download["links"]?["file"]?.string))
                    #expect(Hexadecimal.encode(SHA256.digest(of: file.body)) == download["sha256"]?.string)
                }
                let parts = try FileManager.default.contentsOfDirectory(atPath: data + "/incomplete")
                let part = try Data(contentsOf: URL(filePath: data + "/incomplete/" + #require(parts.first)))
                #expect(downloads[1]["bytesReceived"]?.integer == Int64(part.count) && parts.count == 1)
            }
        }
    }

    @Test(
        "A replica opens a fleet's database of each release",
        .enabled(if: PrivatePostgres.isWanted, "\(PrivatePostgres.whySkipped)"))
    func fleets() async throws {
        for release in try releases() {
            let database = try PrivatePostgres.database()
            try database.execute(file: release.appending(path: "fleet.sql").path)
            try await check {
                $0.downloads.database = database.conninfo
                $0.downloads.lease = .seconds(3)
            }
        }
    }
}
