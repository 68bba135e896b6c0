import Foundation
import HTTPClient
import HTTPCore
import JSON
import PawlConfiguration
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadFeed
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

    @Test("The message to a webhook is the resource, signed and named, and equal in each attempt")
    func webhooks() async throws {
        let isUp = Waiter(false)
        let receiver = try ScriptedOrigin { _ in [.response(isUp.value ? 204 : 503)] }
        let allowed = try DestinationRule(parsing: "127.0.0.1:\(receiver.port)")
        var resource: [UInt8] = []
        try await RunningService.with(directory: directory) {
            $0.webhookSecret = "key"
            $0.allowedDestinations.append(allowed)
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
            $0.webhookSecret = "key"
            $0.allowedDestinations.append(allowed)
        } _: { _ in
            let delivered = try #require(try await receiver.requests(atLeast: tries + 1).last)
            let first = try #require(receiver.requests.first)
            #expect(delivered["Pawl-Delivery"] == first["Pawl-Delivery"])
            #expect(Bytes(delivered.body) == Bytes(first.body))
            #expect(Bytes(first.body) == Bytes(resource))
            for request in [first, delivered] {
                #expect(request.method == "POST")
                #expect(request.target == "/hook")
                #expect(request["Content-Type"] == "application/json")
                let signature = try #require(request["Pawl-Signature"])
                let seconds = try #require(Int64(signature.dropFirst(2).prefix { $0 != "," }))
                let now = Timestamp(millisecondsSinceEpoch: seconds * 1000)
                #expect(signature == SignedWebhookSender.signature(of: request.body, secret: "key", at: now))
            }
        }
    }

    @Test("Reads the webhook secret's file at the start and at SIGHUP; a bad one keeps the old secret")
    func webhookSecretFile() async throws {
        let path = directory.path + "/secret"
        var configuration = Configuration()
        configuration.port = 0
        configuration.dataDirectory = directory.path + "/unused"
        configuration.webhookSecretFile = path
        let silent = Log(level: .error, format: .text, now: { .now() }, sink: { _ in })
        for contents in [nil, "", "\nkey\n"] {
            if let contents { try Data(contents.utf8).write(to: URL(filePath: path)) }
            await #expect(throws: StartError.self) { _ = try await Service.start(configuration, log: silent) }
        }

        let receiver = try ScriptedOrigin { _ in [.response(204)] }
        let allowed = try DestinationRule(parsing: "127.0.0.1:\(receiver.port)")
        try Data("first key\r\nsecond line".utf8).write(to: URL(filePath: path))
        try await RunningService.with(directory: directory) {
            $0.webhookSecretFile = path
            $0.allowedDestinations.append(allowed)
        } _: { running in
            func expectSigned(by key: String) async throws {
                let count = receiver.requests.count
                _ = try await running.add(
                    "/entity?size=10", #","onDuplicate":"new","webhook":"\#(receiver.url("/hook"))""#)
                let request = try #require(try await receiver.requests(atLeast: count + 1).last)
                let signature = try #require(request["Pawl-Signature"])
                let seconds = try #require(Int64(signature.dropFirst(2).prefix { $0 != "," }))
                let now = Timestamp(millisecondsSinceEpoch: seconds * 1000)
                #expect(signature == SignedWebhookSender.signature(of: request.body, secret: key, at: now))
            }
            try await expectSigned(by: "first key")
            try Data("next".utf8).write(to: URL(filePath: path))
            try await expectSigned(by: "first key")
            running.service.reloadSecrets()
            try await expectSigned(by: "next")
            try Data().write(to: URL(filePath: path))
            running.service.reloadSecrets()
            try await expectSigned(by: "next")
            try FileManager.default.removeItem(atPath: path)
            running.service.reloadSecrets()
            try await expectSigned(by: "next")
        }
    }

    @Test("Without a secret, messages are not signed")
    func unsigned() async throws {
        let receiver = try ScriptedOrigin { _ in [.response(204)] }
        let allowed = try DestinationRule(parsing: "127.0.0.1:\(receiver.port)")
        try await RunningService.with(directory: directory) {
            $0.allowedDestinations.append(allowed)
        } _: { running in
            _ = try await running.add("/entity?size=10", #","webhook":"\#(receiver.url("/hook"))""#)
            let request = try #require(try await receiver.requests(atLeast: 1).first)
            #expect(request["Pawl-Signature"] == nil)
            #expect(request["Pawl-Delivery"] != nil)
        }
    }
}
