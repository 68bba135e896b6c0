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

    /// A service with a token of each scope, and what it logged.
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

    @Test("a wrong or missing secret is Unauthorized, a second late, before the method's name is looked at, and logged")
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
            // In a multicall each call has its own.
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

    @Test("a message tries three secrets at most")
    func guesses() async throws {
        let entries = try await serve { running in
            let guesses = (0..<20).map { #"{"methodName":"aria2.getVersion","params":["token:guess-\#($0)"]}"# }
            let right = #"{"methodName":"aria2.getVersion","params":["token:full-s3cret"]}"#
            let results = try await running.result("system.multicall", "[\((guesses + [right]).joined(separator: ","))]").array
            #expect(results?.allSatisfy { $0["message"]?.string == "Unauthorized" } == true)
        }
        #expect(entries.count { $0["message"]?.string == "authentication failed" } == 3)
    }

    @Test("the scope read lists and changes nothing, and sees no queries of URLs; metrics does nothing")
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

    @Test("with a token pages of any origin may send calls, and only allowed ones may read the responses")
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

    @Test("without a token foreign pages and GET are refused, of calls and of WebSockets")
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

    @Test("a file lands where it was asked for, or the call is refused: not outside, not through a link, not above")
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
            for name in ["../x", "a/b", "/abs", "..", ".hidden", "CON"] {
                _ = try await running.refusal("aria2.addUri", #"["\#(running.upstreamURL)/entity?size=1"],{"out":"\#(name)"}"#)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside.path).isEmpty)
        }
    }
}
