import DownloadCore
import DownloadIndex
import DownloadStore
import Downloads
import Foundation
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import PawlService

@Suite("Secrets and origins of aria2's clients", .timeLimit(.minutes(3)))
struct Aria2SafetyTests {
    private static let tokens = "ops full full-s3cret\nboard read read-s3cret\nprometheus metrics metrics-s3cret\n"

    /// A service with a token of each scope, and its log.
    private func serve(
        _ configure: (inout Configuration) -> Void = { _ in }, _ body: (RunningService) async throws -> Void
    ) async throws -> [JSONValue] {
        let lines = Locked<[[UInt8]]>([])
        let log = Log(level: .warning, format: .json, now: { .now() }) { bytes in lines.withLock { $0.append(bytes) } }
        let directory = try TemporaryDirectory()
        let path = directory.path + "/tokens"
        try Data(Self.tokens.utf8).write(to: URL(filePath: path))
        try await RunningService.with(log: log) {
            $0.tokensFile = path
            configure(&$0)
        } _: {
            try await body($0)
        }
        return try lines.withLock { $0 }.map { try JSONValue(parsing: $0) }
    }

    @Test("A wrong or missing secret is Unauthorized after a second, before the method is read, and logged")
    func unauthorized() async throws {
        let entries = try await serve { running in
            for secret in [nil, "", "wrong-s3cret"] as [String?] {
                for method in ["aria2.getVersion", "aria2.nope"] {
                    let begun = ContinuousClock.now
                    #expect(try await running.refusal(method, secret: secret) == "Unauthorized")
                    #expect(ContinuousClock.now - begun >= .seconds(1))
                }
            }
            #expect(try await running.refusal("aria2.nope", secret: "full-s3cret") == "No such method: aria2.nope")
            // Each call of a multicall has its own secret.
            let calls = #"[{"methodName":"aria2.getVersion"},{"methodName":"aria2.getVersion","params":["token:full-s3cret"]}]"#
            let results = try await running.result("system.multicall", calls).array
            #expect(results?.first?["message"]?.string == "Unauthorized")
            #expect(results?.last?.array?.count == 1)
            #expect(try await running.result("system.listMethods").array?.isEmpty == false)
        }
        let failures = entries.filter { $0["message"]?.string == "authentication failed" }
        #expect(failures.count == 7)
        #expect(failures.allSatisfy { $0["path"]?.string == "/jsonrpc" && $0["address"]?.string == "127.0.0.1" })
        #expect(!entries.contains { String(decoding: $0.serialized(), as: UTF8.self).contains("s3cret") })
    }

