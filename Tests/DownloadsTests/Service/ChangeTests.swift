import Foundation
import HTTPClient
import HTTPCore
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import Downloads

@Suite("Changes of downloads", .timeLimit(.minutes(3)))
struct ChangeTests {
    private func change(_ edit: (inout DownloadChange) -> Void) -> DownloadChange {
        var change = DownloadChange()
        edit(&change)
        return change
    }

    @Test("A raised priority starts first, and the change is durable before the response")
    func priority() async throws {
        let fixture = try await ServiceFixture { $0.maxConcurrent = 1 }
        let first = try await fixture.add("size=4000000&seed=50&fault=stall@1000000")
        _ = try await fixture.follow(first.id) { $0.bytesReceived > 0 }
        let second = try await fixture.add("size=1000&seed=51&fault=stall@500")
        let third = try await fixture.add("size=1000&seed=52")
        let changed = try await fixture.service.change(third.id, change { $0.priority = 5 })
        #expect(changed.priority == 5)
        let crashed = try await fixture.crash(starting: false)
        #expect(crashed.service.index.download(third.id)?.priority == 5)
        await crashed.service.shutdown()

        _ = try await fixture.service.perform(.cancel, on: first.id)
        #expect(try await fixture.end(of: third.id).state == .completed)
        #expect(fixture.service.index.download(second.id)?.state != .completed)
        await fixture.service.shutdown()
    }

    @Test("A page in place of the file discards no bytes", arguments: [1, 4])
    func page(segments: Int) async throws {
        let fixture = try await ServiceFixture { $0.segments = segments }
        let query = "size=9000000&seed=58&type=audio/mp4&fault=stall@400000;times=1"
        let made = try await fixture.add(query) { $0.mediaType = "audio/*" }
        _ = try await fixture.follow(made.id) { $0.bytesReceived >= 400_000 }
        let kept = try await fixture.service.perform(.pause, on: made.id).bytesReceived
        let page = try fixture.url("size=18&seed=9&type=text/html&etag=page")
        _ = try await fixture.service.change(made.id, change { $0.url = page })
        _ = try await fixture.service.perform(.resume, on: made.id)
        let failed = try await fixture.end(of: made.id)
        #expect(failed.error?.code == .mediaTypeMismatch && failed.error?.httpStatus == 200)
        #expect(failed.bytesReceived == kept)
        let file = try fixture.url(query)
        _ = try await fixture.service.change(made.id, change { $0.url = file })
        if fixture.service.index.download(made.id)?.state == .failed {
            _ = try await fixture.service.perform(.resume, on: made.id)
        }
        let done = try await fixture.end(of: made.id)
        #expect(try fixture.file(done, is: "size=9000000&seed=58"))
        #expect(fixture.requests().last { $0.target.contains("size=9000000") }?.range?.hasPrefix("bytes=0-") == false)
        await fixture.service.shutdown()
    }

