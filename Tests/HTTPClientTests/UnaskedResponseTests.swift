import HTTPClient
import HTTPCore
import TestSupport
import Testing

/// RFC 9112 §9.2: bytes on a connection before a request are no response to it.
@Suite(.timeLimit(.minutes(3)))
struct UnaskedResponseTests {
    let client: HTTPClient

    init() throws {
        client = try HTTPClient()
    }

    /// First responses. Each keeps the connection.
    static let firsts = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nright\r\n0\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\n-",
    ]

    /// The following bytes.
    static let extras = [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong", "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: /wrong\r\nContent-Length: 0\r\n\r\n", "H", "\r\n",
        "junk",
    ]

    @Test("Bytes on an idle connection are not the next response", arguments: firsts, extras)
    func idleBytesAreNoResponse(first: String, extra: String) async throws {
        let isRead = Gate()
        let isSent = Gate()
        let origin = try ScriptedOrigin { request in
            request.number == 0
                ? [.text(first), .wait(isRead), .text(extra), .open(isSent)]
                : [.response(body: Array("own \(request.target)".utf8))]
        }
        _ = try await client.fetch(ClientRequest(origin, "/0"), bodyLimit: 10)
        isRead.open()
        try await isSent.wait()
        let second = try await client.fetch(ClientRequest(origin, "/1"), bodyLimit: 10)
        #expect(String(decoding: second.body, as: UTF8.self) == "own /1")
        let third = try await client.fetch(ClientRequest(origin, "/2"), bodyLimit: 10)
        #expect(String(decoding: third.body, as: UTF8.self) == "own /2")
        #expect(!origin.requests.dropFirst().map(\.connection).contains(0))
    }

    @Test("A late response is not taken for the next request's")
    func lateResponseIsNoResponse() async throws {
        for _ in 0..<20 {
            let gate = Gate()
            let origin = try ScriptedOrigin { request in
                [.response(body: Array("own \(request.target)".utf8)), .wait(gate), .response(body: Array("another".utf8))]
            }
            let client = try HTTPClient()
            let begun = ContinuousClock.now
            _ = try await client.fetch(ClientRequest(origin, "/0"), bodyLimit: 10)
            let sink = RecordingSink()
            client.start(try ClientRequest(origin, "/1"), sink: sink)
            gate.open()
            _ = try await sink.outcome().get()
            // On a busy machine, the origin was silent for long enough.
            if begun.duration(to: .now) > .milliseconds(200) { continue }
            #expect(String(decoding: sink.record.value.bytes, as: UTF8.self) == "own /1")
        }
    }

    @Test("Reuses connections of an origin that follows the protocol")
    func trustedOriginsConnectionIsReused() async throws {
        let origin = try ScriptedOrigin { _ in [.response(body: Array("ok".utf8))] }
        try await until {
            _ = try await client.fetch(ClientRequest(origin), bodyLimit: 10)
            return origin.requests.count > origin.connectionCount
        }
    }

    @Test("A response that arrives with a redirect is not taken for its target's")
    func bytesBehindRedirectAreNoResponse() async throws {
        let wrong = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"
        let origin = try ScriptedOrigin { request in
            request.target == "/end"
                ? [.response(body: Array("right".utf8))]
                : [.text("HTTP/1.1 302 Found\r\nLocation: /end\r\nContent-Length: 0\r\n\r\n" + wrong)]
        }
        for _ in 0..<20 {
            let response = try await client.fetch(ClientRequest(origin), bodyLimit: 10)
            #expect(String(decoding: response.body, as: UTF8.self) == "right")
        }
    }

    @Test("Sends content once, on a connection without unread bytes")
    func contentIsSentOnce() async throws {
        let isRead = Gate()
        let isSent = Gate()
        let origin = try ScriptedOrigin { request in
            request.number == 0
                ? [.response(), .wait(isRead), .response(500), .open(isSent)] : [.response(202)]
        }
        var request = try ClientRequest(origin, "/hook")
        request.method = "POST"
        request.body = .bytes(Array("content".utf8))
        _ = try await client.fetch(request, bodyLimit: 10)
        isRead.open()
        try await isSent.wait()
        #expect(try await client.fetch(request, bodyLimit: 10).head.status == HTTPStatus(202))
        #expect(origin.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["content", "content"])
        #expect(origin.requests.map(\.connection) == [0, 1])
    }

    @Test("A request that libcurl repeats on a new connection gets its own response of any length", arguments: ["GET", "POST"])
    func repeatedRequestIsAnswered(method: String) async throws {
        let closes = Waiter(false)
        let origin = try ScriptedOrigin { _ in
            if !closes.value { return [.response(body: Array("ok".utf8))] }
            closes.update { $0 = false }
            return [.close]
        }
        var configuration = ClientConfiguration()
        configuration.threads = 1
        let client = try HTTPClient(configuration: configuration)
        var request = try ClientRequest(origin)
        request.method = method
        if method == "POST" { request.body = .bytes(Array("content".utf8)) }
        try await until {
            _ = try await client.fetch(request, bodyLimit: 10)
            return origin.requests.count > origin.connectionCount
        }
        let count = origin.requests.count
        closes.update { $0 = true }
        #expect(try await client.fetch(request, bodyLimit: 10).body == Array("ok".utf8))
        #expect(origin.requests.count == count + 2)
    }

    @Test("Checks every idle connection")
    func everyIdleConnectionIsChecked() async throws {
        let haveBegun = Gate()
        let isRead = Gate()
        let sent = (0..<5).map { _ in Gate() }
        let origin = try ScriptedOrigin { request in
            guard request.number < 5 else { return [.response(body: Array("right".utf8))] }
            if request.number == 4 { haveBegun.open() }
            return [
                .wait(haveBegun), .response(body: Array("right".utf8)), .wait(isRead), .response(body: Array("wrong".utf8)),
                .open(sent[request.number]),
            ]
        }
        var configuration = ClientConfiguration()
        configuration.threads = 1
        let client = try HTTPClient(configuration: configuration)
        let requests = try (0..<5).map { try ClientRequest(origin, "/\($0)") }
        // Each transfer has a connection of its own, since no response comes before all have begun.
        let sinks = requests.map { request in
            let sink = RecordingSink()
            client.start(request, sink: sink)
            return sink
        }
        for sink in sinks { _ = try await sink.outcome().get() }
        isRead.open()
        for gate in sent { try await gate.wait() }
        for _ in 0..<5 {
            let response = try await client.fetch(ClientRequest(origin, "/again"), bodyLimit: 10)
            #expect(response.body == Array("right".utf8))
        }
    }
}
