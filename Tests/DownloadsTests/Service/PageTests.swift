import Foundation
import HTTPCore
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadStore
@testable import Downloads

/// Expired URLs often respond with 200 and a page.
@Suite("Pages in place of a file", .timeLimit(.minutes(3)))
struct PageTests {
    nonisolated static let total = 900_000
    nonisolated static let there = 600_000

    /// The film: its first bytes, and then only ranges.
    nonisolated static func film(_ request: ScriptedOrigin.Request) -> [ScriptedOrigin.Step] {
        let fields = "Content-Type: video/x-matroska\r\nETag: \"film\"\r\n"
        let start = request["Range"].flatMap { Int($0.dropFirst(6).dropLast()) }
        let place = start.map { "Content-Range: bytes \($0)-\(total - 1)/\(total)\r\n" } ?? ""
        let count = total - (start ?? 0)
        let head = "HTTP/1.1 \(start == nil ? 200 : 206) Status\r\n\(fields)\(place)Content-Length: \(count)\r\n\r\n"
        let body = [UInt8](repeating: 0x61, count: start == nil ? there : count)
        return [.send(Array(head.utf8) + body)] + (start == nil ? [.close] : [])
    }

    nonisolated static let page = ScriptedOrigin.Step.response(
        200, [("Content-Type", "text/html; charset=utf-8")], body: Array("<html>Log in</html>".utf8))

    private func url(_ origin: ScriptedOrigin, _ path: String = "/movie.mkv") throws -> HTTPURL {
        try #require(HTTPURL(origin.url(path)))
    }

