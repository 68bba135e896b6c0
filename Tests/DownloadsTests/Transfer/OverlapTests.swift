import Foundation
import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadTransfer
@testable import Downloads

/// Origins whose validators say that nothing has changed, while their bytes have.
@Suite("Bytes that meet others", .timeLimit(.minutes(3)))
@OffPool
struct OverlapTests {
    typealias Step = ScriptedOrigin.Step
    nonisolated static let mib = 1 << 20

    /// A version of a file, which differs from the others in every byte.
    nonisolated static func file(_ version: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9 &+ version &* 77) }
    }

    /// Two versions of a file for several connections.
    nonisolated static let large = [1, 2].map { file($0, 12 * mib) }

    /// The response of an honest server with this content, under the tag `"same"`.
    nonisolated static func honest(_ request: ScriptedOrigin.Request, _ content: [UInt8]) -> Step {
        guard let range = TransferAttemptTests.range(request, content.count) else {
            return .response(200, [("ETag", #""same""#)], body: content)
        }
        let end = min(range.upperBound, content.count)
        return .response(
            206, [("ETag", #""same""#), ("Content-Range", "bytes \(range.lowerBound)-\(end - 1)/\(content.count)")],
            body: Array(content[range.lowerBound..<end]))
    }

    nonisolated static func saved(_ total: Int) -> SavedEntity { SavedEntity(etag: #""same""#, total: Int64(total)) }

    @Test("Another version under the same tag starts over once", arguments: [10, 16 << 10, 100_000])
    func sameTag(_ kept: Int) async throws {
        let (old, new) = (Self.file(1, 200_000), Self.file(2, 200_000))
        let origin = try ScriptedOrigin { [Self.honest($0, new)] }
        let fixture = try AttemptFixture(entity: Self.saved(old.count), bytes: Array(old[..<kept]))
        let ending = try await fixture.run([origin.url("/file")])
        #expect(ending.isWhole, "\(ending.outcome)")
        #expect(try fixture.bytes() == Data(new))
        #expect(origin.requests.map { $0["Range"] } == [range(continuing: kept), nil])
    }

    @Test("Equal bytes where both meet are proof together with the tag, and cost one request")
    func equalOverlap() async throws {
        let content = Self.file(1, 200_000)
        let origin = try ScriptedOrigin { [Self.honest($0, content)] }
        let fixture = try AttemptFixture(entity: Self.saved(content.count), bytes: Array(content[..<100_000]))
        let ending = try await fixture.run([origin.url("/file")])
        #expect(ending.isWhole)
        #expect(try fixture.bytes() == Data(content))
        #expect(origin.requests.map { $0["Range"] } == [range(continuing: 100_000)])
    }

    @Test("An origin that changes under one tag again and again is abandoned")
    func alwaysOther() async throws {
        let total = 200_000
        let origin = try ScriptedOrigin { request in
            let content = Self.file(request.number, total)
            guard request["Range"] == nil else { return [Self.honest(request, content)] }
            return [
                .text("HTTP/1.1 200 OK\r\nETag: \"same\"\r\nContent-Length: \(total)\r\n\r\n"), .send(Array(content[..<50_000])),
                .close,
            ]
        }
        let fixture = try AttemptFixture(entity: Self.saved(total), bytes: Array(Self.file(100, total)[..<50_000]))
        var ending = try await fixture.run([origin.url("/file")])
        #expect(ending.failure?.code == .transferBroken)
        ending = try await fixture.run([origin.url("/file")])
        #expect(ending.failure?.code == .entityChanged && ending.failure?.retryable == false)
    }

    /// The first connection gets one version, and all others another one, under the same tag. The first one breaks off at
    /// `end`, once the second one has ended.
    @Test(
        "Segments of two versions under one tag are noticed where they meet",
        arguments: [(2, nil), (3, nil), (4, nil), (2, 6 * mib), (2, 6 * mib + 5_000), (2, 6 * mib + (16 << 10))] as [(Int, Int?)])
    func segments(_ connections: Int, _ end: Int?) async throws {
        let (old, new) = (Self.large[0], Self.large[1])
        let gate = Gate()
        let origin = try ScriptedOrigin { request in
            if request.number == 0 {
                let head = "HTTP/1.1 200 OK\r\nETag: \"same\"\r\nContent-Length: \(old.count)\r\n\r\n"
                let rest = Array(old[Self.mib..<(end ?? old.count)])
                return [.text(head), .send(Array(old[..<Self.mib])), .wait(gate), .send(rest)] + (end == nil ? [] : [.close])
            }
            if end == nil { gate.open() }
            return [Self.honest(request, new), .open(gate)]
        }
        defer { gate.open() }
        let fixture = try AttemptFixture()
        var ending = try await fixture.run([origin.url("/file")], connections: connections)
        for _ in 0..<4 where !ending.isWhole { ending = try await fixture.run([origin.url("/file")], connections: connections) }
        #expect(ending.isWhole, "\(ending.outcome)")
        let bytes = try fixture.bytes()
        #expect(bytes == Data(new) || bytes == Data(old), "two versions are mixed")
    }

    @Test("A tail in a 200 is not taken for the whole", arguments: [nil, Int64(200_000)], ["same", "other", nil])
    func tail(_ total: Int64?, _ tag: String?) async throws {
        let content = Self.file(1, 200_000)
        let origin = try ScriptedOrigin { request in
            let start = TransferAttemptTests.range(request, content.count)?.lowerBound ?? 0
            return [.response(200, tag.map { [("ETag", "\"\($0)\"")] } ?? [], body: Array(content[start...]))]
        }
        var saved = Self.saved(content.count)
        saved.total = total
        let fixture = try AttemptFixture(entity: saved, bytes: Array(content[..<100_000]))
        let ending = try await fixture.run([origin.url("/file")])
        #expect(ending.isWhole, "\(ending.outcome)")
        #expect(try fixture.bytes() == Data(content))
    }

    @Test("An origin that sends aligned slices of the file brings all of it", arguments: [16 << 10, 64 << 10, 1_000_000])
    func slices(_ slice: Int) async throws {
        let content = Self.file(1, 300_000)
        let origin = try ScriptedOrigin { request in
            guard let range = TransferAttemptTests.range(request, content.count) else { return [Self.honest(request, content)] }
            let end = min((range.lowerBound / slice + 1) * slice, content.count)
            let fields = [("ETag", #""same""#), ("Content-Range", "bytes \(range.lowerBound)-\(end - 1)/\(content.count)")]
            return [.response(206, fields, body: Array(content[range.lowerBound..<end]))]
        }
        let fixture = try AttemptFixture(entity: Self.saved(content.count), bytes: Array(content[..<(64 << 10)]))
        var ending = try await fixture.run([origin.url("/file")])
        for _ in 0..<20 where !ending.isWhole {
            let count = ending.written.byteCount
            ending = try await fixture.run([origin.url("/file")])
            #expect(ending.written.byteCount > count)
        }
        #expect(ending.isWhole, "\(ending.outcome)")
        #expect(try fixture.bytes() == Data(content))
    }

    @Test("A part in a 200 without a length is not taken for the whole", arguments: [nil, Int64(200_000)])
    func partOfUnknownLength(_ total: Int64?) async throws {
        let content = Self.file(1, 200_000)
        let origin = try ScriptedOrigin { request in
            let start = TransferAttemptTests.range(request, content.count)?.lowerBound ?? 0
            let piece = Array(content[start...])
            let head = "HTTP/1.1 200 OK\r\nETag: \"same\"\r\nTransfer-Encoding: chunked\r\n\r\n"
            return [.text(head + String(piece.count, radix: 16) + "\r\n"), .send(piece), .text("\r\n0\r\n\r\n")]
        }
        var saved = Self.saved(content.count)
        saved.total = total
        let fixture = try AttemptFixture(entity: saved, bytes: Array(content[..<100_000]))
        let ending = try await fixture.run([origin.url("/file")])
        #expect(ending.isWhole, "\(ending.outcome)")
        #expect(try fixture.bytes() == Data(content))
        #expect(origin.requests.map { $0["Range"] } == [range(continuing: 100_000), nil])
    }

    @Test(
        "An empty 200 in place of the rest discards nothing",
        arguments: ["Content-Length: 0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"])
    func empty(_ end: String) async throws {
        let content = Self.file(1, 200_000)
        for tag in ["", "ETag: \"other\"\r\n"] {
            let origin = try ScriptedOrigin { _ in [.text("HTTP/1.1 200 OK\r\n" + tag + end)] }
            let fixture = try AttemptFixture(entity: Self.saved(content.count), bytes: Array(content[..<100_000]))
            let ending = try await fixture.run([origin.url("/file")])
            #expect(ending.failure?.code == .unexpectedEmpty && ending.failure?.retryable == true, "\(ending.outcome)")
            #expect(ending.written == Coverage(prefix: 100_000))
            #expect(try fixture.bytes() == Data(content[..<100_000]))
        }
    }

    @Test("The whole file in an unrequested 206 is the file")
    func unaskedRange() async throws {
        let content = Self.file(1, 200_000)
        let origin = try ScriptedOrigin { _ in
            [.response(206, [("Content-Range", "bytes 0-\(content.count - 1)/\(content.count)")], body: content)]
        }
        let fixture = try AttemptFixture()
        #expect(try await fixture.run([origin.url("/file")]).isWhole)
        #expect(try fixture.bytes() == Data(content))
    }

    // MARK: - Random origins

    /// An origin of some versions under one tag, which changes, breaks off, ignores ranges and refuses them at random.
    struct Liar: Sendable {
        var random: SegmentPlanTests.SplitMix
        var version = 1
        let total = 200_000

        mutating func steps(_ request: ScriptedOrigin.Request) -> [Step] {
            if Int.random(in: 0..<4, using: &random) == 0 { version += 1 }
            let content = OverlapTests.file(version, total)
            let range = TransferAttemptTests.range(request, total)
            let start = range?.lowerBound ?? 0
            let end = Int.random(in: start...total, using: &random)
            let place = "Content-Range: bytes \(start)-\(total - 1)/\(total)\r\n"
            let tag = "ETag: \"same\"\r\n"
            switch Int.random(in: 0..<12, using: &random) {
            case 0: return [.response(304, [("ETag", "\"same\"")])]
            case 1 where range != nil: return [.response(416, [("Content-Range", "bytes */\(total)")])]
            case 2 where range != nil:
                return [
                    .text("HTTP/1.1 200 OK\r\n\(tag)Content-Length: \(total - start)\r\n\r\n"), .send(Array(content[start...])),
                ]
            case 3 where range != nil:
                return [
                    .text("HTTP/1.1 200 OK\r\n\(tag)\(place)Connection: close\r\n\r\n"), .send(Array(content[start...])), .close,
                ]
            case 4: return [.text("HTTP/1.1 200 OK\r\n\(tag)Content-Length: 0\r\n\r\n")]
            case 5, 6:
                return [
                    .text("HTTP/1.1 200 OK\r\n\(tag)Content-Length: \(total)\r\n\r\n"), .send(Array(content[..<end])), .close,
                ]
            case _ where range == nil:
                return [
                    .text("HTTP/1.1 200 OK\r\n\(tag)Content-Length: \(total)\r\n\r\n"), .send(Array(content[..<end])), .close,
                ]
            default:
                return [
                    .text("HTTP/1.1 206 Partial Content\r\n\(tag)\(place)Content-Length: \(total - start)\r\n\r\n"),
                    .send(Array(content[start..<max(start, end)])), .close,
                ]
            }
        }
    }

    @Test("An origin that lies about its validators never leads to a mixture", arguments: 1...40 as ClosedRange<UInt64>)
    func liars(seed: UInt64) async throws {
        let liar = Locked(Liar(random: SegmentPlanTests.SplitMix(seed: seed)))
        let origin = try ScriptedOrigin { request in liar.withLock { $0.steps(request) } }
        let fixture = try AttemptFixture()
        var hasBytes = false
        for _ in 0..<12 {
            let ending = try await fixture.run([origin.url("/file")])
            if ending.isWhole {
                let bytes = try fixture.bytes()
                let (last, total) = liar.withLock { ($0.version, $0.total) }
                // An empty file is one if there was nothing before it.
                let isOneVersion = (bytes.isEmpty && !hasBytes) || (1...last).contains { Data(Self.file($0, total)) == bytes }
                #expect(isOneVersion, "two versions are mixed")
                return
            }
            if ending.written.byteCount > 0 { hasBytes = true }
            if ending.failure?.retryable == false { return }
        }
    }
}