    @Test("A message may have at most three secrets")
    func guesses() async throws {
        let entries = try await serve { running in
            let guesses = (0..<10).map { #"{"methodName":"aria2.getVersion","params":["token:guess-\#($0)"]}"# }
            let right = #"{"methodName":"aria2.getVersion","params":["token:full-s3cret"]}"#
            let results = try await running.result("system.multicall", "[\((guesses + [right]).joined(separator: ","))]").array
            #expect(results?.allSatisfy { $0["message"]?.string == "Unauthorized" } == true)
        }
        #expect(entries.count { $0["message"]?.string == "authentication failed" } == 3)
    }

    @Test("A message may have at most 4,096 calls, with those in multicalls; a longer one is refused as a whole")
    func tooManyCalls() async throws {
        try await RunningService.with { running in
            func ones(_ count: Int) -> String { "[\([String](repeating: "1", count: count).joined(separator: ","))]" }
            func multicall(_ count: Int) -> String { #"{"id":7,"method":"system.multicall","params":[\#(ones(count))]}"# }
            for (message, isRefused) in [
                (ones(4_096), false), (ones(4_097), true), (ones(500_000), true), (multicall(4_096), false),
                (multicall(4_097), true), (multicall(500_000), true), ("[\(multicall(2_000)),\(multicall(2_096))]", false),
                ("[\(multicall(2_000)),\(multicall(2_097))]", true),
                ("[\([String](repeating: multicall(3), count: 2_000).joined(separator: ","))]", true),
            ] {
                let response = try await running.send("POST", "/jsonrpc", body: Array(message.utf8))
                #expect(response.text.contains("at most 4096 calls") == isRefused)
                #expect(response.text.utf8.count < (isRefused ? 1_000 : 1_000_000))
                #expect(response.status == (isRefused ? 400 : 200))
            }
        }
    }

    @Test("Refuses a long message without a right secret as a whole")
    func longWithoutSecret() async throws {
        _ = try await serve { running in
            func batch(_ call: String, _ count: Int) -> String {
                "[\([String](repeating: call, count: count).joined(separator: ","))]"
            }
            let listing = #"{"id":1,"method":"system.listMethods"}"#
            let wrong = #"{"id":1,"method":"aria2.nope","params":["token:wrong"]}"#
            let inner = batch(#"{"methodName":"system.listMethods"}"#, 1_000)
            for (message, id) in [
                (batch("1", 4_096), "null"), (batch(listing, 4_096), "null"), (batch(wrong, 17), "null"),
                (#"{"id":1,"method":"system.multicall","params":[\#(inner)]}"#, "1"),
                (#"{"id":1,"method":"system.multicall","params":[\#(batch("1", 4_096))]}"#, "1"),
                (#"{"id":1,"method":"system.multicall","params":["token:wrong",\#(inner)]}"#, "1"),
            ] {
                let begun = ContinuousClock.now
                let response = try await running.send("POST", "/jsonrpc", body: Array(message.utf8))
                #expect(ContinuousClock.now - begun >= .seconds(1))
                #expect(response.text == #"{"id":\#(id),"jsonrpc":"2.0","error":{"code":1,"message":"Unauthorized"}}"#)
            }
            // With one right secret, each call is authorised separately.
            let right = #"{"id":2,"method":"aria2.getVersion","params":["token:full-s3cret"]}"#
            let mixed = try await running.send("POST", "/jsonrpc", body: Array("[\(right),\(batch("1", 100).dropFirst())".utf8))
            #expect(mixed.text.components(separatedBy: "Invalid Request").count == 101)
            #expect(mixed.text.contains("1.37.0"))
        }
    }

    @Test("Refuses an id of more than 1,024 bytes without repeating it")
    func longID() async throws {
        _ = try await serve { running in
            for (count, isRefused) in [(1_022, false), (1_023, true), (900_000, true)] {
                let id = String(repeating: "x", count: count)
                let message = #"{"id":"\#(id)","method":"aria2.getVersion","params":["token:full-s3cret"]}"#
                let response = try await running.send("POST", "/jsonrpc", body: Array(message.utf8))
                #expect(response.text.contains("An id has at most 1024 bytes.") == isRefused)
                #expect(response.text.contains(id) != isRefused)
            }
        }
    }

    @Test("The scope read lists without changes and without queries of URLs; metrics may do nothing")
    func scopes() async throws {
        let entries = try await serve { running in
            let gid = try await running.addURI("/entity?size=10&sig=hidden", #"{"pause":"true"}"#, secret: "full-s3cret")
            for method in ["tellStatus", "getFiles", "getUris", "getOption"] {
                let response = try await running.rpc("aria2.\(method)", #""\#(gid)""#, secret: "read-s3cret")
                #expect(response.status == 200, "\(response.text)")
                #expect(!response.text.contains("hidden"), "\(response.text)")
                #expect(
                    try await running.rpc("aria2.\(method)", #""\#(gid)""#, secret: "full-s3cret").text.contains("hidden")
                        == (method != "getOption"))
            }
            for parameters in ["0,10", "0,10,[]"] {
                let response = try await running.rpc("aria2.tellWaiting", parameters, secret: "read-s3cret")
                #expect(response.status == 200 && !response.text.contains("hidden"))
            }
            for (method, parameters) in [
                ("remove", #""\#(gid)""#), ("pauseAll", ""), ("changeOption", #""\#(gid)",{}"#), ("purgeDownloadResult", ""),
                ("addUri", #"["http://h/"]"#), ("changeGlobalOption", "{}"), ("saveSession", ""),
            ] {
                #expect(
                    try await running.refusal("aria2.\(method)", parameters, secret: "read-s3cret")
                        == "The scope of the token 'board' does not include aria2.\(method).")
            }
            #expect(try await running.refusal("aria2.getVersion", secret: "metrics-s3cret").contains("'prometheus'"))
            #expect(try await running.result("aria2.remove", #""\#(gid)""#, secret: "full-s3cret").string == gid)
        }
        #expect(entries.filter { $0["message"]?.string == "a download is cancelled" }.map { $0["token"]?.string } == ["ops"])
    }

    @Test("With a token, pages of any origin may send calls, and only allowed ones may read the responses")
    func originsWithToken() async throws {
        _ = try await serve {
            $0.corsOrigins = [.origin("https://ariang.example")]
        } _: { running in
            for (origin, allowed) in [("https://ariang.example", true), ("chrome-extension://abc", false)] {
                for secret in ["full-s3cret", "wrong"] {
                    let response = try await running.rpc("aria2.getVersion", secret: secret, fields: [("Origin", origin)])
                    #expect(response.status == (secret == "wrong" ? 400 : 200))
                    #expect(response["Access-Control-Allow-Origin"] == (allowed ? origin : nil))
                }
                let preflight = try await running.send(
                    "OPTIONS", "/jsonrpc",
                    fields: [
                        ("Origin", origin), ("Access-Control-Request-Method", "POST"),
                        ("Access-Control-Request-Headers", "content-type"),
                    ])
                #expect(preflight.status == 204)
                #expect(preflight["Access-Control-Allow-Origin"] == (allowed ? origin : nil))
                #expect(preflight["Access-Control-Allow-Methods"]?.contains("POST") == (allowed ? true : nil))
            }
        }
    }

    @Test("Without a token, refuses foreign pages and GET, in calls and WebSockets")
    func originsWithoutToken() async throws {
        try await RunningService.with { running in
            let call = Array(#"{"id":1,"method":"aria2.getVersion"}"#.utf8)
            let allowed = try await running.send("POST", "/jsonrpc", body: call)
            #expect(allowed.status == 200)
            #expect(try await running.rpc("aria2.getVersion", secret: "whatever").status == 200)
            for type in ["text/plain", "application/json"] {
                let fields = [("Content-Type", type), ("Origin", "https://evil.example")]
                #expect(try await running.send("POST", "/jsonrpc", fields: fields, body: call).code == "origin-not-allowed")
            }
            #expect(try await running.send("POST", "/jsonrpc", fields: [("Origin", "null")], body: call).status == 403)
            #expect(try await running.send("GET", "/jsonrpc?method=aria2.pauseAll&id=1").status == 403)
            let misdirected = try await running.blocking { client in
                let connection = try TestConnection(client.port)
                try connection.send("POST /jsonrpc HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 2\r\n\r\n{}")
                return try connection.readResponse()
            }
            #expect(misdirected.status == 421)
            let handshake = [
                ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
                ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ]
            #expect(
                try await running.send("GET", "/jsonrpc", fields: handshake + [("Origin", "https://evil.example")]).status == 403)
        }
    }

    @Test("The folders of out are below the folders of dir")
    func foldersOfOut() async throws {
        try await RunningService.with { running in
            let files = running.directory.path + "/files"
            for (number, (options, path)) in [
                (#"{"out":"4088214/119_p0.jpg"}"#, "4088214/119_p0.jpg"),
                (#"{"dir":"\#(files)/art","out":"b/c.jpg"}"#, "art/b/c.jpg"), (#"{"dir":"art","out":"d.jpg"}"#, "art/d.jpg"),
            ].enumerated() {
                let gid = try await running.addURI("/entity?size=10&n=\(number)", options)
                let status = try await running.status("complete", of: gid)
                #expect(status["files"]?.array?.first?["path"]?.string == "\(files)/\(path)")
            }
            let paused = try await running.addURI("/entity?size=10&n=9", #"{"dir":"e","out":"f.jpg","pause":"true"}"#)
            _ = try await running.result("aria2.changeOption", #""\#(paused)",{"out":"g/h.jpg"}"#)
            _ = try await running.result("aria2.unpause", #""\#(paused)""#)
            let status = try await running.status("complete", of: paused)
            #expect(status["files"]?.array?.first?["path"]?.string == "\(files)/e/g/h.jpg")
        }
    }

    @Test("Stores a file at the requested path, or refuses the call: not outside, through a link or above")
    func directories() async throws {
        try await RunningService.with { running in
            let outside = try TemporaryDirectory()
            let files = running.directory.path + "/files"
            try FileManager.default.createSymbolicLink(atPath: files + "/link", withDestinationPath: outside.path)
            for path in ["/etc", "../x", "\(files)/../x", "/", "\(files)/link", "link", "\(files)x", "a/../../b"] {
                let message = try await running.refusal(
                    "aria2.addUri", #"["\#(running.upstreamURL)/entity?size=1"],{"dir":"\#(path)"}"#)
                #expect(message.contains("dir") || message.contains("folder"), "\(path): \(message)")
            }
            for name in ["../x", "a/../b", "/abs", "..", ".hidden", "CON", "a/", "a//b", "a/.b", "1/2/3/4/5/6/7/8/9/10"] {
                let message = try await running.refusal(
                    "aria2.addUri", #"["\#(running.upstreamURL)/entity?size=1"],{"out":"\#(name)"}"#)
                #expect(message.contains("'--out'"), "\(name): \(message)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
        }
    }
}