    @Test(
        "A film with an expired URL keeps its bytes, and continues from a new URL or the same",
        arguments: [(true, false), (true, true), (false, false), (false, true)])
    func expired(hasFreshLink: Bool, restarting: Bool) async throws {
        let isBack = Locked(false)
        let origin = try ScriptedOrigin { request in
            let isPage = request.number > 0 && !isBack.withLock { $0 } && !request.target.contains("fresh")
            return isPage ? [Self.page] : Self.film(request)
        }
        let before = try await ServiceFixture()
        let made = try await before.service.add(NewDownload(url: url(origin))).download
        let failed = try await before.end(of: made.id)
        #expect(failed.state == .failed && failed.error?.code == .mediaTypeMismatch, "\(String(describing: failed.error))")
        #expect(failed.error?.retryable == false && failed.error?.httpStatus == 200)
        #expect(failed.bytesReceived == Int64(Self.there) && failed.mediaType == "video/x-matroska")
        #expect(origin.requests.map { $0["Range"] } == [nil, range(continuing: Self.there)])
        if restarting { await before.service.shutdown() }
        let fixture = restarting ? try await before.crash() : before
        if !hasFreshLink {
            // Still a page: another request loses nothing.
            _ = try await fixture.service.perform(.resume, on: made.id)
            let again = try await fixture.end(of: made.id)
            #expect(again.error?.code == .mediaTypeMismatch && again.bytesReceived == Int64(Self.there))
            isBack.withLock { $0 = true }
        } else {
            var change = DownloadChange()
            change.url = try url(origin, "/movie.mkv?fresh")
            _ = try await fixture.service.change(made.id, change)
        }
        _ = try await fixture.service.perform(.resume, on: made.id)
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed && done.filename == "movie.mkv", "\(String(describing: done.error))")
        #expect(try fixture.file(done) == [UInt8](repeating: 0x61, count: Self.total))
        #expect(origin.requests.last?["Range"] == range(continuing: Self.there))
        await fixture.service.shutdown()
    }

    @Test("A page in place of an announced new version discards no bytes", arguments: [206, 416])
    func announced(status: Int) async throws {
        let isBack = Locked(false)
        let origin = try ScriptedOrigin { request in
            if request.number == 0 { return Self.film(request).dropLast() + [.stall] }
            if isBack.withLock({ $0 }) { return Self.film(request) }
            guard request["Range"] != nil else { return [Self.page] }
            let place = status == 416 ? "bytes */5" : "bytes 583616-\(Self.total - 1)/\(Self.total)"
            return [.response(status, [("Content-Range", place), ("ETag", "\"other\"")], body: []), .close]
        }
        let fixture = try await ServiceFixture()
        let made = try await fixture.service.add(NewDownload(url: url(origin))).download
        _ = try await fixture.follow(made.id) { $0.bytesReceived == Int64(Self.there) }
        _ = try await fixture.service.perform(.pause, on: made.id)
        _ = try await fixture.service.perform(.resume, on: made.id)
        let failed = try await fixture.end(of: made.id)
        #expect(failed.error?.code == .mediaTypeMismatch && failed.bytesReceived == Int64(Self.there))
        isBack.withLock { $0 = true }
        _ = try await fixture.service.perform(.resume, on: made.id)
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done) == [UInt8](repeating: 0x61, count: Self.total))
        #expect(origin.requests.last?["Range"] == range(continuing: Self.there))
        await fixture.service.shutdown()
    }

    @Test("A recording that its server calls HTML is one by its first bytes")
    func wrongType() async throws {
        let content = [UInt8]("\0\0\0 ftypM4B ".utf8) + [UInt8](repeating: 7, count: 50_000)
        let origin = try ScriptedOrigin { request in
            let start = request["Range"].flatMap { Int($0.dropFirst(6).dropLast()) }
            let fields = [("Content-Type", "text/html"), ("ETag", "\"1\"")]
            if let start {
                let place = ("Content-Range", "bytes \(start)-\(content.count - 1)/\(content.count)")
                return [.response(206, fields + [place], body: Array(content[start...]))]
            }
            let head = fields.map { "\($0): \($1)\r\n" }.joined()
            return [
                .text("HTTP/1.1 200 OK\r\n\(head)Content-Length: \(content.count)\r\n\r\n"), .send(Array(content[..<30_000])),
                .close,
            ]
        }
        let fixture = try await ServiceFixture()
        let track = Array(#"{"kind":"podcast-episode","name":"One"}"#.utf8)
        let made = try await fixture.service.add(NewDownload(url: url(origin, "/one.m4b"), .with { $0.track = track })).download
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done) == content)
        #expect(origin.requests.map { $0["Range"] } == [nil, range(continuing: 30_000)])
        await fixture.service.shutdown()
    }

    @Test("A first response for a song according to the catalogue is no page")
    func catalogue() async throws {
        let origin = try ScriptedOrigin { _ in [Self.page] }
        let fixture = try await ServiceFixture()
        for (track, isTaken) in [(#"{"kind":"song","name":"x"}"#, false), (#"{"kind":"ebook","name":"x"}"#, true)] {
            var new = NewDownload(url: try url(origin, "/\(isTaken)"))
            new.track = Array(track.utf8)
            let done = try await fixture.end(of: fixture.service.add(new).download.id)
            #expect(done.state == (isTaken ? .completed : .failed))
            #expect(done.error?.code == (isTaken ? nil : .mediaTypeMismatch))
        }
        await fixture.service.shutdown()
    }

    @Test("Earlier statements outlive the bytes until a user starts everything again")
    func bytesAreLost() async throws {
        let isPage = Locked(false)
        let origin = try ScriptedOrigin { request in
            isPage.withLock { $0 }
                ? [Self.page] : [.response(200, [("Content-Type", "audio/mpeg"), ("ETag", "\"a\"")], body: Array("abc".utf8))]
        }
        let fixture = try await ServiceFixture()
        var new = NewDownload(url: try url(origin, "/song.mp3"))
        new.checksum = try Checksum(parsing: "md5:00000000000000000000000000000000")
        let made = try await fixture.service.add(new).download
        let mismatch = try await fixture.end(of: made.id)
        #expect(mismatch.error?.code == .checksumMismatch && mismatch.bytesReceived == 0)
        isPage.withLock { $0 = true }
        _ = try await fixture.service.perform(.resume, on: made.id)
        #expect(try await fixture.end(of: made.id).error?.code == .mediaTypeMismatch)
        _ = try await fixture.service.perform(.retry, on: made.id)
        // The page is taken for the file, which contradicts its checksum.
        #expect(try await fixture.end(of: made.id).error?.code == .checksumMismatch)
        await fixture.service.shutdown()
    }

    @Test("An archive keeps its own coding, and a coding applied in transit is refused", arguments: ["gzip", "x-gzip"])
    func archives(coding: String) async throws {
        let fields = [("Content-Encoding", coding), ("ETag", "\"a\"")]
        let origin = try ScriptedOrigin { request in
            let disposition = [("Content-Disposition", "attachment; filename=\"b.tar.gz\"")]
            return request.target.hasPrefix("/moved")
                ? [.redirect(to: "/there.tgz")]
                : [.response(200, fields + (request.target == "/named" ? disposition : []), body: [0x1f, 0x8b, 8])]
        }
        let fixture = try await ServiceFixture()
        for (path, name, isTaken) in [
            ("/a.tar.gz", nil, true), ("/named", nil, true), ("/moved", nil, true), ("/x", "mine.gz", true), ("/y", nil, false),
            ("/y.zip", nil, false),
        ] {
            var new = NewDownload(url: try url(origin, path))
            new.filename = name
            let done = try await fixture.end(of: fixture.service.add(new).download.id)
            #expect(done.state == (isTaken ? .completed : .failed), "\(path)")
            #expect(done.error?.code == (isTaken ? nil : .unsupportedEncoding), "\(path)")
            if isTaken { #expect(try fixture.file(done) == [0x1f, 0x8b, 8], "\(path)") }
        }
        await fixture.service.shutdown()
    }
}
