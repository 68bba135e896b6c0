import Foundation
import HTTPCore
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore

/// Responses of other versions, codings and kinds than the present bytes, byte by byte as origins send them.
@Suite("Versions in responses", .timeLimit(.minutes(3)))
@OffPool
struct VersionTests {
    nonisolated static let mib = 1 << 20

    typealias Step = ScriptedOrigin.Step

    /// A response with a tag of any bytes, and the first `count` bytes of its body.
    nonisolated static func body(
        _ status: Int, _ tag: [UInt8]?, _ fields: [String], _ length: Int, _ letter: Character, count: Int? = nil, known: Int = 0
    ) -> Step {
        var head = Array("HTTP/1.1 \(status) Status\r\nContent-Length: \(length)\r\n".utf8)
        for field in fields { head += Array("\(field)\r\n".utf8) }
        if let tag { head += Array("ETag: \"".utf8) + tag + Array("\"\r\n".utf8) }
        let bytes =
            [UInt8](repeating: 0x61, count: known) + [UInt8](repeating: letter.asciiValue ?? 0, count: (count ?? length) - known)
        return .send(head + Array("\r\n".utf8) + bytes)
    }

    /// The response for the range of a request.
    nonisolated static func part(
        _ request: ScriptedOrigin.Request, of total: Int, _ tag: [UInt8]?, _ letter: Character, _ fields: [String] = [],
        count: Int? = nil, known: Int = 0
    ) -> Step {
        guard let range = TransferAttemptTests.range(request, total) else { return body(200, tag, fields, total, letter) }
        let place = "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)"
        return body(206, tag, [place] + fields, range.count, letter, count: count, known: max(0, known - range.lowerBound))
    }

    nonisolated static func entity(_ tag: [UInt8], total: Int) -> SavedEntity {
        SavedEntity(etag: LookAlikeTests.quoted(tag), total: Int64(total))
    }

    // MARK: - Tags that look alike

