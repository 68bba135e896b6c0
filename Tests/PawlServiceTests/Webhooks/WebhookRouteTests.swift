import DownloadCore
import Downloads
import Foundation
import HTTPClient
import HTTPCore
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import PawlService

@Suite("Default webhooks over HTTP", .timeLimit(.minutes(3)))
struct WebhookRouteTests {
    private static let full = [("Authorization", "Bearer full-s3cret")]
    private static let read = [("Authorization", "Bearer read-s3cret")]

    /// Runs a service that may connect to these origins.
    private func with(
        _ origins: [ScriptedOrigin], log: Log = Log(level: .error, format: .text, now: { .now() }, sink: { _ in }),
        _ configure: (inout Configuration) -> Void = { _ in }, _ body: (RunningService) async throws -> Void
    ) async throws {
        let allowed = try origins.map { try DestinationRule(parsing: "127.0.0.1:\($0.port)") }
        try await RunningService.with(log: log) {
            $0.downloads.destinationGuard.allowed += allowed
            configure(&$0)
        } _: {
            try await body($0)
        }
    }

    private func messages(_ requests: [ScriptedOrigin.Request]) throws -> [JSONValue] {
        try requests.map { try JSONValue(parsing: $0.body) }
    }

    @Test("Only the scope full sees webhooks, without passwords, which stay; the log has their number")
    func secrets() async throws {
        let lines = Locked<[String]>([])
        let log = Log(level: .debug, format: .json, now: { .now() }) { bytes in
            lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
        let directory = try TemporaryDirectory()
        let tokens = directory.path + "/tokens"
        try Data("ops full full-s3cret\nboard read read-s3cret\n".utf8).write(to: URL(filePath: tokens))
        let receiver = try ScriptedOrigin { _ in [.response(204)] }
        try await with([receiver], log: log) {
            $0.tokensFile = tokens
        } _: { running in
            func patch(_ json: String) async throws -> TestResponse {
                let fields = Self.full + [("Content-Type", "application/json")]
                return try await running.send("PATCH", "/settings", fields: fields, body: Array(json.utf8))
            }
            let hook = receiver.url("/hook?key=hook-s3cret")
            let withUser = hook.replacing("http://", with: "http://user:pass-s3cret@")
            let changed = try await patch(#"{"webhooks":["\#(withUser)"]}"#)
            #expect(changed.json["webhooks"]?.array?.compactMap(\.string) == [hook])
            let shown = try await running.send("GET", "/settings", fields: Self.full)
            #expect(shown.body == changed.body && shown["etag"] == changed["etag"])
            let seen = try await running.send("GET", "/settings", fields: Self.read)
            #expect(seen.status == 200 && seen.json["webhooks"] == nil && seen.json["segments"] != nil)
            #expect(try await running.send("POST", "/settings/webhooks/test", fields: Self.read).status == 403)
            // The list as it was shown.
            #expect(try await patch(#"{"webhooks":["\#(hook)"]}"#).body == changed.body)
            let tested = try await running.send("POST", "/settings/webhooks/test", fields: Self.full)
            #expect(tested.text == #"{"receivers":[{"url":"\#(hook)","status":204,"error":null}]}"# + "\n")
            let message = try #require(receiver.requests.first)
            #expect(message["Authorization"] == "Basic " + Base64.encode(Array("user:pass-s3cret".utf8)))
            #expect(try messages([message]).first?["type"]?.string == "webhook.test")
            #expect(try await patch(#"{"webhooks":[]}"#).json["webhooks"]?.array?.isEmpty == true)
            let none = try await running.send("POST", "/settings/webhooks/test", fields: Self.full)
            #expect(none.text == #"{"receivers":[]}"# + "\n")
            let refused = try await patch(#"{"webhooks":["http://10.0.0.1/hook-s3cret"]}"#)
            #expect(refused.status == 403 && refused.code == "destination-forbidden" && !refused.text.contains("s3cret"))
        }
        let text = lines.withLock { $0.joined() }
        #expect(text.contains(#"\"webhooks\":1"#))
        #expect(!text.contains("s3cret"))
    }

    @Test("A long body of a response is cut, and the status counts", arguments: [200, 503])
    func longBody(status: Int) async throws {
        let receiver = try ScriptedOrigin { request in
            [
                .response(
                    request.number == 0 ? status : 204, body: request.number == 0 ? [UInt8](repeating: 1, count: 300_000) : [])
            ]
        }
        try await with([receiver]) {
            $0.downloads.webhooks = [HTTPURL(receiver.url("/hook"))].compactMap(\.self)
        } _: { running in
            let tested = try await running.send("POST", "/settings/webhooks/test")
            #expect(tested.text.contains(#""status":\#(status),"#), "\(tested.text)")
        }
    }

    @Test("A redirect of a receiver is its response")
    func redirect() async throws {
        let receiver = try ScriptedOrigin { _ in [.response(302, [("Location", "/other")])] }
        try await with([receiver]) {
            $0.downloads.webhooks = [HTTPURL(receiver.url("/hook"))].compactMap(\.self)
        } _: { running in
            let tested = try await running.send("POST", "/settings/webhooks/test")
            #expect(tested.text.contains(#""status":302,"error":"it answered 302""#), "\(tested.text)")
            #expect(receiver.requests.count == 1)
        }
    }

    @Test("Every download that ends is told of, also one of a client of aria2")
    func everyDownload() async throws {
        let receiver = try ScriptedOrigin { _ in [.response(204)] }
        try await with([receiver]) {
            $0.downloads.webhooks = [HTTPURL(receiver.url("/hook"))].compactMap(\.self)
        } _: { running in
            let url = "\(running.upstreamURL)/entity?size=10"
            let added = try await running.send(
                "POST", "/jsonrpc", json: #"{"jsonrpc":"2.0","id":"1","method":"aria2.addUri","params":[["\#(url)"]]}"#)
            #expect(added.status == 200)
            let message = try messages(try await receiver.requests(atLeast: 1)).first
            #expect(message?["type"]?.string == "download.completed" && message?["data"]?["url"]?.string == url)
        }
    }

    @Test("A subscription that fails is told of once until it works again, without secrets; so is one whose feed has ended")
    func subscriptions() async throws {
        let receiver = try ScriptedOrigin { _ in [.response(204)] }
        let feed = try FeedOrigin([("1", "One")])
        try await with([receiver, feed.origin]) {
            $0.downloads.webhooks = [HTTPURL(receiver.url("/hook"))].compactMap(\.self)
            $0.downloads.webhookTypes = [.subscriptionFailed]
        } _: { running in
            let made = try await running.send("POST", "/subscriptions", json: #"{"feedUrl":"\#(feed.url)?key=s3cret"}"#)
            let id = try #require(made.json["id"]?.string)
            func refresh(_ status: Int?) async throws {
                feed.change { $0.statuses["/feed"] = status }
                #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").status == 200)
            }
            try await refresh(nil)
            for status in [500, 500, 410, nil, 404, 404, nil, 410, 410] { try await refresh(status) }
            let told = try messages(try await receiver.requests(atLeast: 3))
            #expect(told.allSatisfy { $0["type"]?.string == "subscription.failed" && $0["data"]?["id"]?.string == id })
            #expect(told.compactMap { $0["data"]?["failures"]?.integer } == [1, 1, 1])
            #expect(Set(told.compactMap { $0["data"]?["state"]?.string }) == ["active", "gone"])
            #expect(receiver.requests.allSatisfy { !String(decoding: $0.body, as: UTF8.self).contains("s3cret") })
        }
        #expect(receiver.requests.count == 3)
    }
}
