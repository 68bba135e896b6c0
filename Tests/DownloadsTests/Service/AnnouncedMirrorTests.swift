import Foundation
import HTTPClient
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import Downloads

/// Origins that announce mirrors together with a digest of the file.
@Suite("Announced mirrors", .timeLimit(.minutes(3)))
@OffPool
struct AnnouncedMirrorTests {
    nonisolated static let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
    nonisolated static let half = 150_000

    typealias Field = (name: String, value: String)

    private nonisolated static func digest(_ bytes: [UInt8] = content) -> String {
        "SHA-256=\(Base64.encode(SHA256.digest(of: bytes)))"
    }

    /// A host of a file, whole or in ranges.
    private nonisolated static func mirror(_ content: [UInt8] = content) throws -> ScriptedOrigin {
        try ScriptedOrigin { request in
            guard let range = request["Range"]?.dropFirst(6).split(separator: "-").compactMap({ Int($0) }), range.count == 2
            else { return [.response(200, [("ETag", "\"mirror\"")], body: content)] }
            let fields = [("ETag", "\"mirror\""), ("Content-Range", "bytes \(range[0])-\(range[1])/\(content.count)")]
            return [.response(206, fields, body: Array(content[range[0]...range[1]]))]
        }
    }

    /// The head of a response with the whole file, and half of its body.
    private nonisolated static func broken(_ fields: [Field]) -> [ScriptedOrigin.Step] {
        var head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\nContent-Length: \(content.count)\r\n"
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        return [.text(head + "\r\n"), .send(Array(content[..<half]))]
    }

    /// The rest of the file, as the announcing origin sends it.
    private nonisolated static func rest() -> ScriptedOrigin.Step {
        .response(
            206, [("ETag", "\"v1\""), ("Content-Range", "bytes 133616-\(content.count - 1)/\(content.count)")],
            body: Array(content[133_616...]))
    }

    private func link(_ origin: ScriptedOrigin, _ more: String = "") -> String {
        "<\(origin.url("/mirror.bin"))>; rel=duplicate\(more)"
    }

    private func add(_ fixture: ServiceFixture, _ origin: ScriptedOrigin) async throws -> Download {
        var headers = RequestHeaders()
        try headers.append(FieldName(constant: "X-Secret"), "s3cret")
        try headers.append(.authorization, "Bearer s3cret")
        try headers.append(.userAgent, "mine")
        let url = try #require(HTTPURL(origin.url("/file.bin")))
        return try await fixture.service.add(NewDownload(url: url, .with { $0.headers = headers })).download
    }

