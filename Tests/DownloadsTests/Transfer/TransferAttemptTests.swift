import Foundation
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadFiles
@testable import DownloadStore
@testable import DownloadTransfer

/// One attempt after another against origins with scripted bytes. Files consist of one letter each, so that a mixture
/// is visible.
@Suite("Attempts", .timeLimit(.minutes(3)))
@OffPool
struct TransferAttemptTests {
    nonisolated static let mib = 1 << 20
    nonisolated static let modified = "Sat, 21 Nov 2026 09:00:00 GMT"
    nonisolated static let later = "Sat, 21 Nov 2026 09:00:01 GMT"
    nonisolated static let date = "Sat, 21 Nov 2026 10:00:00 GMT"

    typealias Field = (name: String, value: String)
    typealias Step = ScriptedOrigin.Step

    /// The start and end of a request's range; `total` is the end of an open one.
    nonisolated static func range(_ request: ScriptedOrigin.Request, _ total: Int) -> Range<Int>? {
        guard let parts = request["Range"]?.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false),
            let start = Int(parts[0])
        else { return nil }
        return start..<(Int(parts[1]).map { $0 + 1 } ?? total)
    }

    /// The head and the first `count` bytes of a response with `range` of a file.
    nonisolated static func part(
        _ range: Range<Int>, of total: Int, _ letter: Character, _ fields: [Field], count: Int? = nil, known: Int = 0
    ) -> Step {
        body(
            206, [("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)")] + fields, range.count, letter,
            count, known: known - range.lowerBound)
    }

    nonisolated static func whole(_ total: Int, _ letter: Character, _ fields: [Field], count: Int? = nil) -> Step {
        body(200, fields, total, letter, count)
    }

    nonisolated static func body(
        _ status: Int, _ fields: [Field], _ length: Int, _ letter: Character, _ count: Int?, known: Int = 0
    ) -> Step {
        var head = "HTTP/1.1 \(status) Status\r\nContent-Length: \(length)\r\n"
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        // The first bytes are those that are present.
        let old = max(0, known)
        return .send(Array((head + "\r\n").utf8) + bytes("a", old) + bytes(letter, (count ?? length) - old))
    }

    nonisolated static func bytes(_ letter: Character, _ count: Int) -> [UInt8] {
        [UInt8](repeating: letter.asciiValue ?? 0, count: count)
    }

    // MARK: - Small files

    @Test(
        "A small file that arrives in one piece is created as a whole one",
        arguments: [(0, 0), (1, 1), (2_000, 2_000), (2_000, 7)])
    func smallFileIsCreatedWhole(length: Int, first: Int) async throws {
        let fixture = try AttemptFixture()
        let content = Self.bytes("a", length)
        let gate = Gate()
        let origin = try ScriptedOrigin { _ in
            let rest: [Step] = first == length ? [] : [.wait(gate), .send(Array(content[first...]))]
            return [Self.whole(length, "a", [], count: first)] + rest
        }
        let ending = try await fixture.run(
            [origin.url("/a")],
            isReport: { report in
                if case .opened = report { gate.open() }
            })
        #expect(ending.isWhole, "\(ending.outcome)")
        #expect(try fixture.bytes() == Data(content))
        let name = try #require(PartName((fixture.part as NSString).lastPathComponent))
        #expect(name.sha256 == (length > 0 && first == length ? SHA256.digest(of: content) : nil))
    }

    @Test("A small file that contradicts its checksum is not created as a whole one")
    func contradictingFileIsNotWhole() async throws {
        let fixture = try AttemptFixture()
        let origin = try ScriptedOrigin { _ in [Self.whole(3, "a", [])] }
        let checksum = try #require(Checksum(.sha256, bytes: SHA256.digest(of: Self.bytes("b", 3))))
        let ending = try await fixture.run([origin.url("/a")], checksum: checksum)
        #expect(ending.isWhole, "\(ending.outcome)")
        #expect(PartName((fixture.part as NSString).lastPathComponent)?.sha256 == nil)
        #expect(try fixture.bytes() == Data(Self.bytes("a", 3)))
    }

    // MARK: - A 206 must prove itself

    struct Proof: Sendable, CustomTestStringConvertible {
        let name: String
        let saved: SavedEntity
        let fields: [Field]
        let isTaken: Bool
        var testDescription: String { name }
    }

    nonisolated static func entity(etag: String? = nil, isDated: Bool = false) -> SavedEntity {
        SavedEntity(
            etag: etag.map { FieldValue($0) }, lastModified: isDated ? FieldValue(modified) : nil, date: isDated ? date : nil)
    }

    nonisolated static let proofs: [Proof] = [
        Proof(name: "the saved ETag", saved: entity(etag: #""a""#), fields: [("ETag", #""a""#)], isTaken: true),
        Proof(name: "a saved ETag is missing", saved: entity(etag: #""a""#), fields: [], isTaken: false),
        Proof(name: "another ETag", saved: entity(etag: #""a""#), fields: [("ETag", #""b""#)], isTaken: false),
        Proof(name: "the saved ETag, weak", saved: entity(etag: #""a""#), fields: [("ETag", #"W/"a""#)], isTaken: false),
        Proof(
            name: "the saved ETag with another Last-Modified", saved: entity(etag: #""a""#, isDated: true),
            fields: [("ETag", #""a""#), ("Last-Modified", later)], isTaken: false),
        Proof(
            name: "the saved ETag without Last-Modified", saved: entity(etag: #""a""#, isDated: true),
            fields: [("ETag", #""a""#)], isTaken: true),
        Proof(name: "the saved date", saved: entity(isDated: true), fields: [("Last-Modified", modified)], isTaken: true),
        Proof(name: "a saved date is missing", saved: entity(isDated: true), fields: [], isTaken: true),
        Proof(name: "another date", saved: entity(isDated: true), fields: [("Last-Modified", later)], isTaken: false),
        Proof(name: "an ETag where there was none", saved: entity(isDated: true), fields: [("ETag", #""a""#)], isTaken: false),
    ]

    @Test("Continues bytes only by a 206 that proves to be of the same file", arguments: proofs)
    func resumed(_ proof: Proof) async throws {
        let total = 20_000
        let origin = try ScriptedOrigin { request in
            guard let range = Self.range(request, total) else { return [Self.whole(total, "b", [("ETag", #""new""#)])] }
            return [Self.part(range, of: total, "b", proof.fields, known: total / 2)]
        }
        var saved = proof.saved
        saved.total = Int64(total)
        let fixture = try AttemptFixture(entity: saved, bytes: Self.bytes("a", total / 2))
        let ending = try await fixture.run([origin.url("/file")])
        #expect(ending.isWhole, "\(ending.outcome)")
        let kept = proof.isTaken ? total / 2 : 0
        #expect(try fixture.bytes() == Data(Self.bytes("a", kept) + Self.bytes("b", total - kept)))
    }

    /// The first connection is to one server, the others are to another one with another file.
    @Test("Never combines segments of two servers behind one URL", arguments: proofs.filter { !$0.isTaken })
    func twoServers(_ proof: Proof) async throws {
        let total = 12 * Self.mib
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            if request.number == 0 {
                var fields: [Field] = []
                if let etag = proof.saved.etag { fields.append(("ETag", etag.latin1)) }
                if let modified = proof.saved.lastModified {
                    fields += [("Last-Modified", modified.latin1), ("Date", Self.date)]
                }
                return [Self.whole(total, "a", fields, count: Self.mib), .wait(gate), .close]
            }
            guard let range = Self.range(request, total) else { return [Self.whole(total, "b", [("ETag", #""new""#)])] }
            return [Self.part(range, of: total, "b", proof.fields)]
        }
        defer { gate.open() }
        let fixture = try AttemptFixture()
        let ending = try await fixture.run([origin.url("/file")])
        #expect(ending.isWhole, "\(ending.outcome)")
        #expect(try fixture.bytes() == Data(Self.bytes("b", total)))
    }

    // MARK: - Origins that ignore ranges

    @Test("A whole file under the saved ETag discards no bytes")
    func wholeAgain() async throws {
        let total = 12 * Self.mib
        let origin = try ScriptedOrigin { request in
            // The repeated bytes are lost on the way.
            [Self.whole(total, "a", [("ETag", #""a""#)], count: request.number < 3 ? 1000 : nil), .close]
        }
        let saved = SavedEntity(etag: #""a""#, total: Int64(total))
        let gap = Int64(9 * Self.mib)..<Int64(10 * Self.mib)
        let fixture = try AttemptFixture(entity: saved, bytes: Self.bytes("a", total), gap: gap)
        for _ in 0..<2 {
            let ending = try await fixture.run([origin.url("/file")])
            #expect(ending.failure?.retryable == true)
            #expect(ending.written.byteCount == Int64(11 * Self.mib))
        }
        #expect(try await fixture.run([origin.url("/file")]).isWhole)
        #expect(try fixture.bytes() == Data(Self.bytes("a", total)))
        #expect(Set(origin.requests.map { $0["Range"] }) == ["bytes=\(gap.lowerBound - ResumeDecision.overlap)-"])
    }

    @Test("An origin that stops sending ranges continues with one connection, and bytes of the others stay")
    func rangesStop() async throws {
        let total = 12 * Self.mib
        let half = total / 2
        let tag: [Field] = [("ETag", #""a""#)]
        let gate = Gate()
        let last = Gate()
        let origin = try ScriptedOrigin { request in
            switch request.number {
            case 0: [Self.whole(total, "a", tag, count: Self.mib), .wait(gate), .send(Self.bytes("a", total - Self.mib))]
            // Fewer bytes than requested, so that the others are requested again.
            case 1: [Self.part(half..<half + 3 * half / 4, of: total, "a", tag)]
            // If the first response ended before this one is handled, this one would continue.
            case 2: [Self.whole(total, "a", tag, count: 0), .stall, .open(gate)]
            default: [Self.whole(total, "a", tag, count: 1000), .wait(last), .send(Self.bytes("a", total - 1000))]
            }
        }
        let fixture = try AttemptFixture()
        let attempt = Task { try await fixture.run([origin.url("/file")], connections: 2) }
        let requests = try await origin.requests(atLeast: 4)
        #expect(requests[2]["Range"] == "bytes=\(half + 3 * half / 4 - Int(ResumeDecision.overlap))-\(total - 1)")
        #expect(requests[3]["Range"] == requests[2]["Range"])
        last.open()
        let ending = try await attempt.value
        #expect(ending.isWhole, "\(ending.outcome)")
        #expect(fixture.attempts == 1)
        #expect(try fixture.bytes() == Data(Self.bytes("a", total)))
    }

    // MARK: - Short responses

    @Test("A response with almost no requested bytes ends the attempt", arguments: [(10, 2), (2 * Self.mib, 3)])
    func short(count: Int, asked: Int) async throws {
        let total = 6 * Self.mib
        let origin = try ScriptedOrigin { request in
            guard let range = Self.range(request, total) else { return [.response(500)] }
            let end = min(range.lowerBound + count, total)
            return [Self.part(range.lowerBound..<end, of: total, "a", [("ETag", #""a""#)])]
        }
        let saved = SavedEntity(etag: #""a""#, total: Int64(total))
        let fixture = try AttemptFixture(entity: saved, bytes: Self.bytes("a", Self.mib))
        let ending = try await fixture.run([origin.url("/file")])
        #expect(origin.requests.count == asked)
        // A part that only repeats present bytes is followed by a request for the missing ones.
        #expect(ending.written.byteCount == Int64(asked == 2 ? Self.mib + count : total))
        #expect(ending.isWhole == (asked > 2))
        if asked == 2 { #expect(ending.failure?.code == .transferBroken && ending.failure?.retryable == true) }
    }

    @Test("Segments with almost no bytes are left to the first connection")
    func shortSegments() async throws {
        let total = 12 * Self.mib
        let gate = Gate()
        let tag: [Field] = [("ETag", #""a""#)]
        let origin = try ScriptedOrigin { request in
            guard let range = Self.range(request, total) else {
                return [Self.whole(total, "a", tag, count: Self.mib), .wait(gate), .send(Self.bytes("a", total - Self.mib))]
            }
            return [Self.part(range.lowerBound..<range.lowerBound + 10, of: total, "a", tag)]
        }
        let fixture = try AttemptFixture()
        let attempt = Task { try await fixture.run([origin.url("/file")]) }
        try await origin.requests(atLeast: 4)
        gate.open()
        // The first body passes the ends of the others' few bytes; the bytes beyond need another request.
        let ending = try await attempt.value
        #expect(ending.isWhole || ending.failure?.code == .transferBroken)
        #expect(origin.requests.count <= 8)
    }

    // MARK: - Sources

    @Test("Without a proof, a mirror that replaces the source keeps the bytes until its own arrive", arguments: [true, false])
    func replaced(isThere: Bool) async throws {
        let total = 20_000
        let origin = try ScriptedOrigin { _ in [.response(404)] }
        let mirror = try ScriptedOrigin { _ in
            [isThere ? Self.whole(total, "b", [("ETag", #""a""#)]) : .response(503, [("Retry-After", "60")])]
        }
        let saved = SavedEntity(etag: #""a""#, total: Int64(total))
        let fixture = try AttemptFixture(entity: saved, bytes: Self.bytes("a", total / 2))
        let urls = [origin.url("/file"), mirror.url("/file")]
        let ending = try await fixture.run(urls)
        #expect(mirror.requests.map { $0["Range"] } == [nil])
        #expect(ending.isWhole == isThere)
        if isThere {
            #expect(try fixture.bytes() == Data(Self.bytes("b", total)))
            #expect(ending.resume.savedEntity.source == urls[1])
        } else {
            #expect(try fixture.bytes() == Data(Self.bytes("a", total / 2)))
            #expect(ending.written == Coverage(prefix: Int64(total / 2)))
            // The mirror may return, and sends a time.
            #expect(ending.failure?.httpStatus == 503)
            #expect((ending.retryAfter ?? .zero) > .seconds(50))
        }
    }

    @Test("A mirror that became the source resumes, and gets requests for segments")
    func mirrorAsSource() async throws {
        let total = 12 * Self.mib
        let origin = try ScriptedOrigin { _ in [.response(404)] }
        let mirror = try ScriptedOrigin { request in
            let tag: [Field] = [("ETag", #""b""#)]
            guard let range = Self.range(request, total) else {
                return [Self.whole(total, "b", tag, count: 3 * Self.mib), .close]
            }
            return [Self.part(range, of: total, "b", tag)]
        }
        let fixture = try AttemptFixture()
        let urls = [origin.url("/file"), mirror.url("/file")]
        var ending = try await fixture.run(urls)
        if !ending.isWhole { ending = try await fixture.run([urls[0], urls[1]]) }
        #expect(try fixture.bytes() == Data(Self.bytes("b", total)))
        #expect(mirror.requests.filter { $0["Range"] != nil }.allSatisfy { $0["If-Range"] == #""b""# })
        #expect(mirror.requests.count > 1)
        #expect(!ending.hasMixedSources)
    }

    // MARK: - Retry-After

    @Test(
        "The origin's Retry-After reaches the end of the attempt",
        arguments: ["the file", "the rest", "a segment", "a mirror"])
    func retryAfter(_ asked: String) async throws {
        let total = 12 * Self.mib
        let gate = Gate()
        let unavailable = Step.response(asked == "the rest" ? 429 : 503, [("Retry-After", "60")])
        let origin = try ScriptedOrigin { request in
            if asked == "a mirror" { return [.response(404)] }
            guard asked == "a segment" else { return [unavailable] }
            if request.number == 0 {
                return [Self.whole(total, "a", [("ETag", #""a""#)], count: Self.mib), .wait(gate), .reset]
            }
            return [unavailable] + (request.number == 3 ? [.open(gate)] : [])
        }
        let mirror = try ScriptedOrigin { _ in [unavailable] }
        let saved = asked == "the rest" ? SavedEntity(etag: #""a""#, total: Int64(total)) : nil
        let fixture = try AttemptFixture(entity: saved, bytes: saved.map { _ in Self.bytes("a", 1000) })
        let urls = [origin.url("/file")] + (asked == "a mirror" ? [mirror.url("/file")] : [])
        let ending = try await fixture.run(urls)
        #expect(ending.failure?.retryable == true)
        let delay = try #require(ending.retryAfter)
        #expect(delay > .seconds(50) && delay <= .seconds(60))
    }

    // MARK: - Redirects

    @Test(
        "A redirect to a forbidden target fails permanently, with its status",
        arguments: [
            ("http://", .httpStatus, 302), ("http://b.example:99999/", .httpStatus, 301), ("http://[::1/", .httpStatus, 307),
            ("/a\\b", .httpStatus, 308), (nil, .httpStatus, 302), ("/" + String(repeating: "a", count: 70_000), .httpStatus, 302),
            ("ftp://127.0.0.1/", .destinationForbidden, 302), ("mailto:a@b.example", .destinationForbidden, 302),
            ("javascript:alert(1)", .destinationForbidden, 302),
        ] as [(String?, FailureCode, Int)])
    func redirect(location: String?, code: FailureCode, status: Int) async throws {
        let origin = try ScriptedOrigin { _ in
            // The longest one exceeds the limit of a head.
            let fields = location.map { [("Location", $0), ("X-Filler", String($0.suffix(70_000)))] } ?? []
            return [.response(status, fields)]
        }
        let ending = try await AttemptFixture().run([origin.url("/file")])
        let failure = try #require(ending.failure)
        #expect(failure.code == code)
        #expect(!failure.retryable)
        #expect(failure.httpStatus == status)
    }

    // MARK: - Present bytes

    @Test("A new URL proves a complete file by its last bytes", arguments: [true, false])
    func lastBytes(isSame: Bool) async throws {
        let total = 20_000
        let origin = try ScriptedOrigin { request in
            let tag: [Field] = [("ETag", isSame ? #""a""# : #""b""#)]
            guard isSame, let range = Self.range(request, total) else { return [Self.whole(total, "b", tag)] }
            return [Self.part(range, of: total, "b", tag, known: total)]
        }
        let saved = SavedEntity(etag: #""a""#, total: Int64(total), source: "http://old.example/")
        let fixture = try AttemptFixture(entity: saved, bytes: Self.bytes("a", total))
        let ending = try await fixture.run([origin.url("/file")], isVouchedFor: false)
        #expect(ending.isWhole)
        #expect(origin.requests.map { $0["Range"] } == ["bytes=3616-"])
        #expect(origin.requests[0]["If-Range"] == #""a""#)
        #expect(ending.resume.savedEntity.source == nil)
        #expect(try fixture.bytes() == Data(Self.bytes(isSame ? "a" : "b", total)))
    }

    @Test("Continues bytes in the file that the service has opened")
    func openedPart() async throws {
        let total = 20_000
        let origin = try ScriptedOrigin { request in
            let range = Self.range(request, total) ?? 0..<total
            return [Self.part(range, of: total, "a", [("ETag", #""a""#)])]
        }
        let saved = SavedEntity(etag: #""a""#, total: Int64(total))
        let fixture = try AttemptFixture(entity: saved, bytes: Self.bytes("a", total / 2))
        let part = try fixture.partFiles.openPart(fixture.id, fixture.partGeneration, holding: Int64(total / 2))
        // There is no file with the name any more.
        try FileManager.default.moveItem(atPath: fixture.part, toPath: fixture.temporary.path + "/moved")
        let ending = try await fixture.run([origin.url("/file")], part: part)
        #expect(ending.isWhole)
        #expect(!FileManager.default.fileExists(atPath: fixture.part))
        #expect(try Data(contentsOf: URL(filePath: fixture.temporary.path + "/moved")) == Data(Self.bytes("a", total)))
    }
}
