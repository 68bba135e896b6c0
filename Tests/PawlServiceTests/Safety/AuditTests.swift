import DownloadCore
import DownloadStore
import Foundation
import HTTPCore
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import PawlService

@Suite("Log lines of requests", .timeLimit(.minutes(3)))
struct AuditTests {
    /// Runs a service with a token of each scope, and returns its log.
    private func log(
        level: LogLevel, logsRequests: Bool = false, _ body: (RunningService) async throws -> Void
    ) async throws -> (text: String, entries: [JSONValue]) {
        let lines = Locked<[String]>([])
        let log = Log(level: level, format: .json, now: { .now() }) { bytes in
            lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
        let directory = try TemporaryDirectory()
        let path = directory.path + "/tokens"
        try Data("ops full full-s3cret\nboard read read-s3cret\n".utf8).write(to: URL(filePath: path))
        try await RunningService.with(log: log) {
            $0.tokensFile = path
            $0.logsRequests = logsRequests
        } _: {
            try await body($0)
        }
        let text = lines.withLock { $0 }
        return (text.joined(), try text.map { try JSONValue(parsing: Array($0.utf8)) })
    }

    @Test(
        "Logs each deletion, cancellation and change of settings with token, address and request id, at every level",
        arguments: [LogLevel.info, .error])
    func changes(level: LogLevel) async throws {
        let requests =
            [
                ("PATCH", "/settings", #"{"maxConcurrent":1}"#, 200, "settings are changed"),
                ("POST", "/downloads/{id}/cancel", nil, 200, "a download is cancelled"),
                ("DELETE", "/downloads/{id}?deleteFile=true", nil, 204, "a download is deleted"),
                ("POST", "/downloads/pause?label=s3cret", nil, 200, "downloads are paused"),
                ("POST", "/downloads/resume?label=s3cret", nil, 200, "downloads are resumed"),
                ("POST", "/downloads/cancel?label=s3cret", nil, 200, "downloads are cancelled"),
                ("DELETE", "/downloads?label=s3cret", nil, 200, "downloads are deleted"),
            ] as [(String, String, String?, Int, String)]
        let (text, entries) = try await log(level: level) { running in
            func send(_ method: String, _ path: String, _ json: String?, _ name: String, token: String = "full") async throws
                -> TestResponse
            {
                var fields = [("Authorization", "Bearer \(token)-s3cret"), ("X-Request-Id", name)]
                if json != nil { fields.append(("Content-Type", "application/json")) }
                return try await running.send(method, path, fields: fields, body: json.map { Array($0.utf8) })
            }
            let url = "\(running.upstreamURL)/entity?size=10&sig=s3cret"
            let added = try await send("POST", "/downloads", #"{"url":"\#(url)","paused":true}"#, "add")
            let id = try #require(added.json["id"]?.string)
            for (index, (method, path, json, status, _)) in requests.enumerated() {
                let path = path.replacing("{id}", with: id)
                // Refused requests have no effect and no line.
                #expect(try await send(method, path, json, "refused", token: "read").status == 403)
                #expect(try await send(method, path, json, "mine-\(index)").status == status, "\(path)")
            }
            #expect(try await send("DELETE", "/downloads/\(id)", nil, "gone").status == 404)
            #expect(try await send("PATCH", "/settings", #"{"segments":0}"#, "wrong").status == 400)
        }
        let changes = entries.filter { $0["requestId"]?.string != nil }
        #expect(changes.compactMap { $0["message"]?.string } == requests.map(\.4))
        #expect(changes.compactMap { $0["requestId"]?.string } == requests.indices.map { "mine-\($0)" })
        for change in changes {
            #expect(change["token"]?.string == "ops")
            #expect(change["address"]?.string == "127.0.0.1")
            #expect(change["level"]?.string == "info")
        }
        let results = changes.map { $0["result"]?.string }
        #expect(results[0]?.contains(#""maxConcurrent":1"#) == true)
        #expect(Array(results[1...]) == [nil, nil, #"{"changed":0}"#, #"{"changed":0}"#, #"{"changed":0}"#, #"{"removed":0}"#])
        #expect(!text.contains("s3cret"))
    }

    @Test("--access-log writes a line at info for each request with its token's name, without queries and tokens")
    func access() async throws {
        for logsRequests in [true, false] {
            let (text, entries) = try await log(level: .info, logsRequests: logsRequests) { running in
                let ticket = try await running.send("POST", "/tickets", fields: [("Authorization", "Bearer read-s3cret")])
                let name = try #require(ticket.json["ticket"]?.string)
                _ = try await running.blocking { try EventReader($0, "/downloads/events?ticket=\(name)").next() }
                _ = try await running.send("GET", "/healthz?s3cret")
                _ = try await running.send("GET", "/downloads?q=s3cret", fields: [("Authorization", "Bearer full-s3cret")])
                _ = try await running.send("GET", "/downloads?q=s3cret", fields: [("Authorization", "Bearer wrong-s3cret")])
                _ = try await running.send("PATCH", "/settings", json: "{}", fields: [("Authorization", "Bearer read-s3cret")])
                try await running.blocking { client in
                    let connection = try TestConnection(client.port)
                    try connection.send("GET /s3cret\r\n\r\n")
                    #expect(try connection.readResponse().status == 400)
                }
            }
            let requests = entries.filter { $0["message"]?.string == "request" }
            #expect(!text.contains("s3cret"))
            guard logsRequests else {
                #expect(requests.isEmpty)
                continue
            }
            #expect(
                requests.map { $0["path"]?.string } == [
                    "/tickets", "/downloads/events", "/healthz", "/downloads", "/downloads", "/settings", nil,
                ])
            #expect(requests.map { $0["token"]?.string } == ["board", "board", nil, "ops", nil, "board", nil])
            #expect(requests.compactMap { $0["status"]?.integer } == [201, 200, 400, 200, 401, 403, 400])
            #expect(requests.allSatisfy { $0["level"]?.string == "info" && $0["requestId"]?.string != nil })
        }
    }
}