    @Test("A new version without space on the disk discards no bytes")
    func versionWithoutRoom() async throws {
        let content = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 &* 11 &+ $0 >> 7) }
        let origin = try ScriptedOrigin { request in
            let head = { (tag: String, length: Int) in
                Array("HTTP/1.1 200 OK\r\nETag: \"\(tag)\"\r\nContent-Length: \(length)\r\n\r\n".utf8)
            }
            switch request.number {
            case 0: return [.send(head("v1", content.count)), .send(Array(content[..<200_000])), .stall]
            case 1: return [.send(head("v2", 1 << 60) + [1, 2, 3]), .stall]
            default:
                return [
                    .response(
                        206, [("ETag", "\"v1\""), ("Content-Range", "bytes 183616-499999/500000")],
                        body: Array(content[183_616...]))
                ]
            }
        }
        let fixture = try await ServiceFixture()
        let url = try #require(HTTPURL(origin.url("/file.bin")))
        let made = try await fixture.service.add(NewDownload(url: url)).download
        _ = try await fixture.follow(made.id) { $0.bytesReceived == 200_000 }
        _ = try await fixture.service.perform(.pause, on: made.id)
        _ = try await fixture.service.perform(.resume, on: made.id)
        let failed = try await fixture.end(of: made.id)
        #expect(failed.error?.code == .insufficientStorage)
        #expect(failed.bytesReceived == 200_000)
        _ = try await fixture.service.perform(.resume, on: made.id)
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed)
        #expect(try Bytes(fixture.file(done)) == Bytes(content))
        #expect(
            try await origin.requests(atLeast: 3).map { $0["Range"] } == [
                nil, range(continuing: 200_000), range(continuing: 200_000),
            ])
        await fixture.service.shutdown()
    }

    @Test("A name equals its other compositions in Unicode")
    func composition() async throws {
        let fixture = try await ServiceFixture()
        let first = try await fixture.add("size=10&seed=1") { $0.filename = "e\u{301}.txt" }
        let second = try await fixture.add("size=10&seed=2") { $0.filename = "\u{e9}.txt" }
        #expect(first.filename.map { Array($0.utf8) } == Array("\u{e9}.txt".utf8))
        #expect(second.filename.map { Array($0.utf8) } == Array("\u{e9} (2).txt".utf8))
        let paused = try await fixture.add("size=10&seed=3") { $0.startsPaused = true }
        let renamed = try await fixture.service.change(paused.id, change { $0.filename = "u\u{308}.txt" })
        #expect(renamed.filename.map { Array($0.utf8) } == Array("\u{fc}.txt".utf8))
        await fixture.service.shutdown()
    }

    @Test("Labels of a completed download change; its name and URL do not")
    func completed() async throws {
        let fixture = try await ServiceFixture()
        let done = try await fixture.end(of: fixture.add("size=1000&seed=53").id)
        let changed = try await fixture.service.change(done.id, change { $0.labels = ["a"] })
        #expect(changed.labels == ["a"])
        #expect(changed.state == .completed)
        #expect(changed.revision > done.revision)
        await #expect(throws: DownloadError.illegalTransition(from: .completed, command: "new filename")) {
            try await fixture.service.change(done.id, change { $0.filename = "b" })
        }
        let url = try fixture.url("size=1000&seed=53")
        await #expect(throws: DownloadError.illegalTransition(from: .completed, command: "new url")) {
            try await fixture.service.change(done.id, change { $0.url = url })
        }
        await fixture.service.shutdown()
    }

    @Test("Refuses a change that is not expected")
    func unexpected() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=1000&seed=54") { $0.startsPaused = true }
        await #expect(throws: DownloadError.preconditionFailed) {
            try await fixture.service.change(made.id, change { $0.priority = 1 }) { $0.priority == 7 }
        }
        #expect(fixture.service.index.download(made.id)?.priority == 0)
        await fixture.service.shutdown()
    }

    @Test("A new name is the finished file's, and the old one is free")
    func filename() async throws {
        let fixture = try await ServiceFixture()
        let slow = "size=4000000&seed=55&fault=stall@1500000;times=1"
        let made = try await fixture.add(slow) { $0.filename = "old.bin" }
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 0 }
        #expect(try await fixture.service.change(made.id, change { $0.filename = "new.bin" }).filename == "new.bin")
        let other = try await fixture.add("size=10&seed=56") { $0.filename = "old.bin" }
        #expect(other.filename == "old.bin")
        await #expect(throws: DownloadError.self) {
            try await fixture.service.change(made.id, change { $0.filename = "../x" })
        }
        _ = try await fixture.service.perform(.pause, on: made.id)
        _ = try await fixture.service.perform(.resume, on: made.id)
        let done = try await fixture.end(of: made.id)
        #expect(done.filename == "new.bin")
        #expect(try fixture.names(in: "files").contains("new.bin"))
        await fixture.service.shutdown()
    }

    @Test("A new URL of the same bytes continues from them")
    func sameContent() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=4000000&seed=57&fault=stall@1500000;times=1")
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 200_000 }
        let url = try fixture.url("size=4000000&seed=57&fresh=1")
        let changed = try await fixture.service.change(made.id, change { $0.url = url })
        #expect(changed.url == url.string)
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed)
        #expect(try fixture.file(done, is: "size=4000000&seed=57"))
        let last = try #require(fixture.requests().last)
        #expect(last.target.contains("fresh=1"))
        #expect(last.range != nil && last.ifRange != nil)
        await fixture.service.shutdown()
    }

    @Test("A URL of another file never mixes the two")
    func otherContent() async throws {
        let fixture = try await ServiceFixture()
        let made = try await fixture.add("size=4000000&seed=58&fault=stall@1500000;times=1")
        _ = try await fixture.follow(made.id) { $0.bytesReceived > 200_000 }
        _ = try await fixture.service.perform(.pause, on: made.id)
        let url = try fixture.url("size=3000000&seed=59")
        let changed = try await fixture.service.change(made.id, change { $0.url = url })
        #expect(changed.state == .paused)
        _ = try await fixture.service.perform(.resume, on: made.id)
        let done = try await fixture.end(of: made.id)
        #expect(try fixture.file(done, is: "size=3000000&seed=59"))
        await fixture.service.shutdown()
    }

    @Test("Headers for one origin are not sent to another; credentials of the new URL are")
    func headersStay() async throws {
        let fixture = try await ServiceFixture()
        let other = try await ServiceFixture()
        let made = try await fixture.add("size=1000&seed=60") {
            $0.startsPaused = true
            $0.headers = .of(["X-Key": "secret", "Authorization": "old", "User-Agent": "mine"])
        }
        let url = try other.url("size=1000&seed=60")
        _ = try await fixture.service.change(
            made.id,
            change {
                $0.url = url
                $0.headers = .of(["authorization": "new"])
            })
        _ = try await fixture.service.perform(.resume, on: made.id)
        #expect(try await fixture.end(of: made.id).state == .completed)
        let request = try #require(other.requests().last)
        #expect(request.fields[.authorization] == "new")
        #expect(FieldName("X-Key").flatMap { request.fields[$0] } == nil)
        #expect(request.fields[.userAgent] == "mine")
        await fixture.service.shutdown()
        await other.service.shutdown()
    }

    @Test("A forbidden destination is refused, and nothing changes")
    func forbidden() async throws {
        let fixture = try await ServiceFixture(allowsPrivate: false)
        let address = try #require(HTTPURL("http://192.0.2.1/a"))
        let made = try await fixture.service.add(
            NewDownload(url: try #require(HTTPURL("https://example.org/a")), .with { $0.startsPaused = true })
        ).download
        await #expect(throws: DownloadError.self) { try await fixture.service.change(made.id, change { $0.url = address }) }
        #expect(fixture.service.index.download(made.id)?.url == "https://example.org/a")
        await fixture.service.shutdown()
    }

    @Test("A retried download precedes later arrivals")
    func place() async throws {
        let fixture = try await ServiceFixture {
            $0.maxConcurrent = 1
            $0.stallTimeout = .seconds(8)
        }
        let failing = try await fixture.add("size=1000&seed=61&fault=503x1,retry-after=1")
        _ = try await fixture.follow(failing.id) { $0.state == .retrying || $0.state == .completed }
        // The first one keeps the slot much longer than the wait for the next attempt takes.
        var others = [try await fixture.add("size=1000&seed=70&fault=stall@500;times=1").id]
        for seed in 71..<74 { others.append(try await fixture.add("size=1000&seed=\(seed)").id) }
        for id in [failing.id] + others { _ = try await fixture.end(of: id) }
        let asked = fixture.requests().map(\.target)
        let again = try #require(asked.lastIndex { $0.contains("seed=61") })
        let later = (71..<74).filter { seed in asked.firstIndex { $0.contains("seed=\(seed)") }.map { $0 > again } ?? false }
        #expect(later == [71, 72, 73])
        await fixture.service.shutdown()
    }
}
