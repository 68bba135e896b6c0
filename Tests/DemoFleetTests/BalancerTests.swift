import Foundation
import HTTPServer
import TestSupport
import Testing

@testable import DemoFleet

@Suite("The balancer", .timeLimit(.minutes(2)))
@OffPool
struct BalancerTests {
    /// A server that answers with its name.
    private func replica(_ name: String) throws -> ScriptedOrigin {
        try ScriptedOrigin { _ in [.response(body: Array(name.utf8))] }
    }

    /// A balancer before servers, and the port that it listens on.
    private func balancer(_ ports: [Int?]) throws -> (balancer: Balancer, port: Int) {
        let balancer = try Balancer(host: "127.0.0.1", port: 0, replicas: ports.count)
        for (index, port) in ports.enumerated() { balancer.set(port, of: index) }
        try balancer.start()
        return (balancer, balancer.address.port)
    }

    @Test("connections go to the replicas in turn, and stay with theirs")
    func inTurn() throws {
        let replicas = try ["a", "b", "c"].map { try replica($0) }
        let (balancer, port) = try balancer(replicas.map(\.port))
        defer { balancer.stop() }
        let connections = try (0..<6).map { _ in try TestConnection(port) }
        for _ in 0..<2 {
            #expect(try connections.map { try $0.get("/").text } == ["b", "c", "a", "b", "c", "a"])
        }
    }

    @Test("a replica that is down is passed over, whether that is known or not")
    func passesOver() throws {
        let replica = try replica("b")
        let closed = try ClosedPort()
        let (balancer, port) = try balancer([closed.number, replica.port, nil])
        defer { balancer.stop() }
        let client = TestClient(port: port)
        for _ in 0..<6 { #expect(try client.send("GET", "/").text == "b") }
        balancer.set(nil, of: 1)
        // As soon as it has heard of that, there is nobody.
        while let answer = try? client.send("GET", "/") { #expect(answer.text == "b") }
    }

    @Test("the connections of a replica that is taken out end, and the others go on")
    func takesOut() throws {
        let replicas = try ["a", "b"].map { try replica($0) }
        let (balancer, port) = try balancer(replicas.map(\.port))
        defer { balancer.stop() }
        let connections = try (0..<2).map { _ in try TestConnection(port) }
        #expect(try connections.map { try $0.get("/").text } == ["b", "a"])
        balancer.set(nil, of: 1)
        #expect(try connections[0].isClosed())
        #expect(try connections[1].get("/").text == "a")
    }

    /// A server that reads a request, and closes without an answer; `isReset`: with RST.
    private func killed(isReset: Bool) throws -> ScriptedOrigin {
        try ScriptedOrigin { _ in [isReset ? .reset : .close] }
    }

    @Test("a GET or HEAD whose replica closes without an answer is sent to another one", arguments: [false, true])
    func asksAnother(isReset: Bool) throws {
        let (dying, replica) = (try killed(isReset: isReset), try replica("b"))
        let (balancer, port) = try balancer([dying.port, replica.port])
        defer { balancer.stop() }
        for _ in 0..<6 { #expect(try TestClient(port: port).send("GET", "/").text == "b") }
        for _ in 0..<6 { #expect(try TestClient(port: port).send("HEAD", "/").status == 200) }
        #expect(dying.requests.count >= 6)
        // What may have had an effect is not repeated.
        let answers = (0..<2).map { _ in try? TestClient(port: port).send("POST", "/", body: [1]).text }
        #expect(answers.compactMap(\.self) == ["b"])
    }

    @Test("the next request on a connection is sent to another replica as well, and an answer that has begun is not")
    func asksAnotherLater() throws {
        let dying = try ScriptedOrigin { request in
            switch request.target {
            case "/last": [.close]
            case "/half": [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close]
            default: [.response(body: Array("a".utf8))]
            }
        }
        let replica = try replica("b")
        let (balancer, port) = try balancer([replica.port, dying.port])
        defer { balancer.stop() }
        let connection = try TestConnection(port)
        #expect(try connection.get("/").text == "a")
        #expect(try connection.get("/last").text == "b")
        #expect(try connection.get("/half").text == "b")
        // The next one in turn is the one that dies.
        let half = try TestConnection(port)
        #expect((try? half.get("/half").text) == nil)
    }

    @Test("where all replicas close, the connection ends")
    func allClose() throws {
        let dying = try [killed(isReset: false), killed(isReset: true)]
        let (balancer, port) = try balancer(dying.map(\.port))
        defer { balancer.stop() }
        #expect((try? TestClient(port: port).send("GET", "/")) == nil)
        #expect(dying.reduce(0) { $0 + $1.requests.count } == 3)
    }

    @Test("a GET to a replica that is stopped is sent to another one once it is taken out")
    func asksAnotherAfterStop() throws {
        let stopped = try ScriptedOrigin { _ in [.stall] }
        let replica = try replica("b")
        let (balancer, port) = try balancer([replica.port, stopped.port])
        defer { balancer.stop() }
        let connection = try TestConnection(port)
        try connection.send("GET", "/")
        while stopped.requests.isEmpty { Thread.sleep(forTimeInterval: 0) }
        balancer.set(nil, of: 1)
        #expect(try connection.readResponse().text == "b")
    }

    @Test("large bodies pass whole in both directions, also to a reader that is late")
    func largeBodies() throws {
        var body: [UInt8] = (0..<1009).map { UInt8(truncatingIfNeeded: $0) }
        while body.count < 32 << 20 { body += body }
        let isSent = Gate()
        let replica = try ScriptedOrigin { [body] request in
            guard request.method == "GET" else { return [.response(body: request.body)] }
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n"
            return [.text(head), .generate(count: body.count) { Array(body[$0..<$0 + $1]) }, .open(isSent)]
        }
        let (balancer, port) = try balancer([replica.port])
        defer { balancer.stop() }
        let late = try TestConnection(port)
        try late.send("GET", "/")
        // Others are served meanwhile. It is more than fits in between, so the replica has to wait.
        #expect(Bytes(try TestClient(port: port).send("PUT", "/", body: body).body) == Bytes(body))
        #expect(!isSent.isOpen)
        #expect(Bytes(try late.readResponse().body) == Bytes(body))
    }

    @Test("a client that has sent all still gets the answer, and an end without length reaches it")
    func halfClosed() throws {
        let replica = try ScriptedOrigin { _ in [.text("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil the end"), .close] }
        let (balancer, port) = try balancer([replica.port])
        defer { balancer.stop() }
        let connection = try TestConnection(port)
        try connection.send("GET", "/")
        #expect(try connection.readResponse().text == "until the end")
        connection.endOutput()
        #expect(try connection.isClosed())
    }

    @Test("after a stop it takes no connections, and those that there are go on")
    func stops() throws {
        let replica = try replica("a")
        let (balancer, port) = try balancer([replica.port])
        let connection = try TestConnection(port)
        #expect(try connection.get("/").text == "a")
        balancer.stop()
        while (try? TestConnection(port)) != nil {}
        #expect(try connection.get("/").text == "a")
    }
}