    @Test("Continues bytes under the tag's own bytes only", arguments: LookAlikes.pairs.indices, [false, true])
    func resumed(_ index: Int, isSame: Bool) async throws {
        let pair = LookAlikes.pairs[index]
        let total = 20_000
        let origin = try ScriptedOrigin { request in
            [Self.part(request, of: total, isSame ? pair.first : pair.second, "b", known: isSame ? total / 2 : 0)]
        }
        let fixture = try AttemptFixture(
            entity: Self.entity(pair.first, total: total), bytes: TransferAttemptTests.bytes("a", total / 2))
        let ending = try await fixture.run([origin.url("/file")])
        #expect(ending.isWhole, "\(ending.outcome)")
        let kept = isSame ? total / 2 : 0
        #expect(
            try fixture.bytes() == Data(TransferAttemptTests.bytes("a", kept) + TransferAttemptTests.bytes("b", total - kept)))
        #expect(origin.requests.first?["If-Range"] == LookAlikeTests.quoted(pair.first).latin1)
    }

    @Test("Never combines segments of two versions", arguments: LookAlikes.pairs.indices)
    func segments(_ index: Int) async throws {
        let pair = LookAlikes.pairs[index]
        let total = 12 * Self.mib
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            if request.number == 0 { return [Self.body(200, pair.first, [], total, "a", count: Self.mib), .wait(gate), .close] }
            return [Self.part(request, of: total, pair.second, "b")]
        }
        defer { gate.open() }
        let fixture = try AttemptFixture()
        let ending = try await fixture.run([origin.url("/file")])
        #expect(ending.isWhole, "\(ending.outcome)")
        #expect(try fixture.bytes() == Data(TransferAttemptTests.bytes("b", total)))
    }

    // MARK: - Codings

    @Test("An archive with its own coding is stored unchanged, and resumed", arguments: [true, false])
    func archive(namesCodingAgain: Bool) async throws {
        let total = 20_000
        let coding = "Content-Encoding: x-gzip"
        let origin = try ScriptedOrigin { request in
            guard request["Range"] != nil else {
                return [Self.body(200, [0x61], [coding], total, "a", count: total / 2), .close]
            }
            return [Self.part(request, of: total, [0x61], "b", namesCodingAgain ? [coding] : [], known: total / 2)]
        }
        let fixture = try AttemptFixture()
        #expect(try await fixture.run([origin.url("/a.tar.gz")]).failure?.code == .transferBroken)
        let ending = try await fixture.run([origin.url("/a.tar.gz")])
        #expect(ending.isWhole, "\(ending.outcome)")
        let half = total / 2
        #expect(try fixture.bytes() == Data(TransferAttemptTests.bytes("a", half) + TransferAttemptTests.bytes("b", half)))
        #expect(origin.requests.map { $0["Range"] } == [nil, range(continuing: half)])
    }

    @Test(
        "A coding without a meaning does not count, in each segment",
        arguments: ["UTF-8", "none", "binary", "aws-chunked", "identity, utf-8"])
    func meaningless(coding: String) async throws {
        let total = 12 * Self.mib
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            let fields = ["Content-Encoding: \(coding)"]
            if request.number == 0 {
                return [
                    Self.body(200, [0x61], fields, total, "a", count: Self.mib), .wait(gate),
                    .send(TransferAttemptTests.bytes("a", total - Self.mib)),
                ]
            }
            gate.open()
            return [Self.part(request, of: total, [0x61], "a", fields)]
        }
        defer { gate.open() }
        let fixture = try AttemptFixture()
        let ending = try await fixture.run([origin.url("/file")], connections: 2)
        #expect(ending.isWhole, "\(ending.outcome)")
        #expect(origin.requests.count > 1)
        #expect(try fixture.bytes() == Data(TransferAttemptTests.bytes("a", total)))
    }

    // MARK: - Pages

    @Test(
        "A page discards no bytes",
        arguments: [200, 203], ["text/html; charset=utf-8", "application/json", "application/xhtml+xml"])
    func page(status: Int, type: String) async throws {
        let total = 20_000
        let origin = try ScriptedOrigin { request in
            let fields = ["Content-Type: \(type)"]
            return [Self.body(status, [0x62], fields, 2_000, "<")]
        }
        let half = TransferAttemptTests.bytes("a", total / 2)
        let fixture = try AttemptFixture(
            entity: Self.entity([0x61], total: total), mediaType: "video/x-matroska", bytes: half)
        let ending = try await fixture.run([origin.url("/movie.mkv")])
        #expect(ending.failure?.code == .mediaTypeMismatch && ending.failure?.retryable == false, "\(ending.outcome)")
        #expect(ending.written.byteCount == Int64(total / 2))
        #expect(try fixture.bytes() == Data(half))
        #expect(origin.requests.count == 1)
    }

    @Test("A part that proves itself is no page, whatever its type is", arguments: ["a.m4b", "a.m2ts", "a.vob", "a.rmvb"])
    func part(name: String) async throws {
        let total = 20_000
        let origin = try ScriptedOrigin { request in
            [Self.part(request, of: total, [0x61], "b", ["Content-Type: text/html"], known: total / 2)]
        }
        let fixture = try AttemptFixture(
            entity: Self.entity([0x61], total: total), mediaType: "audio/mp4", bytes: TransferAttemptTests.bytes("a", total / 2))
        let ending = try await fixture.run([origin.url("/" + name)])
        #expect(ending.isWhole, "\(ending.outcome)")
        #expect(origin.requests.count == 1)
    }

    @Test("A page for a segment ends that connection only")
    func pageForSegment() async throws {
        let total = 12 * Self.mib
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            if request.number == 0 {
                return [
                    Self.body(200, [0x61], ["Content-Type: video/mp4"], total, "a", count: Self.mib), .wait(gate),
                    .send(TransferAttemptTests.bytes("a", total - Self.mib)),
                ]
            }
            let fields = ["Content-Type: text/html"]
            let page = Self.body(200, nil, fields, 2_000, "<", count: 1_000)
            return [page, .open(gate), .stall]
        }
        defer { gate.open() }
        let fixture = try AttemptFixture()
        let ending = try await fixture.run([origin.url("/movie.mp4")], connections: 2)
        #expect(ending.isWhole, "\(ending.outcome)")
        #expect(fixture.attempts == 1)
        #expect(try fixture.bytes() == Data(TransferAttemptTests.bytes("a", total)))
    }

    @Test("A new version of the same type still starts over")
    func newVersion() async throws {
        let total = 20_000
        let origin = try ScriptedOrigin { _ in [Self.body(200, [0x62], ["Content-Type: video/mp4"], total, "b")] }
        let fixture = try AttemptFixture(
            entity: Self.entity([0x61], total: total), mediaType: "video/mp4",
            bytes: TransferAttemptTests.bytes("a", total / 2))
        #expect(try await fixture.run([origin.url("/movie.mp4")]).isWhole)
        #expect(try fixture.bytes() == Data(TransferAttemptTests.bytes("b", total)))
    }
}
