import Foundation
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadFiles
@testable import Downloads

@Suite("Modification times of origins", .timeLimit(.minutes(3)))
@OffPool
struct RemoteTimeServiceTests {
    nonisolated static let past = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test(
        "A finished file has its origin's time if that is wanted and valid",
        arguments: [
            (false, nil, past, false), (true, nil, past, true), (false, true, past, true), (true, false, past, false),
            (true, nil, "Fri, 31 Dec 9999 23:59:59 GMT", false), (true, nil, "tomorrow", false), (true, nil, nil, false),
        ] as [(Bool, Bool?, String?, Bool)])
    func times(option: Bool, chosen: Bool?, lastModified: String?, isRemote: Bool) async throws {
        let origin = try ScriptedOrigin { _ in
            [.response(200, lastModified.map { [("Last-Modified", $0)] } ?? [], body: Array("bytes".utf8))]
        }
        let before = try await ServiceFixture { $0.remoteTime = option }
        let url = try #require(HTTPURL(origin.url("/file.bin")))
        let start = SystemTime.sinceEpoch
        let made = try await before.service.add(NewDownload(url: url, .with { $0.remoteTime = chosen })).download
        #expect(made.remoteTime == chosen)
        let done = try await before.end(of: made.id)
        let identity = try #require(done.file)
        if isRemote {
            #expect(identity.modified == 784_111_777_000_000_000)
        } else {
            // File systems have coarser clocks.
            #expect(identity.modified >= start - 1_000_000_000 && identity.modified <= SystemTime.sinceEpoch)
        }
        try await recognises(before, done)
        await before.service.shutdown()
        let after = try await ServiceFixture(continuing: before) { $0.remoteTime = option }
        try await recognises(after, done)
        #expect(after.service.index.download(made.id)?.remoteTime == chosen)
        await after.service.shutdown()
    }

    /// Expects the finished file to be the one of the record.
    private func recognises(_ fixture: ServiceFixture, _ done: Download) async throws {
        let status = try Directory(opening: fixture.directory.path + "/data/files").status(of: try #require(done.filename))
        #expect(status?.identity == done.file)
        let opened = try await fixture.service.openFile(of: done.id)
        #expect(opened.1 == done.file && opened.0 != nil)
        #expect(fixture.service.index.download(done.id)?.fileMissing == false)
    }

    @Test("The time is the first response's, after a resumption and after a crash too", arguments: [false, true])
    func resumed(crashing: Bool) async throws {
        let content = [UInt8](repeating: 5, count: 100_000)
        let tags: [(name: String, value: String)] = [("ETag", "\"v1\""), ("Last-Modified", Self.past)]
        let origin = try ScriptedOrigin { request in
            if request["Range"] != nil {
                return [
                    .response(206, [tags[0], ("Content-Range", "bytes 33616-99999/100000")], body: Array(content[33_616...]))
                ]
            }
            let head =
                "HTTP/1.1 200 OK\r\n" + tags.map { "\($0.name): \($0.value)\r\n" }.joined() + "Content-Length: 100000\r\n\r\n"
            return [.text(head), .send(Array(content[..<50_000])), .stall]
        }
        let before = try await ServiceFixture { $0.remoteTime = true }
        let url = try #require(HTTPURL(origin.url("/file.bin")))
        let made = try await before.service.add(NewDownload(url: url)).download
        _ = try await before.follow(made.id) { $0.bytesReceived == 50_000 }
        _ = try await before.service.perform(.pause, on: made.id)
        let after = crashing ? try await before.crash(configure: { $0.remoteTime = true }) : before
        _ = try await after.service.perform(.resume, on: made.id)
        let done = try await after.end(of: made.id)
        #expect(done.file?.modified == 784_111_777_000_000_000)
        #expect(try after.file(done) == content)
        await after.service.shutdown()
        if crashing { await before.service.shutdown() }
    }
}
