import Downloads
import Foundation
import JSON
import PawlConfiguration
import TestSupport
import Testing

@testable import PawlService

/// A client of the WebSocket at `/jsonrpc`. Blocks.
private final class RPCConnection {
    private let connection: TestConnection

    init(_ client: TestClient, origin: String? = nil) throws {
        connection = try client.open(
            "GET", "/jsonrpc",
            fields: [
                ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
                ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ] + (origin.map { [("Origin", $0)] } ?? []))
        let head = try connection.readHead()
        guard head.status == 101 else { throw TestConnection.Failure.malformed("status \(head.status)") }
    }

    func send(_ text: String) throws { try connection.send(ClientFrame.text(text).bytes) }

    /// The text of the next message, which is one frame.
    func next() throws -> JSONValue {
        let head = try connection.take(2)
        guard head[0] == 0x81 else { throw TestConnection.Failure.malformed("\(head)") }
        var length = Int(head[1])
        if length >= 126 { length = try connection.take(length == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
        return try JSONValue(parsing: try connection.take(length))
    }

    func isQuiet() -> Bool { connection.isQuiet(milliseconds: 200) }

    /// The next notification, as `Start 00000000000000ab`; messages of calls are passed over.
    func notification() throws -> String {
        while true {
            let message = try next()
            guard let method = message["method"]?.string, let gid = message["params"]?.array?.first?["gid"]?.string else {
                continue
            }
            return method.replacing("aria2.onDownload", with: "") + " " + gid
        }
    }
}

@Suite("The WebSocket of aria2's clients", .timeLimit(.minutes(3)))
struct Aria2SocketTests {
    @Test("calls and batches are answered on it")
    func calls() async throws {
        try await RunningService.with { running in
            try await running.blocking { client in
                let socket = try RPCConnection(client)
                try socket.send(#"{"id":"a","method":"aria2.getVersion"}"#)
                #expect(try socket.next()["result"]?["version"]?.string == "1.37.0")
                try socket.send(#"[{"id":1,"method":"aria2.tellActive"},{"id":2,"method":"aria2.nope"}]"#)
                let batch = try socket.next().array
                #expect(batch?.map { $0["id"]?.integer } == [1, 2])
                #expect(batch?.last?["error"]?["message"]?.string == "No such method: aria2.nope")
                try socket.send("garbage")
                #expect(try socket.next()["error"]?["code"]?.integer == -32700)
            }
        }
    }

    @Test("each turn of a download is told once to everybody, whoever began it")
    func notifications() async throws {
        try await RunningService.with { running in
            let url = running.upstreamURL
            try await running.blocking { client in
                let listeners = try (0..<3).map { _ in try RPCConnection(client) }
                func call(_ method: String, _ parameters: String) throws -> String {
                    let body = #"{"id":1,"method":"aria2.\#(method)","params":[\#(parameters)]}"#
                    let response = try client.send("POST", "/jsonrpc", body: Array(body.utf8))
                    return try #require(response.json["result"]?.string, "\(response.text)")
                }
                func expect(_ expected: [String]) throws {
                    for listener in listeners {
                        for text in expected { #expect(try listener.notification() == text) }
                    }
                }
                let quick = try call("addUri", #"["\#(url)/entity?size=10"]"#)
                try expect(["Start \(quick)", "Complete \(quick)"])
                let failing = try call("addUri", #"["\#(url)/nothing/here"]"#)
                try expect(["Start \(failing)", "Error \(failing)"])
                let slow = try call("addUri", #"["\#(url)/entity?size=50000000&pace=20000"],{"pause":"true"}"#)
                _ = try call("unpause", #""\#(slow)""#)
                try expect(["Start \(slow)"])
                _ = try call("pause", #""\#(slow)""#)
                try expect(["Pause \(slow)"])
                _ = try call("unpause", #""\#(slow)""#)
                try expect(["Start \(slow)"])
                _ = try call("remove", #""\#(slow)""#)
                try expect(["Stop \(slow)"])
                let added = try client.send("POST", "/downloads", json: #"{"url":"\#(url)/entity?size=11"}"#)
                #expect(added.status == 201)
                for listener in listeners {
                    #expect(try listener.notification().hasPrefix("Start"))
                    #expect(try listener.notification().hasPrefix("Complete"))
                    #expect(listener.isQuiet())
                }
            }
        }
    }

    @Test("with a token a page of another origin hears nothing before a call with the right secret")
    func strangeOrigins() async throws {
        try await RunningService.with {
            $0.token = AccessToken("s3cret-token")
        } _: { running in
            let url = running.upstreamURL
            try await running.blocking { client in
                let stranger = try RPCConnection(client, origin: "chrome-extension://abc")
                let guesser = try RPCConnection(client, origin: "https://evil.example")
                let program = try RPCConnection(client)
                let own = try RPCConnection(client, origin: "http://127.0.0.1:\(client.port)")
                try guesser.send(#"{"id":1,"method":"aria2.getVersion","params":["token:wrong"]}"#)
                #expect(try guesser.next()["error"]?["message"]?.string == "Unauthorized")
                try guesser.send(#"{"id":1,"method":"system.listMethods"}"#)
                #expect(try guesser.next()["result"] != nil)
                func add(_ name: String) throws -> String {
                    let body =
                        #"{"id":1,"method":"aria2.addUri","params":["token:s3cret-token",["\#(url)/entity?size=10&n=\#(name)"]]}"#
                    return try #require(try client.send("POST", "/jsonrpc", body: Array(body.utf8)).json["result"]?.string)
                }
                let first = try add("first")
                for listener in [program, own] { #expect(try listener.notification() == "Start \(first)") }
                for listener in [program, own] { #expect(try listener.notification() == "Complete \(first)") }
                #expect(stranger.isQuiet() && guesser.isQuiet())
                try stranger.send(#"{"id":1,"method":"aria2.getVersion","params":["token:s3cret-token"]}"#)
                #expect(try stranger.next()["result"] != nil)
                let second = try add("second")
                #expect(try stranger.notification() == "Start \(second)")
                #expect(guesser.isQuiet())
            }
        }
    }
}
