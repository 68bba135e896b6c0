import Foundation
import HTTPClient
import HTTPCore
import HTTPServer
import JSON
import PawlConfiguration
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadIndex
@testable import DownloadStore
@testable import DownloadTransfer
@testable import Downloads
@testable import PawlService

@Suite("State over a restart", .timeLimit(.minutes(3)))
struct RestartTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The parts of a response that a repetition must equal.
    private struct Repeated: Equatable {
        let status: Int
        let location: String?
        let body: String

        init(_ response: TestResponse) {
            status = response.status
            location = response["location"]
            body = response.text
        }
    }

    @Test("A repeated POST gets the same bytes despite later changes of the downloads")
    func repetition() async throws {
        var requests: [(key: String, path: String, body: String)] = []
        var told: [String: Repeated] = [:]
        try await RunningService.with(directory: directory) { running in
            let url = running.upstreamURL + "/entity?size=1000"
            let known = try await running.add("/entity?size=1000&seed=1")
            try await running.complete(known)
            _ = try await running.add("/entity?size=1000&seed=2", #","paused":true"#)
            let track = ##"{"name":"T \"ü\" \/","n":[1,0.99,5.0,-1e30,null,{"deep":true}]}"##
            let checksum = "sha-256:" + String(repeating: "0", count: 64)
            requests = [
                (
                    "single", "/downloads",
                    #"""
                    {"url":"\#(url)","labels":["a","ü"],"priority":-3,"track":\#(track),"checksum":"\#(checksum)","speedLimit":5,
                     "filename":"ünï.bin","segments":2,"paused":true,"headers":{"X-Secret":"s"}}
                    """#
                ),
                ("completed", "/downloads", #"{"url":"\#(url)&seed=1"}"#),
                ("paused", "/downloads", #"{"url":"\#(url)&seed=2"}"#),
                (
                    "batch", "/downloads/batch",
                    #"""
                    {"downloads":[{"url":"\#(url)&seed=3","paused":true},{"url":"nonsense"},{"url":"\#(url)&seed=3","onDuplicate":"reject"},
                     {"url":"\#(url)&seed=1"},{"url":"http://10.0.0.1/a"},{"trackId":"itunes:0"},{"url":"\#(url)","filename":"../a"}]}
                    """#
                ),
            ]
            for (key, path, body) in requests {
                let first = try await running.send("POST", path, json: body, fields: [("Idempotency-Key", key)])
                told[key] = Repeated(first)
                #expect(
                    try await Repeated(running.send("POST", path, json: body, fields: [("Idempotency-Key", key)])) == told[key])
                let id = first.json["id"]?.string
                if let id, key != "completed" { _ = try await running.send("POST", "/downloads/\(id)/cancel") }
                if let id, key == "single" { _ = try await running.send("DELETE", "/downloads/\(id)") }
            }
        }
        #expect(told.mapValues(\.status) == ["single": 201, "completed": 200, "paused": 200, "batch": 200])
        try await RunningService.with(directory: directory) { running in
            for (key, path, body) in requests {
                let second = try await running.send("POST", path, json: body, fields: [("Idempotency-Key", key)])
                #expect(Repeated(second) == told[key])
            }
        }
    }

    private static let secrets = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"]

    /// Checks that a message has the signatures of these secrets, and no other.
    private func expectSigned(_ request: ScriptedOrigin.Request, by secrets: [String]) throws {
        let seconds = try #require(request["webhook-timestamp"].flatMap { Int64($0) })
        #expect(abs(Timestamp.now().millisecondsSinceEpoch / 1000 - seconds) < 100)
        let id = try #require(request["webhook-id"])
        let signatures = try secrets.map { secret in
            try #require(WebhookSecret(secret)).signature(id: id, seconds: seconds, body: request.body)
        }
        #expect(request["webhook-signature"] == signatures.joined(separator: " "))
    }

    @Test("The data of a message is the resource; each attempt has the same id and body, and a signature of each secret")
    func webhooks() async throws {
        let isUp = Waiter(false)
        let receiver = try ScriptedOrigin { _ in [.response(isUp.value ? 204 : 503)] }
        let allowed = try DestinationRule(parsing: "127.0.0.1:\(receiver.port)")
        var resource: [UInt8] = []
        try await RunningService.with(directory: directory) {
            $0.webhookSecrets = Self.secrets.compactMap { WebhookSecret($0) }
            $0.downloads.destinationGuard.allowed.append(allowed)
        } _: { running in
            let id = try await running.add(
                "/entity?size=1000", #","labels":["ü"],"track":{"name":"x","n":0.5},"webhook":"\#(receiver.url("/hook"))""#)
            try await running.complete(id)
            try await receiver.requests(atLeast: 1)
            resource = try await running.send("GET", "/downloads/\(id)").body
        }
        // The first run may have made several attempts.
        let tries = receiver.requests.count
        isUp.update { $0 = true }
        try await RunningService.with(directory: directory) {
            $0.webhookSecrets = Self.secrets.compactMap { WebhookSecret($0) }
            $0.downloads.destinationGuard.allowed.append(allowed)
        } _: { _ in
            let delivered = try #require(try await receiver.requests(atLeast: tries + 1).last)
            let first = try #require(receiver.requests.first)
            #expect(delivered["webhook-id"] == first["webhook-id"])
            #expect(Bytes(delivered.body) == Bytes(first.body))
            let ended = try #require(try JSONValue(parsing: resource)["completedAt"]?.string)
            let head = #"{"type":"download.completed","timestamp":"\#(ended)","data":"#
            #expect(Bytes(first.body) == Bytes(Array(head.utf8) + resource.dropLast() + Array("}".utf8)))
            for request in [first, delivered] {
                #expect(request.method == "POST")
                #expect(request.target == "/hook")
                #expect(request["Content-Type"] == "application/json")
                try expectSigned(request, by: Self.secrets)
            }
        }
    }

    @Test("Reads the webhook secret's file at the start and at SIGHUP; a bad one keeps the old secret")
    func webhookSecretFile() async throws {
        let path = directory.path + "/secret"
        var configuration = Configuration()
        configuration.server.port = 0
        configuration.downloads.dataDirectory = directory.path + "/unused"
        configuration.webhookSecretFile = path
        let silent = Log(level: .error, format: .text, now: { .now() }, sink: { _ in })
        for contents in [nil, "", "\n\(Self.secrets[0])\n", "a-s3cret", Self.secrets[0] + ","] {
            if let contents { try Data(contents.utf8).write(to: URL(filePath: path)) }
            let error = await #expect(throws: StartError.self) { _ = try await Service.start(configuration, log: silent) }
            #expect(contents == nil || error?.description.contains(WebhookSecret.accepted) == true)
            #expect(error?.description.contains("s3cret") == false)
        }

        let receiver = try ScriptedOrigin { _ in [.response(204)] }
        let allowed = try DestinationRule(parsing: "127.0.0.1:\(receiver.port)")
        try Data("\(Self.secrets[0])\r\nsecond line".utf8).write(to: URL(filePath: path))
        try await RunningService.with(directory: directory) {
            $0.webhookSecretFile = path
            $0.downloads.destinationGuard.allowed.append(allowed)
        } _: { running in
            func expectSigned(by secrets: [String]) async throws {
                let count = receiver.requests.count
                _ = try await running.add(
                    "/entity?size=10", #","onDuplicate":"new","webhook":"\#(receiver.url("/hook"))""#)
                let request = try #require(try await receiver.requests(atLeast: count + 1).last)
                try self.expectSigned(request, by: secrets)
            }
            let old = [Self.secrets[0]]
            try await expectSigned(by: old)
            try Data(Self.secrets.joined(separator: ",").utf8).write(to: URL(filePath: path))
            try await expectSigned(by: old)
            running.service.reloadSecrets()
            try await expectSigned(by: Self.secrets)
            try Data("whsec_short".utf8).write(to: URL(filePath: path))
            running.service.reloadSecrets()
            try await expectSigned(by: Self.secrets)
            try FileManager.default.removeItem(atPath: path)
            running.service.reloadSecrets()
            try await expectSigned(by: Self.secrets)
        }
    }

    @Test("Without a secret, messages are not signed")
    func unsigned() async throws {
        let receiver = try ScriptedOrigin { _ in [.response(204)] }
        let allowed = try DestinationRule(parsing: "127.0.0.1:\(receiver.port)")
        try await RunningService.with(directory: directory) {
            $0.downloads.destinationGuard.allowed.append(allowed)
        } _: { running in
            _ = try await running.add("/entity?size=10", #","webhook":"\#(receiver.url("/hook"))""#)
            let request = try #require(try await receiver.requests(atLeast: 1).first)
            #expect(request["webhook-signature"] == nil)
            #expect(request["webhook-id"] != nil && request["webhook-timestamp"] != nil)
        }
    }
}
