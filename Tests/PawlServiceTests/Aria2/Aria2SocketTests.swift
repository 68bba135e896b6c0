import DownloadCore
import DownloadIndex
import DownloadStore
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

    init(_ client: TestClient, _ path: String = "/jsonrpc", origin: String? = nil, authorization: String? = nil) throws {
        connection = try client.open(
            "GET", path,
            fields: [
                ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", "13"),
                ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ] + (origin.map { [("Origin", $0)] } ?? []) + (authorization.map { [("Authorization", $0)] } ?? []))
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

    /// The code of the next close frame.
    func closeCode() throws -> Int {
        let head = try connection.take(2)
        guard head[0] == 0x88, head[1] >= 2 else { throw TestConnection.Failure.malformed("\(head)") }
        return try connection.take(Int(head[1])).prefix(2).reduce(0) { $0 << 8 | Int($1) }
    }

    /// The next notification, as `Start 00000000000000ab`; responses to calls are skipped.
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
    @Test("Responds to calls and batches")
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

    @Test("Notifies every client of each transition once")
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

    @Test("With a token, a socket gets notifications only after a call with the right secret")
    func secrets() async throws {
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
                let status = #"{"id":1,"method":"aria2.tellStatus","params":["token:s3cret-token","%"]}"#
                let first = try add("first")
                while try client.send("POST", "/jsonrpc", body: Array(status.replacing("%", with: first).utf8))
                    .json["result"]?["status"]?.string != "complete"
                {}
                for listener in [program, own, stranger, guesser] { #expect(listener.isQuiet()) }
                for listener in [program, own, stranger] {
                    try listener.send(#"{"id":1,"method":"aria2.getVersion","params":["token:s3cret-token"]}"#)
                    #expect(try listener.next()["result"] != nil)
                    #expect(try listener.notification() == "Start \(first)")
                    #expect(try listener.notification() == "Complete \(first)")
                }
                let second = try add("second")
                for listener in [program, own, stranger] { #expect(try listener.notification() == "Start \(second)") }
                #expect(guesser.isQuiet())
            }
        }
    }

    @Test("With a token in the handshake, or a key in its path, a socket that never sends a call gets notifications")
    func proofs() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/tokens"
        func write(_ tokens: String) throws { try Data(tokens.utf8).write(to: URL(filePath: path)) }
        try write("ops full full-s3cret\nboard read read-s3cret\nold full old-s3cret\nprometheus metrics metrics-s3cret\n")
        let key: @Sendable (String) -> String = { token in TokenDigest(of: token.utf8).notificationKey }
        try await RunningService.with {
            $0.tokensFile = path
        } _: { running in
            let url = running.upstreamURL
            try await running.blocking { client in
                let plain = try RPCConnection(client)
                let basic = try RPCConnection(client, authorization: "Basic dTpw")
                let old = try RPCConnection(client, "/jsonrpc/listen/\(key("old-s3cret"))")
                var listeners = [
                    try RPCConnection(client, authorization: "Bearer full-s3cret"),
                    try RPCConnection(client, authorization: "bearer read-s3cret"), old,
                ]
                for (token, rest) in [("full", ""), ("full", "?:6800/jsonrpc"), ("read", ":6800/jsonrpc"), ("read", "/jsonrpc")] {
                    let path = "/jsonrpc/listen/\(key("\(token)-s3cret"))\(rest)"
                    listeners.append(try RPCConnection(client, path, origin: "chrome-extension://abc"))
                }
                func add(_ name: String, at path: String = "/jsonrpc") throws -> String {
                    let body =
                        #"{"id":1,"method":"aria2.addUri","params":["token:full-s3cret",["\#(url)/entity?size=10&n=\#(name)"]]}"#
                    return try #require(try client.send("POST", path, body: Array(body.utf8)).json["result"]?.string)
                }
                // A client with one address for both sends its calls there as well, and they need their secret.
                let gid = try add("first", at: "/jsonrpc/listen/\(key("full-s3cret"))")
                for listener in listeners {
                    #expect(try listener.notification() == "Start \(gid)")
                    #expect(try listener.notification() == "Complete \(gid)")
                }
                #expect(plain.isQuiet() && basic.isQuiet())
                try listeners[0].send(#"{"id":1,"method":"aria2.getVersion"}"#)
                #expect(try listeners[0].next()["error"]?["message"]?.string == "Unauthorized")
                for (path, authorization, status) in [
                    ("/jsonrpc", "Bearer wrong", 401), ("/jsonrpc/listen/wrong", nil, 401), ("/jsonrpc/listen/", nil, 401),
                    ("/jsonrpc/listen/full-s3cret", nil, 401), ("/jsonrpc/listen/\(key("other"))", "Bearer full-s3cret", 401),
                    ("/jsonrpc/listen/\(key("metrics-s3cret"))", nil, 403), ("/jsonrpc", "Bearer metrics-s3cret", 403),
                    ("/jsonrpc/listen", nil, 401), ("/jsonrpc/listen/\(key("full-s3cret"))/x", nil, 401), ("/rpc", nil, 405),
                ] {
                    #expect {
                        _ = try RPCConnection(client, path, authorization: authorization)
                    } throws: { error in "\(error)".contains("status \(status)") }
                }
                #expect(try client.send("POST", "/jsonrpc/listen/wrong", body: []).status == 401)
            }
        }
    }

    @Test("With a token, a socket without the right secret is closed after ten seconds")
    func silence() async throws {
        try await RunningService.with {
            $0.token = AccessToken("s3cret-token")
        } _: { running in
            try await running.blocking { client in
                let (silent, guesser, program) = (try RPCConnection(client), try RPCConnection(client), try RPCConnection(client))
                let call = #"{"id":1,"method":"aria2.getVersion","params":["token:%"]}"#
                try guesser.send(call.replacing("%", with: "wrong"))
                try program.send(call.replacing("%", with: "s3cret-token"))
                #expect(try guesser.next()["error"]?["message"]?.string == "Unauthorized")
                #expect(try program.next()["result"] != nil)
                for socket in [silent, guesser] { #expect(try socket.closeCode() == 1008) }
                try program.send(call.replacing("%", with: "s3cret-token"))
                #expect(try program.next()["result"] != nil)
            }
        }
    }

    @Test("The response with a gid precedes the download's notifications")
    func order() async throws {
        try await RunningService.with { running in
            let url = running.upstreamURL
            try await running.blocking { client in
                let socket = try RPCConnection(client)
                for number in 0..<50 {
                    try socket.send(
                        #"{"id":\#(number),"method":"aria2.addUri","params":[["\#(url)/entity?size=1&n=\#(number)"]]}"#)
                    let answer = try socket.next()
                    let gid = try #require(answer["result"]?.string, "\(answer)")
                    #expect(try socket.notification() == "Start \(gid)")
                    #expect(try socket.notification() == "Complete \(gid)")
                }
            }
        }
    }
}
