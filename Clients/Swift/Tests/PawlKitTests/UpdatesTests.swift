import Foundation
import Testing

@testable import PawlKit

@Suite("Updates", .surrounded, .timeLimit(.minutes(3)))
struct UpdatesTests {
    @Test("A download is watched to its end over a service that is killed and started again")
    func restart() async throws {
        // Another service, which goes on, is the origin.
        let origin = try Surroundings.client()
        let service = try DemoService("--allow-private")
        let pawl = Pawl(service.url)
        let ended = try await pawl.add(url: file(of: origin, size: 10))
        try await wait { try await pawl.downloads(states: [.completed]).total == 1 }
        let added = try await pawl.add(url: file(of: origin, size: 600_000, bytesPerSecond: 200_000))
        var isRestarted = false
        var received: Int64 = 0
        for try await downloads in pawl.updates() {
            #expect(downloads.map(\.id) == [added.id, ended.id] && downloads.last?.state == .completed)
            received = downloads.first?.bytesReceived ?? 0
            if !isRestarted, received > 0 {
                try service.restart("--allow-private")
                isRestarted = true
            }
            if downloads.first?.state == .completed { break }
        }
        #expect(isRestarted && received == 600_000)
    }

    @Test("A service with other data has another list")
    func replacement() async throws {
        let service = try DemoService()
        let pawl = Pawl(service.url)
        let added = try await pawl.add(url: file(of: pawl, size: 10))
        var lists = pawl.updates().makeAsyncIterator()
        #expect(try await lists.next()?.map(\.id) == [added.id])
        try service.restart(isEmpty: true)
        while try await lists.next() != [] {}
    }

    @Test("A token that is void after a restart ends the sequence")
    func refusal() async throws {
        let service = try DemoService("--token", "the-first-token-of-it")
        let pawl = Pawl(service.url, token: "the-first-token-of-it")
        var lists = pawl.updates().makeAsyncIterator()
        #expect(try await lists.next() == [])
        try service.restart(isEmpty: false, "--token", "the-second-token-of-it")
        let error = await #expect(throws: PawlError.self) { try await lists.next() }
        #expect(error?.code == "unauthorized")
    }

    @Test("Many readers do not keep requests waiting")
    func readers() async throws {
        let service = try DemoService()
        let pawl = Pawl(service.url)
        var readers: [Updates.AsyncIterator] = []
        for _ in 0..<12 {
            var reader = pawl.updates().makeAsyncIterator()
            #expect(try await reader.next() == [])
            readers.append(reader)
        }
        let added = try await pawl.add(url: file(of: pawl, size: 10))
        for index in readers.indices { while try await readers[index].next()?[id: added.id] == nil {} }
    }

    @Test("A broken stream continues after its last event, behind a proxy that fails at times")
    func proxy() async throws {
        var ids: [[Download.ID]] = []
        for try await downloads in try Surroundings.client(of: "night-\(UUID().uuidString)").updates() {
            ids.append(downloads.map(\.id))
            if ids.count == 3 { break }
        }
        #expect(ids == [[], ["01"], []])
    }

    @Test("A stream without a byte is replaced by another one")
    func silence() async throws {
        let key = "silent-\(UUID().uuidString)"
        let pawl = try Surroundings.client(of: key, silence: 1)
        let task = Task { for try await _ in pawl.updates() {} }
        try await wait { try await counts(of: key) == "2 opened, 1 closed" }
        task.cancel()
        try await task.value
        try await wait { try await counts(of: key) == "2 opened, 2 closed" }
    }

    @Test("The request ends when the loop is left")
    func end() async throws {
        let key = "silent-\(UUID().uuidString)"
        for try await _ in try Surroundings.client(of: key).updates() { break }
        try await wait { try await counts(of: key) == "1 opened, 1 closed" }
    }
}

@Suite("Parts of updates")
struct PartTests {
    private static let stream = """
        : a comment\r\nid: e-1\r\nevent: snapshot\r\ndata: []\r\n\r\nretry: 5\ndata:1\n:\ndata: 2\n\n:\nevent\ndata\n\n\
        event: download\nid:e-2\ndata: ü: 歌\n\nevent: none\n\ndata: x\n\ndata: cut
        """

