import Foundation
import HTTPCore
import System
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import DownloadTransfer
@testable import Downloads

/// Large files over several connections, from faulty origins, down to the last byte.
@Suite("Segments of faulty origins", .serialized, .timeLimit(.minutes(3)))
@OffPool
struct SegmentTests {
    nonisolated static let size = 12_000_000

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        /// The origin's behaviour besides its size and seed. It counts from the first connection's request.
        let query: String
        /// The maximum number of requests; nil for any number.
        var atMost: Int?
        /// The edition of the entity that the finished file must be.
        var edition = 1

        var testDescription: String { name }
    }

    nonisolated static let cases: [Case] = [
        Case(name: "connections that are reset in the middle are replaced", query: "fault=reset@300000;from=2;times=3"),
        Case(name: "bodies that end early are asked for again", query: "fault=truncate@300000;from=2;times=3"),
        Case(name: "the first connection may break as well", query: "fault=reset@300000;times=5"),
        Case(name: "connections that bring nothing are not replaced", query: "fault=reset@0;from=2;times=3"),
        Case(name: "503 for more connections leaves one", query: "fault=503;from=2", atMost: 4),
        Case(name: "429 for one connection leaves the others", query: "fault=429;from=3;times=1"),
        Case(name: "an origin that serves one connection at a time serves it", query: "fault=one-connection"),
        Case(name: "404 for more connections leaves one", query: "fault=404;from=2", atMost: 4),
        Case(name: "an origin that ignores ranges goes on with the first connection", query: "fault=ignore-ranges", atMost: 4),
        Case(
            name: "one segment whose range is ignored leaves the first connection", query: "fault=ignore-ranges;from=3;times=1"),
        Case(name: "ranges that are offered whatever If-Range says are verified", query: "fault=ignore-if-range"),
        // The first connection stops early here: otherwise it might fetch the whole first edition before the others get
        // a response.
        Case(
            name: "a file that changes between segments is fetched anew, as one",
            query: "fault=change;times=1,stall@1000000;times=1", atMost: 5, edition: 2),
        Case(
            name: "a change that If-Range should have shown is recognised by a segment's tag",
            query: "fault=change;times=1,ignore-if-range,stall@1000000;times=1", edition: 2),
        Case(
            name: "a change of length starts over", query: "fault=change-length;times=1,stall@1000000;times=1", edition: 2),
        Case(
            name: "a first connection that has brought everything before a change shows is enough",
            query: "fault=change;times=1,slow-head@60000;from=2", atMost: 4),
        Case(name: "a segment that starts elsewhere starts over", query: "fault=wrong-range;from=2;times=3"),
        Case(name: "a segment with another total starts over", query: "fault=wrong-total;from=3;times=1"),
        Case(name: "a segment in several parts starts over", query: "fault=multipart;from=2;times=3"),
        Case(name: "416 for a segment starts over", query: "fault=416;from=2;times=1"),
        Case(name: "a segment with a content coding starts over", query: "fault=gzip;from=2;times=1"),
        Case(name: "a segment that stalls is given to another connection", query: "fault=stall@300000;from=3;times=1"),
        Case(name: "all connections may stall", query: "fault=stall@300000;times=4"),
        Case(name: "without a validator there is one connection", query: "fault=no-validator", atMost: 1),
        Case(name: "with a weak tag there is one connection", query: "lastmodified=none&fault=weak-etag", atMost: 1),
        Case(name: "without a length there is one connection", query: "fault=chunked", atMost: 1),
        Case(name: "an origin that neither announces nor knows ranges goes on with the first", query: "ranges=none", atMost: 4),
        Case(name: "a strong date serves as the validator", query: "etag=none"),
        Case(name: "each connection follows its own redirect", query: "fault=redirectx1"),
    ]

    @Test("The file is exact", arguments: cases)
    func exact(_ rule: Case) async throws {
        let fixture = try await ServiceFixture {
            if rule.query.contains("stall") { $0.stallTimeout = .seconds(1) }
        }
        let query = "size=\(Self.size)&seed=60&\(rule.query)"
        let download = try await fixture.add(query)
        let done = try await fixture.end(of: download.id)
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.edition(done, of: query) == rule.edition)
        let file = try fixture.file(done)
        #expect(done.sha256 == SHA256.hexadecimal(of: file))
        #expect(done.bytesReceived == Int64(file.count))
        #expect(try fixture.names(in: "incomplete") == [])
        if let most = rule.atMost { #expect(fixture.requests().count <= most) }
        await fixture.service.shutdown()
    }

    @Test("A good origin receives four requests for quarters, each with the validator")
    func quarters() async throws {
        let fixture = try await ServiceFixture { $0.stallTimeout = .seconds(1) }
        // The first connection stops early: otherwise it might pass its quarter before the others get a response.
        let query = "size=16777216&seed=61&fault=stall@1000000;times=1"
        let download = try await fixture.add(query)
        let done = try await fixture.end(of: download.id)
        #expect(try fixture.file(done, is: query))
        let requests = fixture.requests()
        #expect(requests.contains { $0.range == nil && $0.ifRange == nil })
        for start in [4_194_304, 8_388_608, 12_582_912] {
            let range = "bytes=\(start)-\(min(start + 4_194_304 + Int(ResumeDecision.overlap), 16_777_216) - 1)"
            let request = try #require(requests.first { $0.range == range }, "nobody asked for \(range)")
            #expect(request.ifRange?.hasPrefix("\"") == true)
        }
        await fixture.service.shutdown()
    }

    @Test("Uses one connection on request", arguments: [1, 3])
    func asManyAsAsked(segments: Int) async throws {
        let fixture = try await ServiceFixture()
        // While the first connection waits for its body, nothing is taken over from it.
        let query = "size=\(Self.size)&seed=62&fault=stall@100000;times=\(segments)"
        let download = try await fixture.add(query) { $0.segments = segments }
        let running = try await fixture.follow(download.id) { $0.bytesReceived == Int64(100_000 * segments) }
        #expect(running.segments == segments)
        _ = try await fixture.service.perform(.cancel, on: download.id)
        #expect(fixture.requests().count == segments)
        await fixture.service.shutdown()
    }

    @Test("After a pause or a crash, each segment continues from its own bytes", arguments: [false, true])
    func goesOn(crashing: Bool) async throws {
        let before = try await ServiceFixture()
        let query = "size=\(Self.size)&seed=63&fault=stall@1000000;times=4"
        let download = try await before.add(query)
        _ = try await before.follow(download.id) { $0.bytesReceived == 4_000_000 }
        var after = before
        if crashing {
            try await before.store.synced.wait { $0[download.id] == 4_000_000 }
            // Earlier submissions to the store are written when this one is.
            try await before.settle()
            after = try await before.crash()
        } else {
            let paused = try await before.service.perform(.pause, on: download.id)
            #expect(paused.bytesReceived == 4_000_000)
            _ = try await after.service.perform(.resume, on: download.id)
        }
        let done = try await after.end(of: download.id)
        #expect(try after.file(done, is: query))
        // No present byte is requested again.
        let asked = after.requests().dropFirst(4).compactMap {
            $0.range?.dropFirst(6).split(separator: "-").first.flatMap { Int64($0) }
        }
        let quarter = Int64(Self.size) / 4 / 4096 * 4096
        #expect(asked.contains(1_000_000 - ResumeDecision.overlap))
        for start in asked { #expect(start % quarter >= 900_000, "byte \(start) was there") }
        await after.service.shutdown()
        if crashing { await before.service.shutdown() }
    }
}
