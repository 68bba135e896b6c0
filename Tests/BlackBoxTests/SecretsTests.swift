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

        let origin = try ScriptedOrigin { request in
            switch request.target.prefix(7) {
            case "/refuse": [.response(403, body: Array("refused".utf8))]
            case "/broken": [.text("HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\nhalf"), .reset]
            default: [.response(body: Array("file".utf8))]
            }
        }
        #expect(try send("GET", "/search?term=prelude")["results"]?.array?.isEmpty == false)
        let members =
            #""headers":{"Authorization":"Bearer header-s3cret","Cookie":"cookie-s3cret"},"onDuplicate":"new""#
        var ids: [String] = []
        for path in ["/file", "/refuse", "/broken"].map({ $0 + "?signature=signature-s3cret" }) {
            let place = "127.0.0.1:\(origin.port)\(path)"
            let withUser = #"{"url":"http://user:password-s3cret@\#(place)","headers":{"Cookie":"cookie-s3cret"}}"#
            let withFields = #"{"url":"http://\#(place)",\#(members)}"#
            for body in [withUser, withFields] {
                ids.append(try #require(try send("POST", "/downloads", body)["id"]?.string))
            }
        }
        for id in ids {
            try untilBlocking {
                ["completed", "failed", "retrying"].contains(try send("GET", "/downloads/\(id)")["state"]?.string)
            }
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

        let log = try pawl.log()
        #expect(log.contains("download is completed"))
        #expect(log.contains("request"))
        #expect(log.contains("PAWL_PASSWORD"))
        for secret in Self.hidden { #expect(!heard.contains(secret), "\(secret) in an answer") }
        for secret in Self.unlogged {
            #expect(!log.contains(secret), "\(secret) in the log: \(line(of: secret, in: log))")
            #expect(!metrics.contains(secret), "\(secret) in the metrics")
        }
    }

    @Test("Credentials of files are in no response, log, event, metric, record or backup", arguments: ["text", "json"])
    func filed(format: String) throws {
        let secrets = ["netrc-s3cret", "digest-s3cret", "filecookie-s3cret", "fileheader-s3cret"]
        let basic = Data("ada:netrc-s3cret".utf8).base64EncodedString()
        let origin = try ScriptedOrigin { request in
            switch request.target {
            case "/fails": [.response(403, body: Array("refused".utf8))]
            case "/feed":
                [
                    .response(
                        200, [("Content-Type", "application/rss+xml")],
                        body: Array("<rss version=\"2.0\"><channel><title>T</title></channel></rss>".utf8))
                ]
            case "/moved": [.redirect(to: "/file")]
            case "/broken": [.text("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"), .close]
            default: [.response(body: Array("file".utf8))]
            }
        }
        let digest = try ScriptedOrigin { request in
            request["Authorization"]?.hasPrefix("Digest ") == true
                ? [.response(body: Array("file".utf8))]
                : [.response(401, [("WWW-Authenticate", "Digest realm=r, nonce=n, qop=auth")])]
        }
        var paths: [String] = []
        for (name, text) in [
            (
                "netrc",
                "machine 127.0.0.1:\(digest.port) login bob password digest-s3cret\nmachine 127.0.0.1 login ada password netrc-s3cret"
            ),
            ("cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\tc\tfilecookie-s3cret\n"),
            ("headers", "127.0.0.1 X-Key: fileheader-s3cret\n"),
        ] {
            let path = directory.path + "/" + name
            try Data(text.utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
            paths.append(path)
        }
        let data = directory.path + "/data"
        let pawl = try PawlProcess(
            [
                "serve", "--port", "0", "--data-dir", data, "--log-level", "debug", "--log-format", format, "--access-log",
                "--allow-private", "--netrc-file", paths[0], "--cookie-file", paths[1], "--header-file", paths[2],
            ], in: directory)
        var heard: [UInt8] = []
        func send(_ method: String, _ path: String, _ json: String? = nil) throws -> JSONValue {
            let fields = json.map { _ in [("Content-Type", "application/json")] } ?? []
            let answer = try pawl.client.send(method, path, fields: fields, body: json.map { Array($0.utf8) })
            heard += Array("\(answer.fields)\n".utf8) + answer.body
            return (try? JSONValue(parsing: answer.body)) ?? .null
        }
        let events = try pawl.client.open("GET", "/downloads/events")
        #expect(try events.readHead().status == 200)
        var ids: [String] = []
        for url in [origin.url("/file"), origin.url("/moved"), origin.url("/fails"), origin.url("/broken"), digest.url("/file")] {
            ids.append(try #require(try send("POST", "/downloads", #"{"url":"\#(url)"}"#)["id"]?.string))
        }
        for id in ids {
            try untilBlocking {
                ["completed", "failed", "retrying"].contains(try send("GET", "/downloads/\(id)")["state"]?.string)
            }
            _ = try send("GET", "/downloads/\(id)/file")
            _ = try send("GET", "/downloads/\(id)/details")
        }
        let made = try send("POST", "/subscriptions", #"{"feedUrl":"\#(origin.url("/feed"))"}"#)
        _ = try send("POST", "/subscriptions/\(try #require(made["id"]?.string))/refresh")
        for path in ["/downloads", "/subscriptions", "/stats", "/settings", "/metrics", "/readyz"] { _ = try send("GET", path) }
        pawl.signal(SIGHUP)
        while try !pawl.log().contains("the header file is read again") {}
        try Data("malformed netrc-s3cret".utf8).write(to: URL(filePath: paths[0]))
        pawl.signal(SIGHUP)
        while try !pawl.log().contains("the old netrc file remains in use") {}
        let backup = TestProcess()
        backup.executableURL = PawlProcess.executable
        backup.arguments = ["backup", "--data-dir", data, directory.path + "/backup.sqlite"]
        try backup.run()
        backup.waitUntilExit()
        #expect(backup.terminationStatus == 0)
        #expect(pawl.terminate() == 0)
        while let chunk = try? events.readChunk() { heard += chunk }

        #expect(origin.requests.allSatisfy { $0["Cookie"] == "c=filecookie-s3cret" && $0["X-Key"] == "fileheader-s3cret" })
        #expect(origin.requests.allSatisfy { $0["Authorization"] == "Basic \(basic)" })
        #expect(digest.requests.contains { $0["Authorization"]?.hasPrefix("Digest ") == true })
        #expect(heard.firstRange(of: "completed".utf8) != nil)
        var places: [(name: String, bytes: [UInt8])] = [("a response", heard), ("the log", Array(try pawl.log().utf8))]
        let names = try FileManager.default.subpathsOfDirectory(atPath: data).map { "data/" + $0 } + ["backup.sqlite"]
        for name in names {
            if let bytes = FileManager.default.contents(atPath: directory.path + "/" + name) {
                places.append((name, Array(bytes)))
            }
        }
        #expect(places.contains { $0.name.hasSuffix("pawl.sqlite") && !$0.bytes.isEmpty })
        let base64 = secrets.map { Data("bob:\($0)".utf8).base64EncodedString() } + [basic]
        for (name, bytes) in places {
            for secret in secrets + base64 where bytes.firstRange(of: secret.utf8) != nil {
                Issue.record("\(secret) is in \(name)")
            }
        }
    }

    private func line(of text: String, in log: String) -> Substring {
        log.split(separator: "\n").first { $0.contains(text) } ?? ""
    }
}