    @Test("Events are the same however their bytes are divided", arguments: 1...20)
    func parser(length: Int) throws {
        var parser = EventParser()
        var events: [ServerEvent] = []
        var rest = Data(Self.stream.utf8)
        while !rest.isEmpty {
            events += try parser.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        #expect(
            events == [
                ServerEvent(id: "e-1", name: "snapshot", data: "[]"), ServerEvent(id: "e-1", name: "", data: "1\n2"),
                ServerEvent(id: "e-2", name: "download", data: "ü: 歌"), ServerEvent(id: "e-2", name: "", data: "x"),
            ])
    }

    @Test("An endless event is refused")
    func bound() {
        var parser = EventParser()
        let bytes = Data(repeating: 65, count: 16 << 20)
        #expect(throws: PawlError.self) { for _ in 0..<5 { _ = try parser.append(bytes) } }
    }

    @Test("Waits double up to a maximum")
    func backoff() {
        #expect([0, 1, 2, 3, 4, 5, 6, 100, .max].map(Follower.wait) == [0.5, 1, 2, 4, 8, 15, 15, 15, 15])
    }

    @Test("Unknown states, members and forms are no error, and values can be coded again")
    func values() throws {
        let text = """
            {"id":"1","url":"","state":"resting","filename":null,"folder":"a/b","mediaType":null,"bytesReceived":5000000000,
            "bytesTotal":null,"progress":null,"bytesPerSecond":0,"etaSeconds":1.5,"stalled":false,"error":{"code":"new","message":"m"},
            "sha256":null,"labels":["l"],"track":{"name":7},"createdAt":"2026-11-27T07:41:18.197Z","updatedAt":"2026-11-27T07:41:20.001Z",
            "completedAt":null,"fileMissing":false,"waitingFor":"moon","member":{"new":[1]}}
            """
        let download: Download = try PawlError.decode(Data(text.utf8))
        #expect(download.url == nil && download.state == .unknown && !download.state.hasEnded)
        #expect(download.track == nil && download.error?.code == "new" && download.waitingFor == "moon")
        #expect(abs(download.createdAt.timeIntervalSince1970 - 1_795_765_278.197) < 0.0005)
        #expect(try JSONDecoder().decode(Download.self, from: JSONEncoder().encode(download)) == download)
        let results = #"{"results":[{"id":null,"name":"a"},{"id":"b","artworkUrl":null,"bytes":1}],"attribution":null}"#
        #expect(try JSONDecoder().decode(SearchResponse.self, from: Data(results.utf8)).results.map(\.id) == ["b"])
    }

    @Test("A list takes no state of the past, and keeps live downloads beyond its maximum")
    func list() throws {
        func download(_ number: Int, _ state: Download.State, second: Int = 5) throws -> Download {
            let text = """
                {"id":"\(10_000 + number)","state":"\(state.rawValue)","folder":"","bytesReceived":0,"bytesPerSecond":0,"labels":[],
                "createdAt":"2026-01-01T00:00:00.000Z","updatedAt":"2026-01-01T00:00:0\(second).000Z","fileMissing":false}
                """
            return try PawlError.decode(Data(text.utf8))
        }
        var list = try (2...1001).reversed().map { try download($0, .completed) }
        let old = try download(0, .paused)
        list.put(old)
        #expect(list.count == Updates.maximumCount && list.last == old)
        #expect(list[998].id == "10003", "the oldest ended download makes room")
        list.put(try download(1001, .downloading, second: 4))
        #expect(list[0].state == .completed)
        list.put(try download(1001, .failed))
        #expect(list[0].state == .failed)
        list.put(try download(1002, .queued))
        #expect(list.count == Updates.maximumCount && list.map(\.id) == list.map(\.id).sorted(by: >))
        #expect(list[0].state == .queued && list[1].state == .failed)
    }
}
