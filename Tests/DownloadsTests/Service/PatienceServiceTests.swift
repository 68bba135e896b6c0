import HTTPCore
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadTransfer
@testable import Downloads

/// Origins that are slow, with limits of a fraction of a second in place of half a minute.
@Suite("Long waits", .timeLimit(.minutes(3)))
@OffPool
struct PatienceServiceTests {
    nonisolated static let content = [UInt8](repeating: 7, count: 100_000)

    enum Moment: CaseIterable {
        case head, firstByte, middle
    }

    private func fixture(_ patience: Duration = .seconds(600)) async throws -> ServiceFixture {
        try await ServiceFixture {
            ($0.headTimeout, $0.stallTimeout, $0.patience) = (.milliseconds(200), .milliseconds(200), patience)
        }
    }

    /// An origin that waits for the gate at a moment of its first response. It resumes if its files have tags.
    private func origin(
        _ moment: Moment, tag: String?, announcesRanges: Bool = true, _ gate: Gate
    ) throws -> ScriptedOrigin {
        let content = Self.content
        return try ScriptedOrigin { request in
            let tags = tag.map { "ETag: \($0)\r\n\(announcesRanges ? "Accept-Ranges: bytes\r\n" : "")" } ?? ""
            if let range = request["Range"], let start = range.dropFirst(6).split(separator: "-").first.flatMap({ Int($0) }) {
                let head = "HTTP/1.1 206 Partial Content\r\n\(tags)Content-Range: bytes \(start)-99999/100000\r\n"
                return [.text(head + "Content-Length: \(content.count - start)\r\n\r\n"), .send(Array(content[start...]))]
            }
            let head = ScriptedOrigin.Step.text("HTTP/1.1 200 OK\r\n\(tags)Content-Length: 100000\r\n\r\n")
            let halves = [ScriptedOrigin.Step.send(Array(content[..<50_000])), .send(Array(content[50_000...]))]
            if request.number > 0 { return [head] + halves }
            switch moment {
            case .head: return [.wait(gate), head] + halves
            case .firstByte: return [head, .wait(gate)] + halves
            case .middle: return [head, halves[0], .wait(gate), halves[1]]
            }
        }
    }

    private func add(
        _ fixture: ServiceFixture, _ origin: ScriptedOrigin, _ change: (inout NewDownload) -> Void = { _ in }
    ) async throws -> RecordID {
        var new = NewDownload(url: try #require(HTTPURL(origin.url("/file.bin"))))
        change(&new)
        return try await fixture.service.add(new).download.id
    }

    /// Waits until a resumable origin that stalls has been left, twice the limit after this call.
    private func waitBeyondLimits(_ fixture: ServiceFixture) async throws {
        for _ in 1...2 {
            let clock = try origin(.middle, tag: "\"v1\"", Gate())
            let id = try await add(fixture, clock)
            #expect(try await fixture.end(of: id).state == .completed)
            #expect(clock.requests.map { $0["Range"] } == [nil, range(continuing: 50_000)])
        }
    }

    @Test(
        "An origin that cannot resume, or has not shown ranges, is waited for and asked once; so is any for its first byte",
        arguments: [
            (.head, nil, false), (.firstByte, nil, false), (.middle, nil, false), (.head, "\"v1\"", false),
            (.firstByte, "\"v1\"", false), (.middle, "\"v1\"", false), (.firstByte, "\"v1\"", true),
        ] as [(Moment, String?, Bool)])
    func borne(_ moment: Moment, tag: String?, announcesRanges: Bool) async throws {
        let fixture = try await fixture()
        let gate = Gate()
        let slow = try origin(moment, tag: tag, announcesRanges: announcesRanges, gate)
        let id = try await add(fixture, slow)
        try await slow.requests(atLeast: 1)
        if moment != .head { _ = try await fixture.follow(id) { $0.resumable == (tag != nil) } }
        try await waitBeyondLimits(fixture)
        gate.open()
        let done = try await fixture.end(of: id)
        #expect(done.state == .completed && done.attempts == 1, "\(String(describing: done.error))")
        #expect(try fixture.file(done) == Self.content)
        #expect(slow.requests.count == 1)
        await fixture.service.shutdown()
    }

    @Test("A wait that is borne has an end", arguments: Moment.allCases)
    func bounded(_ moment: Moment) async throws {
        let fixture = try await fixture(.milliseconds(400))
        let slow = try origin(moment, tag: nil, Gate())
        let done = try await fixture.end(of: try await add(fixture, slow))
        #expect(done.state == .completed && done.attempts == 2)
        #expect(slow.requests.map { $0["Range"] } == [nil, nil])
        await fixture.service.shutdown()
    }

    @Test(
        "A limit of the client's choice is not extended; the other wait's limit does not count",
        arguments: [
            (.head, Timeouts(response: 1), true), (.head, Timeouts(stall: 1), false), (.firstByte, Timeouts(stall: 1), true),
            (.middle, Timeouts(connect: 1, response: 1), false),
        ] as [(Moment, Timeouts, Bool)])
    func chosen(moment: Moment, timeouts: Timeouts, isLeft: Bool) async throws {
        let fixture = try await fixture()
        let gate = Gate()
        let slow = try origin(moment, tag: nil, gate)
        let id = try await add(fixture, slow) { $0.timeouts = timeouts }
        try await slow.requests(atLeast: 1)
        if isLeft {
            try await slow.requests(atLeast: 2)
        } else {
            try await waitBeyondLimits(fixture)
            gate.open()
        }
        #expect(try await fixture.end(of: id).state == .completed)
        #expect(slow.requests.count == (isLeft ? 2 : 1))
        await fixture.service.shutdown()
    }

    @Test("With a mirror that can take over, an origin is not waited for", arguments: Moment.allCases, [true, false])
    func substituted(_ moment: Moment, isProven: Bool) async throws {
        let fixture = try await fixture(isProven || moment != .middle ? .seconds(600) : .milliseconds(400))
        let slow = try origin(moment, tag: nil, Gate())
        let gate = Gate()
        gate.open()
        let mirror = try origin(.middle, tag: "\"m\"", gate)
        let mirrorURL = try #require(HTTPURL(mirror.url("/file.bin")))
        let id = try await add(fixture, slow) {
            $0.mirrors = [mirrorURL]
            $0.checksum = isProven ? Checksum(.sha256, bytes: SHA256.digest(of: Self.content)) : nil
        }
        let done = try await fixture.end(of: id)
        #expect(done.state == .completed, "\(String(describing: done.error))")
        #expect(try fixture.file(done) == Self.content)
        // Present bytes are not given up for a mirror without a proof.
        let isUsed = isProven || moment != .middle
        #expect(mirror.requests.count == (isUsed ? 1 : 0) && slow.requests.count == (isUsed ? 1 : 2))
        await fixture.service.shutdown()
    }

    @Test("A transfer that its own speed limit holds back is not stalled")
    func heldBack() async throws {
        let fixture = try await fixture(.milliseconds(200))
        let gate = Gate()
        gate.open()
        let fast = try origin(.middle, tag: nil, gate)
        // The last bytes pass after four times the stall limit.
        let id = try await add(fixture, fast) { $0.speedLimit = 100_000 }
        let done = try await fixture.end(of: id)
        #expect(done.state == .completed && fast.requests.count == 1)
        await fixture.service.shutdown()
    }
}
