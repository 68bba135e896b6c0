import DownloadCore
import DownloadStore
import DownloadTransfer
import Downloads
import Foundation
import HTTPClient
import HTTPCore
import HTTPServer
import JSON
import PawlConfiguration
import TestSupport
import TestUpstream
import Testing

@testable import PawlService

/// A service on a free port with its own data directory and a demo upstream.
final class RunningService: Sendable {
    let service: Service
    let upstream: TestUpstream
    let upstreamURL: String
    let directory: TemporaryDirectory

    private init(service: Service, upstream: TestUpstream, upstreamURL: String, directory: TemporaryDirectory) {
        self.service = service
        self.upstream = upstream
        self.upstreamURL = upstreamURL
        self.directory = directory
    }

    /// Starts both, passes them to `body`, and stops them. `upstreamPath` is the base path of the sources; another
    /// service may have used the directory before.
    static func with(
        upstreamPath: String = "", directory: TemporaryDirectory? = nil,
        log: Log = Log(level: .error, format: .text, now: { .now() }, sink: { _ in }),
        _ configure: (inout Configuration) -> Void = { _ in },
        _ body: (RunningService) async throws -> Void
    ) async throws {
        let directory = try directory ?? TemporaryDirectory()
        let upstream = TestUpstream()
        let upstreamURL = try upstream.start()
        var configuration = Configuration()
        configuration.server.port = 0
        configuration.downloads.dataDirectory = directory.path
        let base = try #require(URL(string: upstreamURL))
        configuration.downloads.destinationGuard.allowed = [try DestinationRule(parsing: "127.0.0.1:\(try #require(base.port))")]
        configuration.itunesURL = try #require(HTTPURL(upstreamURL + upstreamPath))
        configuration.postsURL = try #require(HTTPURL(upstreamURL + upstreamPath))
        configuration.archiveURL = try #require(HTTPURL(upstreamURL + upstreamPath))
        configure(&configuration)
        let service = try await Service.start(configuration, log: log)
        let running = RunningService(service: service, upstream: upstream, upstreamURL: upstreamURL, directory: directory)
        do {
            try await body(running)
        } catch {
            await running.stop()
            throw error
        }
        await running.stop()
    }

    private func stop() async {
        await service.stop(within: .seconds(2))
        await upstream.shutdown()
    }

    // MARK: - Client

    /// Runs blocking code on its own thread, since the pool that tests and service share has few.
    func blocking<Value: Sendable>(_ body: @escaping @Sendable (TestClient) throws -> Value) async throws -> Value {
        let client = TestClient(port: service.port)
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body(client) }) }
        }
    }

    func send(
        _ method: String, _ path: String, fields: [(String, String)] = [], body: [UInt8]? = nil
    ) async throws -> TestResponse {
        // Ends the loops of tests whose time limit has passed.
        try Task.checkCancellation()
        return try await blocking { try $0.send(method, path, fields: fields, body: body) }
    }

    func send(_ method: String, _ path: String, json: String, fields: [(String, String)] = []) async throws -> TestResponse {
        try await send(method, path, fields: fields + [("Content-Type", "application/json")], body: Array(json.utf8))
    }

    /// Adds a download of an entity of the upstream.
    func add(_ target: String, _ members: String = "") async throws -> String {
        let answer = try await send("POST", "/downloads", json: #"{"url":"\#(upstreamURL)\#(target)"\#(members)}"#)
        return try #require(answer.json["id"]?.string, "\(answer.status) \(answer.text)")
    }

    /// Follows a download's events until its resource satisfies the condition.
    @discardableResult
    func follow(_ id: String, until condition: @escaping @Sendable (JSONValue) -> Bool) async throws -> JSONValue {
        try await blocking { client in
            let reader = try EventReader(client, "/downloads/\(id)/events?interval=50")
            while let event = try reader.next() {
                let download = event.data.array?.first ?? event.data
                if condition(download) { return download }
            }
            throw TestConnection.Failure.malformed("the event stream ended early")
        }
    }

    @discardableResult
    func complete(_ id: String) async throws -> JSONValue {
        let download = try await follow(id) { ["completed", "failed"].contains($0["state"]?.string) }
        #expect(download["state"]?.string == "completed")
        return download
    }
}

extension TestResponse {
    /// The body as JSON; `null` if it is not JSON.
    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    /// The members of a problem.
    var code: String? { json["code"]?.string }
    var detail: String { json["detail"]?.string ?? "" }
}

/// Reads a `text/event-stream` event by event. Blocks.
final class EventReader {
    struct Event {
        var id = ""
        var name = ""
        var data = JSONValue.null
    }

    private let stream: TestConnection
    private var pending: [UInt8] = []
    private var data: [UInt8] = []
    let head: TestResponse

    init(_ client: TestClient, _ path: String, fields: [(String, String)] = []) throws {
        stream = try client.open("GET", path, fields: fields)
        head = try stream.readHead()
        guard head.status == 200 else { throw TestConnection.Failure.malformed("status \(head.status)") }
    }

    /// The next event; nil after the proper end of the stream.
    func next() throws -> Event? {
        var event = Event()
        while true {
            guard let end = pending.firstIndex(of: 0x0A) else {
                guard let chunk = try stream.readChunk() else { return nil }
                pending += chunk
                continue
            }
            let line = String(decoding: pending[..<end], as: UTF8.self)
            pending.removeSubrange(...end)
            if line.isEmpty {
                guard !event.name.isEmpty else { continue }
                event.data = try JSONValue(parsing: data)
                data = []
                return event
            } else if line.hasPrefix("id: ") {
                event.id = String(line.dropFirst(4))
            } else if line.hasPrefix("event: ") {
                event.name = String(line.dropFirst(7))
            } else if line.hasPrefix("data: ") {
                data += line.utf8.dropFirst(6) + [0x0A]
            }
        }
    }
}
