import Foundation
import HTTPCore
import HTTPServer
import JSON
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadFeed
@testable import Downloads
@testable import PawlService

@Suite("The text of an event stream", .timeLimit(.minutes(3)))
struct EventStreamTests {
    private func stream(_ running: RunningService) -> EventStream {
        let stream = EventStream(
            .init(
                hub: running.service.downloads.events, rendered: RenderedDownloads(), after: nil,
                interval: .milliseconds(50)))
        stream.subscribe {}
        return stream
    }

    @Test("The text is the same in pieces of any size", arguments: [1, 7, 100, 65_536])
    func pieces(limit: Int) async throws {
        try await RunningService.with { running in
            for seed in 0..<30 { _ = try await running.add("/entity?size=10&seed=\(seed)", #","paused":true"#) }
            let stream = stream(running)
            defer { stream.closed() }
            var text: [UInt8] = []
            let now = ContinuousClock.now
            while true {
                let before = text.count
                guard case .more = stream.next(into: &text, limit: limit, now: now) else { break }
                #expect(text.count - before <= limit)
            }
            let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == 5)
            #expect(lines[0].hasPrefix("id: "))
            #expect(lines[1] == "event: snapshot")
            let data = try JSONValue(parsing: Array(lines[2].dropFirst(6).utf8))
            #expect(data.array?.count == 30)
            #expect(lines[3...] == ["", ""])
        }
    }

    @Test("A comment follows 15 s of silence, and not less")
    func keepAlive() async throws {
        try await RunningService.with { running in
            let stream = stream(running)
            defer { stream.closed() }
            let start = ContinuousClock.now
            var text: [UInt8] = []
            guard case .wait(let due) = stream.next(into: &text, limit: 1000, now: start) else {
                Issue.record("it should wait")
                return
            }
            #expect(due == start + .seconds(15))
            text = []
            _ = stream.next(into: &text, limit: 1000, now: start + .seconds(14))
            #expect(text.isEmpty)
            _ = stream.next(into: &text, limit: 1000, now: start + .seconds(15))
            #expect(text == Array(":\n\n".utf8))
        }
    }

    @Test("A stream ends when the server stops, after its current event")
    func stopping() async throws {
        try await RunningService.with { running in
            let stream = stream(running)
            defer { stream.closed() }
            var text: [UInt8] = []
            guard case .more = stream.next(into: &text, limit: 3, now: .now) else {
                Issue.record("there should be more")
                return
            }
            stream.serverIsStopping()
            guard case .end = stream.next(into: &text, limit: 1000, now: .now) else {
                Issue.record("it should end")
                return
            }
            #expect(String(decoding: text, as: UTF8.self).hasSuffix("data: []\n\n"))
        }
    }

    @Test("Each change is rendered once for all streams, at any distance")
    func shared() {
        let publisher = DownloadPublisher(epoch: 1, history: StoredEventHistory())
        let rendered = RenderedDownloads()
        let streams = (0..<3).map { _ in
            EventStream(.init(hub: publisher.hub, rendered: rendered, after: nil, interval: .seconds(1)))
        }
        let now = ContinuousClock.now
        func read(_ stream: EventStream) -> [UInt8] {
            var text: [UInt8] = []
            while case .more = stream.next(into: &text, limit: 65_536, now: now) {}
            return text
        }
        for stream in streams {
            stream.subscribe {}
            _ = read(stream)
        }
        var download = Download(
            id: DownloadID(value: 1), url: "http://a.example/", createdAt: Timestamp(millisecondsSinceEpoch: 0))
        let versions = (1...100).map { number in
            download.attempts = number
            return publisher.publish(download, counters: nil).version
        }
        let first = read(streams[0])
        for version in versions { #expect(version.flatMap { rendered.cached($0) } != nil) }
        for stream in streams.dropFirst() { #expect(read(stream) == first) }
        #expect(String(decoding: first, as: UTF8.self).components(separatedBy: "event: download").count == 101)
    }
}
