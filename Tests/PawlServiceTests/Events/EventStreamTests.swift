import Foundation
import HTTPCore
import HTTPServer
import JSON
import Subscriptions
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import Downloads
@testable import PawlService

@Suite("The text of an event stream", .timeLimit(.minutes(3)))
struct EventStreamTests {
    private func stream(_ running: RunningService) -> EventStream {
        let stream = EventStream(
            RenderedResources(),
            .init(hub: running.service.downloads.events, after: nil, interval: .milliseconds(50)))
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
            #expect(lines.count == 35)
            #expect(lines[0] == "retry: 1000" && lines[1].hasPrefix("id: ") && lines[2] == "event: snapshot")
            #expect(lines[3..<33].allSatisfy { $0.hasPrefix("data: ") })
            let data = try JSONValue(parsing: Array(lines[3..<33].map { $0.dropFirst(6) }.joined(separator: "\n").utf8))
            #expect(data.array?.count == 30)
            #expect(lines[33...] == ["", ""])
        }
    }

    @Test("A client that closes its writing side gets events and a long poll; one that has left is noticed within two comments")
    func closedWritingSide() async throws {
        try await RunningService.with { running in
            let path = "/downloads/\(try await running.add("/entity?size=10", #","paused":true"#))"
            let tag = try #require(try await running.send("GET", path)["etag"])
            try await running.blocking { client in
                let (events, poll) = (try TestConnection(client.port), try TestConnection(client.port))
                try events.send("GET \(path)/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
                try poll.send("GET \(path)?wait=30 HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: \(tag)\r\n\r\n")
                events.endOutput()
                poll.endOutput()
                #expect(try events.readHead().status == 200)
                _ = try events.readChunk()
                // The service has found out that the client still reads.
                #expect(try poll.readHead().status == 100)
                let change = try client.send(
                    "PATCH", path, fields: [("Content-Type", "application/json")], body: Array(#"{"priority":7}"#.utf8))
                #expect(change.status == 200)
                #expect(try poll.readResponse().text.contains(#""priority":7"#))
                let event = try #require(try events.readChunk())
                #expect(String(decoding: event, as: UTF8.self).contains(#""priority":7"#))
            }
            let left = ContinuousClock.now
            try await until { running.service.downloads.events.readerCount == 0 }
            #expect(.now - left < EventStream.keepAliveInterval * 2)
        }
    }

    @Test("Each event is a chunk, and a long snapshot some that end between lines", arguments: [0, 1, 2, 10, 400])
    func chunks(count: Int) throws {
        let publisher = DownloadPublisher(epoch: 1, history: StoredEventHistory())
        let stream = EventStream(
            RenderedResources(), .init(hub: publisher.hub, after: nil, interval: .seconds(1)))
        // Some clients divide lines at the first three.
        let name = "a\u{85}\u{2028}\u{2029}\u{A0}\u{2013}b"
        func publish(_ number: Int, attempts: Int) {
            var download = Download(
                id: RecordID(value: UInt128(number)), url: "http://a.example/", createdAt: Timestamp(millisecondsSinceEpoch: 0))
            download.attempts = attempts
            download.filename = name
            _ = publisher.publish(download, counters: nil)
        }
        for number in 0..<count { publish(number, attempts: 0) }
        stream.subscribe {}
        var chunks: [String] = []
        func read() {
            var step = StreamStep.more
            while case .more = step {
                var text: [UInt8] = []
                // The first call takes a part.
                step = stream.next(into: &text, limit: 100, now: .now)
                let length = text.count + stream.rest
                while stream.rest > 0 { step = stream.next(into: &text, limit: 65_536, now: .now) }
                #expect(text.count == length)
                if !text.isEmpty { chunks.append(String(decoding: text, as: UTF8.self)) }
            }
        }
        read()
        for number in 0..<3 { publish(number, attempts: 7) }
        read()
        let snapshot = chunks.prefix { !$0.contains("event: download") }
        #expect(
            chunks.dropFirst(snapshot.count).allSatisfy { $0.hasSuffix("}\n\n") && $0.components(separatedBy: "\n\n").count == 2 }
        )
        #expect(chunks.count == snapshot.count + 3)
        #expect(snapshot.count == 1 || snapshot.dropLast().allSatisfy { $0.hasSuffix("},\n") && $0.utf8.count >= 8_192 })
        #expect((snapshot.count == 1) == (count < 20) && snapshot.joined().hasSuffix("]\n\n"))
        #expect(chunks.joined().components(separatedBy: "retry: ").count == 2)
        let data = snapshot.joined().split(separator: "\n").filter { $0.hasPrefix("data: ") }.map { $0.dropFirst(6) }
        #expect(data.count == max(count, 1))
        let items = try #require(try JSONValue(parsing: Array(data.joined(separator: "\n").utf8)).array)
        #expect(items.count == count && items.allSatisfy { $0["filename"]?.string == name })
        #expect(!chunks.joined().unicodeScalars.contains { ["\u{85}", "\u{2028}", "\u{2029}"].contains($0) })
    }

    @Test("A comment of one line follows 4 s of silence, and not less")
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
            #expect(due == start + .seconds(4))
            text = []
            _ = stream.next(into: &text, limit: 1000, now: start + .seconds(3))
            #expect(text.isEmpty)
            _ = stream.next(into: &text, limit: 1000, now: start + .seconds(4))
            #expect(text == Array(":\n".utf8))
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
        let rendered = RenderedResources()
        let streams = (0..<3).map { _ in
            EventStream(rendered, .init(hub: publisher.hub, after: nil, interval: .seconds(1)))
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
            id: RecordID(value: 1), url: "http://a.example/", createdAt: Timestamp(millisecondsSinceEpoch: 0))
        let versions = (1...100).map { number in
            download.attempts = number
            return publisher.publish(download, counters: nil).version
        }
        let first = read(streams[0])
        for version in versions { #expect(version.flatMap { rendered.cached($0) } != nil) }
        for stream in streams.dropFirst() { #expect(read(stream) == first) }
        #expect(String(decoding: first, as: UTF8.self).components(separatedBy: "event: download").count == 101)
    }

    @Test("An unread stream of subscriptions holds a piece of its snapshot, and streams share the renderings")
    func subscriptions() throws {
        let index = SubscriptionIndex()
        for number in 1...1_000 {
            index.publish(
                Subscription(
                    id: RecordID(value: UInt128(number)), source: .search(term: "\(number)"), settings: .init(),
                    at: Timestamp(millisecondsSinceEpoch: 0)))
        }
        let stream = EventStream(RenderedResources(), nil, index)
        stream.subscribe {}
        var text: [UInt8] = []
        guard case .more = stream.next(into: &text, limit: 1, now: .now) else {
            Issue.record("there should be more")
            return
        }
        #expect((8_000..<10_000).contains(stream.rest))
        // Changes behind its place are in the snapshot, and follow as events as well.
        index.publishRemoval(of: RecordID(value: 1))
        index.publishRemoval(of: RecordID(value: 999))
        while case .more = stream.next(into: &text, limit: 65_536, now: .now) {}
        let events = String(decoding: text, as: UTF8.self).components(separatedBy: "\n\n")
        let lines = try #require(events.first).split(separator: "\n").filter { $0.hasPrefix("data: ") }.map { $0.dropFirst(6) }
        let items = try #require(try JSONValue(parsing: Array(lines.joined(separator: "\n").utf8)).array)
        #expect(items.count == 999 && lines.count == 999)
        #expect(events.count == 4 && events[1...2].allSatisfy { $0.hasPrefix("event: subscription-removed\n") })
    }
}
