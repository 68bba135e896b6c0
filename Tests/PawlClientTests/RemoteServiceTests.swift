import CommandLine
import Downloads
import Foundation
import HTTPClient
import HTTPCore
import HTTPServer
import JSON
import PawlConfiguration
import PawlService
import Terminal
import TestSupport
import TestUpstream
import Testing

@testable import DownloadCore
@testable import HTTPClient
@testable import PawlClient

@Suite("A client of a running service", .timeLimit(.minutes(3)))
struct RemoteServiceTests {
    /// Starts a service that may download from a demo upstream, and passes both to `body`.
    private func withService(
        token: String? = nil, _ body: (_ server: String, _ upstream: String) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let upstream = TestUpstream()
        let origin = try upstream.start()
        var configuration = Configuration()
        configuration.server.port = 0
        configuration.downloads.dataDirectory = directory.path
        configuration.downloads.destinationGuard.allowed = [
            try DestinationRule(parsing: String(origin.dropFirst("http://".count)))
        ]
        configuration.itunesURL = try #require(HTTPURL(origin))
        if let token { configuration.token = AccessToken(token) }
        let service = try await Service.start(configuration, log: Log(level: .error, format: .text))
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(service.url, origin))
        } catch {
            result = .failure(error)
        }
        await service.stop(within: .seconds(2))
        await upstream.shutdown()
        try result.get()
    }

    private func client(_ server: String, _ arguments: [String] = []) throws -> RemoteService {
        try RemoteService(try CommandLineParser.parse(["list", "--server", server] + arguments, environment: [:]))
    }

    private func failure(_ body: () async throws(RemoteError) -> Void) async -> RemoteError? {
        do throws(RemoteError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test("Adds downloads, finds them by the beginning of an id, and sends commands")
    func downloads() async throws {
        try await withService { server, origin in
            let service = try client(server)
            defer { service.close() }
            let item = JSONValue.object([
                JSONMember(name: "url", value: .string(origin + "/entity?size=10")),
                JSONMember(name: "paused", value: .bool(true)),
            ])
            let responses = try await service.add([item, item, .object([])])
            #expect(responses.map { $0["status"]?.integer } == [201, 200, 400])
            let id = try #require(responses[0]["download"]?["id"]?.string)
            #expect(try await service.resolve([String(id.suffix(9)).lowercased(), id]) == [.one(id), .one(id)])
            #expect(try await service.perform("cancel", on: id)["state"]?.string == "cancelled")
            let illegal = await failure { () throws(RemoteError) in _ = try await service.perform("pause", on: id) }
            guard case .problem(.illegalTransition, _) = illegal else {
                Issue.record("\(String(describing: illegal))")
                return
            }
            try await service.remove(id, deletingFile: false)
            #expect(try await service.list(limit: 1000).items.isEmpty)
        }
    }

    @Test("Reads pages of a list up to the limit")
    func pages() async throws {
        try await withService { server, origin in
            let service = try client(server)
            defer { service.close() }
            let items = (0..<450).map { number in
                JSONValue.object([
                    JSONMember(name: "url", value: .string(origin + "/entity?size=1&seed=\(number)")),
                    JSONMember(name: "paused", value: .bool(true)),
                ])
            }
            #expect(try await service.add(items).count == 450)
            for limit in [1, 200, 201, 450, 1000] {
                let listing = try await service.list(limit: limit)
                #expect(listing.items.count == min(limit, 450))
                #expect(listing.total == 450)
            }
            #expect(Set(try await service.list(limit: 1000).items.compactMap { $0["id"]?.string }).count == 450)
        }
    }

    @Test("Distinguishes missing and wrong tokens from an unreachable service")
    func errors() async throws {
        try await withService(token: "right") { server, _ in
            for (arguments, hasToken) in [([], false), (["--token", "wrong"], true)] {
                let service = try client(server, arguments)
                defer { service.close() }
                let error = await failure { () throws(RemoteError) in _ = try await service.list(limit: 1) }
                #expect(error == .unauthorized(server: server, hasToken: hasToken))
                #expect(error?.status == .unauthorized)
            }
            let service = try client(server, ["--token", "right"])
            defer { service.close() }
            #expect(try await service.list(limit: 1).items.isEmpty)
            // A response of another service.
            let stranger = try client(server + "/nothing", ["--token", "right"])
            defer { stranger.close() }
            #expect(await failure { () throws(RemoteError) in _ = try await stranger.list(limit: 1) }?.status == .failed)
        }
        let gone = try client("http://127.0.0.1:1")
        defer { gone.close() }
        let error = await failure { () throws(RemoteError) in _ = try await gone.list(limit: 1) }
        #expect(error?.status == .unreachable)
        #expect(error?.message.contains("the service at http://127.0.0.1:1 is unreachable") == true)
    }

    @Test("Recognises a server that is not a Pawl service")
    func strangers() async throws {
        let upstream = TestUpstream()
        let origin = try upstream.start()
        let service = try client(origin)
        let error = await failure { () throws(RemoteError) in _ = try await service.list(limit: 1) }
        #expect(error?.status == .unreachable)
        #expect(error?.message.contains("is not a Pawl service") == true)
        service.close()
        await upstream.shutdown()
    }

    @Test("Receives events live, the snapshot first")
    func events() async throws {
        try await withService { server, origin in
            let service = try client(server)
            defer { service.close() }
            let (wakes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let sink = EventSink(service) { continuation.yield() }
            _ = service.follow(sink)
            var model = WatchModel(server: server)
            var isAdded = false
            for await _ in wakes {
                let news = sink.takeArrivals()
                try #require(news.end == nil)
                for event in news.events { model.take(event) }
                if model.connection == .live, !isAdded {
                    isAdded = true
                    let item = [JSONMember(name: "url", value: .string(origin + "/entity?size=1000"))]
                    _ = try await service.add([.object(item)])
                }
                if model.rows.contains(where: { $0.status.state == .completed }) { break }
            }
            #expect(model.rows.count == 1)
        }
    }

    @Test("A stream with comments only is not silent")
    func idleStream() throws {
        let service = try client("http://127.0.0.1:9")
        defer { service.close() }
        let start = ContinuousClock.now
        var timer = TransferTimer(request: service.eventsRequest, now: start)
        timer.headArrived(now: start)
        // The service sends ":\n" every 4 s.
        for comment in 1...900 {
            let error = timer.exceeded(bytes: Int64(comment * 2), now: start + .seconds(comment * 4))
            #expect(error == nil)
        }
        var now = start + .seconds(3600)
        while timer.exceeded(bytes: 1800, now: now) == nil { now = try #require(timer.due) }
        #expect(now <= start + .seconds(3600 + 90))
    }

    @Test("Divides requests into batches within the limits")
    func batches() {
        let small = JSONValue.object([JSONMember(name: "url", value: .string("http://a.example/"))])
        let large = JSONValue.object([JSONMember(name: "url", value: .string(String(repeating: "x", count: 300_000)))])
        #expect(RemoteService.batches([]).isEmpty)
        #expect(RemoteService.batches(Array(repeating: small, count: 1001)).map(\.count) == [500, 500, 1])
        #expect(RemoteService.batches([large, small, large, large]).map(\.count) == [2, 1, 1])
    }
}
