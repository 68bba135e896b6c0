import HTTPCore
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadTransfer
@testable import Downloads

/// Files for which several origins declare the same bytes. For the service, another tag makes another target of the
/// same origin.
@Suite("Mirrors", .serialized, .timeLimit(.minutes(3)))
@OffPool
struct MirrorTests {
    nonisolated static let size = 12_000_000
    /// The first connection stops for a while, so that others are needed.
    nonisolated static let origin = "size=\(size)&seed=80&etag=a&fault=stall@1000000;times=1"

    /// The digest of all bytes of a synthetic entity.
    private func checksum(of query: String) throws -> Checksum {
        let bytes = try #require(TestUpstream.content(of: "/entity?" + query)?.bytes)
        return try Checksum(parsing: "sha-256:" + SHA256.hexadecimal(of: bytes))
    }

    private func finished(
        _ fixture: ServiceFixture, _ query: String, mirrors: [String], checksum: Checksum? = nil
    ) async throws -> Download {
        let urls = try mirrors.map { try fixture.url($0) }
        let made = try await fixture.add(query) { new in
            new.mirrors = urls
            new.checksum = checksum
        }
        return try await fixture.end(of: made.id)
    }

    private func expectExact(_ fixture: ServiceFixture, _ done: Download) throws {
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done, is: "size=\(Self.size)&seed=80"))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let mirror: String
        /// Whether there are several requests for its bytes.
        let isUsed: Bool
        var testDescription: String { name }
    }

    @Test(
        "With a checksum, a mirror's fault does not affect the download",
        arguments: [
            Case(name: "one with tags of its own shares the work", mirror: "size=\(size)&seed=80&etag=b", isUsed: true),
            Case(name: "one with another length is dropped", mirror: "size=\(size + 1)&seed=80&etag=b", isUsed: false),
            Case(name: "one without the file is dropped", mirror: "size=\(size)&seed=80&etag=b&fault=404", isUsed: false),
            Case(
                name: "one that does no ranges is dropped", mirror: "size=\(size)&seed=80&etag=b&fault=ignore-ranges",
                isUsed: false),
            Case(
                name: "one that gives no validator shares the work", mirror: "size=\(size)&seed=80&fault=no-validator",
                isUsed: true),
            Case(name: "one that hangs up is dropped", mirror: "size=\(size)&seed=80&etag=b&fault=reset@0", isUsed: false),
            Case(
                name: "one that changes in between is dropped",
                mirror: "size=\(size)&seed=80&etag=b&fault=ignore-if-range,wrong-total;from=2", isUsed: false),
        ])
    func oneMirror(_ rule: Case) async throws {
        let fixture = try await ServiceFixture { $0.stallTimeout = .seconds(1) }
        let checksum = try checksum(of: "size=\(Self.size)&seed=80")
        let done = try await finished(fixture, Self.origin, mirrors: [rule.mirror], checksum: checksum)
        try expectExact(fixture, done)
        let asked = fixture.requests().filter { $0.target.contains("etag=b") || $0.target.contains("no-validator") }
        #expect(!asked.isEmpty)
        if rule.isUsed { #expect(asked.contains { $0.status == 206 }) }
        await fixture.service.shutdown()
    }

    @Test("Without a proof, one file comes from one source")
    func unproven() async throws {
        let fixture = try await ServiceFixture { $0.stallTimeout = .seconds(1) }
        // The mirror has other bytes, which only the checksum detects.
        let done = try await finished(fixture, Self.origin, mirrors: ["size=\(Self.size)&seed=81&etag=b"])
        try expectExact(fixture, done)
        #expect(!fixture.requests().contains { $0.target.contains("etag=b") })
        await fixture.service.shutdown()
    }

    @Test(
        "Without a proof, a mirror replaces a failed origin, from the first byte on",
        arguments: [(12_000_000, 4), (12_000_000, 1), (900_000, 4)])
    func replaced(size: Int, segments: Int) async throws {
        let fixture = try await ServiceFixture { $0.segments = segments }
        // Slow enough that its connections do not end before all are made.
        let mirror = "size=\(size)&seed=83&etag=b&pace=20000000"
        let done = try await finished(
            fixture, "size=\(size)&seed=82&etag=a&fault=reset@300000;times=1,404;from=2", mirrors: [mirror])
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done, is: "size=\(size)&seed=83"))
        let asked = fixture.requests().filter { $0.target.contains("etag=b") }
        #expect(asked.first?.range == nil)
        // It is the source now, and may get several connections.
        #expect((asked.count > 1) == (size > 8 << 20 && segments > 1))
        await fixture.service.shutdown()
    }

    @Test("Without a proof, waits for an origin that may return, and keeps its bytes")
    func waitedFor() async throws {
        let fixture = try await ServiceFixture { $0.segments = 1 }
        let done = try await finished(
            fixture, "size=900000&seed=82&etag=a&fault=reset@300000;times=1,503;from=2;times=3",
            mirrors: ["size=900000&seed=83&etag=b"])
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done, is: "size=900000&seed=82"))
        #expect(!fixture.requests().contains { $0.target.contains("etag=b") })
        #expect(fixture.requests().last?.range == range(continuing: 300_000))
        await fixture.service.shutdown()
    }

    @Test("Without a proof, a mirror takes over if the download would fail otherwise", arguments: ["503", "reset@0"])
    func lastAttempt(fault: String) async throws {
        let fixture = try await ServiceFixture { $0.segments = 1 }
        let done = try await finished(
            fixture, "size=900000&seed=82&etag=a&fault=reset@300000;times=1,\(fault);from=2",
            mirrors: ["size=900000&seed=83&etag=b"])
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done, is: "size=900000&seed=83"))
        #expect(fixture.requests().filter { $0.target.contains("etag=b") }.map(\.range) == [nil])
        await fixture.service.shutdown()
    }

    @Test("A mirror replaces an origin without the file")
    func deadOrigin() async throws {
        let fixture = try await ServiceFixture()
        let done = try await finished(
            fixture, "size=\(Self.size)&seed=80&fault=404", mirrors: ["size=\(Self.size)&seed=80&etag=b"])
        try expectExact(fixture, done)
        await fixture.service.shutdown()
    }

    @Test("Bytes of a mirror that replaced the origin are continued there, even after a restart", arguments: [false, true])
    func continued(restarting: Bool) async throws {
        let before = try await ServiceFixture { $0.segments = 1 }
        let mirror = "size=\(Self.size)&seed=80&etag=b&fault=stall@1000000;times=1"
        let url = try before.url(mirror)
        let made = try await before.add("size=\(Self.size)&seed=80&fault=404") { $0.mirrors = [url] }
        _ = try await before.follow(made.id) { $0.bytesReceived == 1_000_000 }
        _ = try await before.service.perform(.pause, on: made.id)
        var after = before
        if restarting {
            await before.service.shutdown()
            after = try await ServiceFixture(continuing: before) { $0.segments = 1 }
        }
        _ = try await after.service.perform(.resume, on: made.id)
        try expectExact(after, try await after.end(of: made.id))
        #expect(after.requests().last?.range == range(continuing: 1_000_000))
        #expect(after.requests().last?.target.contains("etag=b") == true)
        await after.service.shutdown()
    }

    @Test(
        "With a checksum, a mirror completes the bytes of a failed origin",
        arguments: [
            (12_000_000, 4, "reset@3000000;times=1,404;from=2"), (12_000_000, 1, "reset@3000000;times=1,404;from=2"),
            (900_000, 4, "reset@300000;times=1,404;from=2"), (900_000, 4, "truncate@300000"),
        ])
    func dyingOrigin(size: Int, segments: Int, fault: String) async throws {
        let fixture = try await ServiceFixture { $0.segments = segments }
        let content = "size=\(size)&seed=82"
        let done = try await finished(
            fixture, "\(content)&etag=a&fault=\(fault)", mirrors: ["\(content)&etag=b"], checksum: checksum(of: content))
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done, is: content))
        let asked = fixture.requests().filter { $0.target.contains("etag=b") }
        #expect(!asked.isEmpty && asked.allSatisfy { $0.status == 206 })
        await fixture.service.shutdown()
    }

    @Test(
        "With a checksum, the next mirror completes the bytes of an empty one",
        arguments: [
            "size=50000&fault=404", "size=50000&fault=500", "size=50001", "size=49999", "size=50000&fault=reset@0",
        ], [1, 4])
    func secondMirror(first: String, segments: Int) async throws {
        let fixture = try await ServiceFixture { $0.segments = segments }
        let content = "size=50000&seed=85"
        let done = try await finished(
            fixture, "\(content)&etag=a&fault=truncate@20000;times=1,404;from=2",
            mirrors: ["\(first)&seed=85&etag=b", "\(content)&etag=c"], checksum: checksum(of: content))
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done, is: content))
        #expect(fixture.requests().last?.range == range(continuing: 20_000) + "49999")
        await fixture.service.shutdown()
    }

    @Test(
        "Only with a checksum does a mirror continue bytes of an origin that fails at the resumption",
        arguments: [true, false])
    func goneOrigin(isProven: Bool) async throws {
        let before = try await ServiceFixture { $0.segments = 1 }
        let content = "size=900000&seed=83"
        let checksum = isProven ? try checksum(of: content) : nil
        let mirror = try before.url("\(content)&etag=b")
        let made = try await before.add("\(content)&etag=a&fault=stall@300000;times=1,404;from=2") {
            $0.mirrors = [mirror]
            $0.checksum = checksum
        }
        _ = try await before.follow(made.id) { $0.bytesReceived == 300_000 }
        _ = try await before.service.perform(.pause, on: made.id)
        await before.service.shutdown()
        let after = try await ServiceFixture(continuing: before) { $0.segments = 1 }
        _ = try await after.service.perform(.resume, on: made.id)
        let done = try await after.end(of: made.id)
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try after.file(done, is: content))
        #expect(after.requests().last?.range == (isProven ? range(continuing: 300_000) + "899999" : nil))
        #expect(done.mediaType == "application/octet-stream")
        await after.service.shutdown()
    }

    @Test("If no source has the missing bytes, reports the origin's failure and keeps the bytes", arguments: [true, false])
    func noSourceLeft(isProven: Bool) async throws {
        let fixture = try await ServiceFixture()
        let done = try await finished(
            fixture, "size=900000&seed=84&etag=a&fault=reset@300000;times=1,404;from=2",
            mirrors: ["size=900001&seed=84&etag=b", "size=900000&seed=84&etag=c&fault=410"],
            checksum: isProven ? checksum(of: "size=900000&seed=84") : nil)
        #expect(done.state == .failed)
        #expect(done.error?.code == .httpStatus && done.error?.httpStatus == 404)
        #expect(done.bytesReceived == 300_000)
        await fixture.service.shutdown()
    }

    @Test("Fetches a mirror's bytes again without it if they do not match the checksum")
    func wrongBytes() async throws {
        let fixture = try await ServiceFixture { $0.stallTimeout = .seconds(1) }
        let checksum = try checksum(of: "size=\(Self.size)&seed=80")
        let done = try await finished(fixture, Self.origin, mirrors: ["size=\(Self.size)&seed=81&etag=b"], checksum: checksum)
        try expectExact(fixture, done)
        await fixture.service.shutdown()
    }

    @Test("A mirror with wrong bytes is not used again after a crash or a pause", arguments: [false, true])
    func lastingDistrust(pausing: Bool) async throws {
        let before = try await ServiceFixture {
            $0.segments = 1
            $0.stallTimeout = .seconds(60)
        }
        let checksum = try checksum(of: "size=\(Self.size)&seed=80")
        let mirror = try before.url("size=\(Self.size)&seed=81&etag=b")
        let origin = "size=\(Self.size)&seed=80&etag=a&fault=truncate@1000000;times=1,stall@7000000;from=2;times=1"
        let made = try await before.add(origin) {
            $0.mirrors = [mirror]
            $0.checksum = checksum
        }
        let isMirror = { @Sendable (request: LoggedRequest) in request.target.contains("etag=b") }
        // The mirror's first bytes differ. The origin stalls after 7,000,000 bytes of the file, or of the rest if its end came
        // before them. Bytes of the mirror may reach this count, too, before they are discarded.
        let rest = 1_000_000 - Int64(ResumeDecision.overlap)
        let stalled = try await before.follow(made.id) { download in
            [7_000_000, 7_000_000 + rest].contains(download.bytesReceived)
                && before.requests().count(where: { !isMirror($0) }) > 1
        }
        if pausing { _ = try await before.service.perform(.pause, on: made.id) }
        let asked = before.requests().count(where: isMirror)
        #expect(asked > 0)
        let after = try await before.crash(configure: { $0.segments = 1 })
        if pausing { _ = try await after.service.perform(.resume, on: made.id) }
        try expectExact(after, try await after.end(of: made.id))
        #expect(after.requests().count(where: isMirror) == asked)
        if pausing { #expect(after.requests().last?.range == range(continuing: stalled.bytesReceived)) }
        await after.service.shutdown()
        await before.service.shutdown()
    }

    @Test(
        "Wrong bytes of the own URL lead to a mirror of right ones",
        arguments: ["size=900000&seed=85", "size=800000&seed=84", "size=950000&seed=84", "size=0&seed=84"], [false, true])
    func wrongOwnBytes(_ own: String, hasWrongMirror: Bool) async throws {
        let fixture = try await ServiceFixture()
        let checksum = try checksum(of: "size=900000&seed=84")
        let wrong = hasWrongMirror ? ["size=900000&seed=86&etag=c"] : []
        let done = try await finished(
            fixture, own + "&etag=a", mirrors: wrong + ["size=900000&seed=84&etag=b"], checksum: checksum)
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done, is: "size=900000&seed=84"))
        await fixture.service.shutdown()
    }

    @Test("If all sources have wrong bytes, each is asked for all of them at most twice")
    func onlyWrongBytes() async throws {
        let fixture = try await ServiceFixture()
        let checksum = try checksum(of: "size=900000&seed=84")
        let done = try await finished(
            fixture, "size=900000&seed=85&etag=a", mirrors: ["size=900000&seed=86&etag=b", "size=900000&seed=87&etag=c"],
            checksum: checksum)
        #expect(done.state == .failed && done.error?.code == .checksumMismatch)
        for tag in ["a", "b", "c"] {
            #expect((1...2).contains(fixture.requests().count { $0.target.contains("etag=\(tag)") }), "etag=\(tag)")
        }
        await fixture.service.shutdown()
    }

    @Test("After wrong bytes of a redirect's target, another target is asked", arguments: [1, 3, 4])
    func wrongTarget(wrongRedirects: Int) async throws {
        let right = [UInt8](repeating: 1, count: 70_000)
        let redirects = Locked(0)
        let origin = try ScriptedOrigin { request in
            guard request.target == "/start" else {
                let isRight = request.target.hasPrefix("/right")
                return [.response(200, [("ETag", "\"v\"")], body: isRight ? right : [0] + right.dropFirst())]
            }
            let number = redirects.withLock { number in
                number += 1
                return number
            }
            return [.response(302, [("Location", number <= wrongRedirects ? "/wrong?signature=\(number)" : "/right")])]
        }
        let fixture = try await ServiceFixture()
        let url = try #require(HTTPURL(origin.url("/start")))
        let digest = SHA256.hexadecimal(of: right)
        let done = try await fixture.end(
            of: try await fixture.service.add(
                NewDownload(url: url, try .with { $0.checksum = try Checksum(parsing: "sha-256:" + digest) })
            )
            .download.id)
        if wrongRedirects <= 3 {
            #expect(done.state == .completed, "\(String(describing: done.error))")
            #expect(try fixture.file(done) == right)
        } else {
            #expect(done.error?.code == .checksumMismatch && done.error?.message.contains(digest) == true)
        }
        #expect(redirects.withLock { $0 } == min(wrongRedirects + 1, 4))
        await fixture.service.shutdown()
    }

    @Test("Distributes connections over the remaining sources")
    func spread() {
        var table = SourceTable(count: 3)
        #expect(table.next(busy: [], combining: true) == 0)
        #expect(table.next(busy: [0], combining: true) == 1)
        #expect(table.next(busy: [0, 1], combining: true) == 2)
        #expect(table.next(busy: [0, 1], combining: false) == 0)
        table.drop(1)
        #expect(table.next(busy: [0], combining: true) == 2)
        #expect(table.next(busy: [0, 2], combining: true) == 0)
        table.drop(0)
        #expect(table.next(busy: [], combining: true) == 0)
        let replacement = table.replaceFirst()
        #expect(replacement == 2)
        #expect(table.first == 2)
        let nobody = table.replaceFirst()
        #expect(nobody == nil)

        #expect(SourceTable(count: 3, excluding: [0, 2]).first == 1)
        #expect(SourceTable(count: 2, excluding: [0, 1]).first == 0)

        var pair = SourceTable(count: 2)
        let isLeft = pair.retireFirst()
        #expect(isLeft)
        #expect(pair.next(busy: [1, 1], combining: true) == 1)
        pair.drop(1)
        #expect(pair.next(busy: [], combining: true) == 0)
        let isStillLeft = pair.retireFirst()
        #expect(!isStillLeft)
    }
}