    @Test("A mirror that the origin announces with a digest brings the missing bytes, and gets no secret of the request")
    func handedOver() async throws {
        let (first, second) = (try Self.mirror(), try Self.mirror())
        let links: [Field] = [
            ("Link", link(second, "; pri=2")), ("Link", link(first, "; pri=1; geo=de")), ("Digest", Self.digest()),
        ]
        let origin = try ScriptedOrigin { request in
            request.number == 0 ? Self.broken(links) + [.close] : [.response(404)]
        }
        let fixture = try await ServiceFixture()
        let done = try await fixture.end(of: try await add(fixture, origin).id)
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done) == Self.content)
        #expect(origin.requests.count == 1 && origin.requests.first?["X-Secret"] == "s3cret")
        #expect(first.requests.map { $0["Range"] } == [range(continuing: Self.half) + "\(Self.content.count - 1)"])
        #expect(second.requests.isEmpty)
        for request in first.requests {
            #expect(request.target == "/mirror.bin")
            #expect(!request.head.contains("s3cret") && request["Authorization"] == nil && request["User-Agent"] == "mine")
        }
        await fixture.service.shutdown()
    }

    @Test("Wrong bytes of the origin lead to the mirror that it announces", arguments: [true, false])
    func wrongOwnBytes(isShorter: Bool) async throws {
        let mirror = try Self.mirror()
        let fields: [Field] = [("ETag", "\"v1\""), ("Link", link(mirror)), ("Digest", Self.digest())]
        let wrong = isShorter ? Array(Self.content.dropLast(7)) : Self.content.reversed()
        let origin = try ScriptedOrigin { _ in [.response(200, fields, body: wrong)] }
        let fixture = try await ServiceFixture()
        let done = try await fixture.end(of: try await add(fixture, origin).id)
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done) == Self.content)
        #expect(origin.requests.count == 1)
        #expect(mirror.requests.allSatisfy { !$0.head.contains("s3cret") })
        await fixture.service.shutdown()
    }

    @Test("An announced mirror shares the work of a large file")
    func shared() async throws {
        let content = [UInt8](repeating: 9, count: 9 << 20)
        let mirror = try Self.mirror(content)
        let links: [Field] = [("Link", link(mirror)), ("Repr-Digest", "sha-256=:\(Base64.encode(SHA256.digest(of: content))):")]
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            guard let range = request["Range"]?.dropFirst(6).split(separator: "-").compactMap({ Int($0) }), range.count == 2
            else {
                var head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nAccept-Ranges: bytes\r\nContent-Length: \(content.count)\r\n"
                for (name, value) in links { head += "\(name): \(value)\r\n" }
                return [.text(head + "\r\n"), .send(Array(content[..<65_536])), .wait(gate), .send(Array(content[65_536...]))]
            }
            let fields = [("ETag", "\"v1\""), ("Content-Range", "bytes \(range[0])-\(range[1])/\(content.count)")]
            return [.response(206, fields, body: Array(content[range[0]...range[1]]))]
        }
        let fixture = try await ServiceFixture { $0.segments = 2 }
        let made = try await add(fixture, origin)
        let first = try await mirror.requests(atLeast: 1)[0]
        gate.open()
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try Data(fixture.file(done)) == Data(content))
        #expect(first["Range"] != nil && !first.head.contains("s3cret"))
        await fixture.service.shutdown()
    }

    enum Ignored: CaseIterable {
        case withoutDigest, byOption, byGuard, withAnotherDigest
    }

    @Test(
        "Announcements without a digest, against the client's checksum, the guard or the option are ignored",
        arguments: Ignored.allCases)
    func ignored(_ reason: Ignored) async throws {
        let mirror = try Self.mirror()
        let digest = reason == .withAnotherDigest ? Self.digest([1]) : Self.digest()
        var fields: [Field] = [("Link", link(mirror))]
        if reason != .withoutDigest { fields.append(("Digest", digest)) }
        let sent = fields
        let origin = try ScriptedOrigin { request in
            if request.target == "/start" { return [.response(302, [("Location", "/file.bin")] + sent)] }
            return request["Range"] == nil ? Self.broken(reason == .withAnotherDigest ? [] : sent) + [.close] : [Self.rest()]
        }
        let denied = try DestinationRule(parsing: "127.0.0.1:\(mirror.port)")
        let fixture = try await ServiceFixture {
            if reason == .byOption { $0.ignoresAnnouncedMirrors = true }
            if reason == .byGuard {
                $0.destinationGuard = DestinationGuard(allowsPrivate: true, allowed: [], denied: [denied])
            }
        }
        let path = reason == .withAnotherDigest ? "/start" : "/file.bin"
        let url = try #require(HTTPURL(origin.url(path)))
        let checksum = Checksum(.sha256, bytes: SHA256.digest(of: Self.content))
        let made = try await fixture.service.add(
            NewDownload(url: url, .with { $0.checksum = reason == .withAnotherDigest ? checksum : nil })
        ).download
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done) == Self.content)
        #expect(mirror.requests.isEmpty && mirror.connectionCount == 0)
        await fixture.service.shutdown()
    }

    @Test("A redirect announces mirrors as well, and its digest proves the file", arguments: [true, false])
    func redirected(isRight: Bool) async throws {
        let (mirror, closed) = (try Self.mirror(isRight ? Self.content : Self.content.reversed()), try ClosedPort())
        let links: [Field] = [
            ("Link", link(mirror)), ("Digest", Self.digest()), ("Location", "http://127.0.0.1:\(closed.number)/f"),
        ]
        let origin = try ScriptedOrigin { _ in [.response(302, links)] }
        let fixture = try await ServiceFixture()
        let done = try await fixture.end(of: try await add(fixture, origin).id)
        #expect(done.state == (isRight ? .completed : .failed), "\(String(describing: done.error))")
        if isRight { #expect(try fixture.file(done) == Self.content) }
        #expect(try fixture.names(in: "files").count == (isRight ? 1 : 0))
        // A mirror with other bytes is not asked again.
        #expect(mirror.requests.map { $0["Range"] } == [nil] && mirror.requests.first?["X-Secret"] == nil)
        #expect(done.error?.code == (isRight ? nil : .connectionFailed), "\(closed.number)")
        await fixture.service.shutdown()
    }

    @Test("Wrong bytes of an announced mirror are fetched again without it, also after a crash", arguments: [false, true])
    func wrongBytes(crashing: Bool) async throws {
        let mirror = try Self.mirror(Self.content.reversed())
        let links: [Field] = [("Link", link(mirror)), ("Digest", Self.digest())]
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            switch request.number {
            case 0: Self.broken(links) + [.close]
            default:
                [.wait(gate), .response(200, [("ETag", "\"v1\"")] + links, body: Self.content)]
            }
        }
        var fixture = try await ServiceFixture()
        let made = try await add(fixture, origin)
        // The mirror's bytes have been discarded.
        try await origin.requests(atLeast: 2)
        let before = fixture
        if crashing { fixture = try await before.crash() }
        gate.open()
        let done = try await fixture.end(of: made.id)
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done) == Self.content)
        #expect(mirror.requests.count == 1)
        await fixture.service.shutdown()
        await before.service.shutdown()
    }

    @Test("Announced mirrors bring the missing bytes after a restart, when the origin is gone", arguments: [true, false])
    func restarted(isUsed: Bool) async throws {
        let mirror = try Self.mirror()
        let links: [Field] = [("Link", link(mirror)), ("Digest", Self.digest())]
        let origin = try ScriptedOrigin { request in
            request.number == 0 ? Self.broken(links) + [.stall] : [.response(404)]
        }
        let before = try await ServiceFixture()
        let made = try await add(before, origin)
        _ = try await before.follow(made.id) { $0.bytesReceived == Int64(Self.half) }
        _ = try await before.service.perform(.pause, on: made.id)
        await before.service.shutdown()
        let after = try await ServiceFixture(continuing: before) { $0.ignoresAnnouncedMirrors = !isUsed }
        _ = try await after.service.perform(.resume, on: made.id)
        let done = try await after.end(of: made.id)
        #expect(done.state == (isUsed ? .completed : .failed), "\(String(describing: done.error))")
        if isUsed { #expect(try after.file(done) == Self.content) }
        #expect(
            mirror.requests.map { $0["Range"] } == (isUsed ? [range(continuing: Self.half) + "\(Self.content.count - 1)"] : []))
        #expect(mirror.requests.allSatisfy { !$0.head.contains("s3cret") })
        await after.service.shutdown()
    }
}
