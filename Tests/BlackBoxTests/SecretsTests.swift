import Foundation
import JSON
import TestSupport
import Testing

/// Runs a service with a secret in every possible place at the lowest log level, and searches all output for them.
@Suite("Secrets", .timeLimit(.minutes(5)))
@OffPool
struct SecretsTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The secrets that must not appear anywhere.
    private static let hidden = [
        "token-s3cret", Self.webhookSecret, "receiver-s3cret", "proxy-s3cret", "header-s3cret", "cookie-s3cret",
        "password-s3cret", "guess-s3cret",
    ]
    /// The secrets that clients may see, since they are part of their URLs, but not logs or metrics.
    private static let unlogged = hidden + ["signature-s3cret", "hook-s3cret"]
    private static let webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test("Appear in no response, log or metric", arguments: ["text", "json"])
    func nowhere(format: String) throws {
        let tokenFile = directory.path + "/token"
        try Data("token-s3cret\n".utf8).write(to: URL(filePath: tokenFile))
        let proxy = try RelayProxy(credentials: ("user", "proxy-s3cret"))
        let closed = try ClosedPort()
        let hook = "http://user:receiver-s3cret@127.0.0.1:\(closed.number)/hook?key=hook-s3cret"
        let pawl = try PawlProcess(
            [
                "demo", "--webhook", hook, "--port", "0", "--data-dir", directory.path + "/data", "--proxy",
                "http://user:proxy-s3cret@127.0.0.1:\(proxy.port)", "--token-file", tokenFile, "--log-level", "debug",
                "--log-format", format, "--allow-private",
            ], in: directory, environment: ["PAWL_WEBHOOK_SECRET": Self.webhookSecret, "PAWL_PASSWORD": "password-s3cret"])
        var heard = ""
        func send(_ method: String, _ path: String, _ json: String? = nil, token: String? = "token-s3cret") throws -> JSONValue {
            var fields = token.map { [("Authorization", "Bearer \($0)")] } ?? []
            if json != nil { fields.append(("Content-Type", "application/json")) }
            let answer = try pawl.client.send(method, path, fields: fields, body: json.map { Array($0.utf8) })
            heard += "\(answer.fields)\n" + answer.text
            return (try? JSONValue(parsing: answer.body)) ?? .null
        }

        let source = try #require(try send("GET", "/search?term=prelude")["results"]?.array?.first?["downloadUrl"]?.string)
        let origin = try #require(URL(string: source).flatMap { url in url.port.map { "127.0.0.1:\($0)" } })
        let members =
            #""headers":{"Authorization":"Bearer header-s3cret","Cookie":"cookie-s3cret"},"onDuplicate":"new""#
        var ids: [String] = []
        for path in [
            "/entity?size=1000&signature=signature-s3cret", "/entity?size=10&fault=403&signature=signature-s3cret",
            "/entity?size=4000&fault=reset@2000&signature=signature-s3cret",
        ] {
            let withUser = #"{"url":"http://user:password-s3cret@\#(origin)\#(path)","headers":{"Cookie":"cookie-s3cret"}}"#
            let withFields = #"{"url":"http://\#(origin)\#(path)",\#(members)}"#
            for body in [withUser, withFields] {
                ids.append(try #require(try send("POST", "/downloads", body)["id"]?.string))
            }
        }
        for id in ids {
            while !["completed", "failed", "retrying"].contains(try send("GET", "/downloads/\(id)")["state"]?.string) {}
        }
        for id in ids {
            for command in ["pause", "resume", "retry"] { _ = try send("POST", "/downloads/\(id)/\(command)") }
            _ = try send("GET", "/downloads/\(id)/file?signature=signature-s3cret")
        }
        for path in ["/downloads", "/stats", "/settings", "/", "/docs", "/openapi.yaml", "/nothing", "/downloads?q=user"] {
            _ = try send("GET", path)
        }
        let settings = try send("PATCH", "/settings", #"{"webhooks":["\#(hook)"],"segments":3}"#)
        #expect(settings["webhooks"]?.array?.first?.string?.contains("hook-s3cret") == true)
        _ = try send("PATCH", "/settings", #"{"webhooks":["ftp://user:receiver-s3cret@x/"]}"#)
        #expect(try send("POST", "/settings/webhooks/test")["receivers"]?.array?.first?["error"]?.string != nil)
        // Every kind of wrong token.
        _ = try send("GET", "/stats", token: "guess-s3cret")
        _ = try send("GET", "/downloads/events?ticket=guess-s3cret", token: nil)
        _ = try send("POST", "/downloads", #"{"url":"http://x/","headers":{"X":"header-s3cret\n"}}"#)
        _ = try send("POST", "/downloads", #"{"url":"ftp://user:password-s3cret@x/"}"#)
        let metrics = try pawl.client.send("GET", "/metrics", fields: [("Authorization", "Bearer token-s3cret")]).text
        #expect(metrics.contains("pawl_downloads"))
        #expect(pawl.terminate() == 0)

        // The demo's upstream is an origin and lists its requests.
        let log = try pawl.log().split(separator: "\n").filter { !$0.contains("upstream: ") }.joined(separator: "\n")
        #expect(log.contains("download is completed"))
        #expect(log.contains("request"))
        #expect(log.contains("PAWL_PASSWORD"))
        for secret in Self.hidden { #expect(!heard.contains(secret), "\(secret) in an answer") }
        for secret in Self.unlogged {
            #expect(!log.contains(secret), "\(secret) in the log: \(line(of: secret, in: log))")
            #expect(!metrics.contains(secret), "\(secret) in the metrics")
        }
    }

    private func line(of text: String, in log: String) -> Substring {
        log.split(separator: "\n").first { $0.contains(text) } ?? ""
    }
}
