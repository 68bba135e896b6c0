import HTTPCore
import HTTPServer
import TestSupport
import Testing

/// More connections than the limit.
@Suite(.timeLimit(.minutes(3))) struct CrowdingTests {
    @Test("At the limit, the longest idle connection is closed for a new one")
    func theLongestIdleGivesWay() async throws {
        try await withServer(loops: 1, limits: { $0.connections = 8 }, echoOrWait) { port in
            let clients = try (0..<8).map { _ in try TestConnection(port) }
            for client in clients { #expect(try client.get("/").status == 200) }
            var others: [TestConnection] = []
            for number in 0..<4 {
                others.append(try TestConnection(port))
                #expect(try others[number].get("/").status == 200)
                #expect(try clients[number].isClosed())
                for client in clients[4...] { #expect(try client.get("/").status == 200) }
            }
        }
    }

    @Test("Silent connections and slow heads are closed for new ones, active responses never", arguments: [1, 2, 4])
    func squatters(loops: Int) async throws {
        try await withServer(loops: loops, limits: { $0.connections = 40 }, echoOrWait) { port in
            let busy = try (0..<4).map { _ in try busyConnection(port) }
            var squatters: [TestConnection] = []
            for number in 0..<200 {
                let squatter = try TestConnection(port)
                if number % 2 == 0 { try squatter.send("GET / HTTP/1.1\r\nHo") }
                squatters.append(squatter)
            }
            // The loops may not have accepted all of them yet.
            var isServed = false
            for _ in 0..<1000 where !isServed { isServed = try TestConnection(port).get("/").status == 200 }
            for _ in 0..<20 { #expect(try TestConnection(port).get("/").status == 200) }
            #expect(try squatters[0].takeRest().isEmpty)
            for client in busy { #expect(client.isQuiet(milliseconds: 0)) }
        }
    }

    @Test("If all are active, a new connection gets 503 and a probe its response; an end makes room")
    func allAreActive() async throws {
        // On one loop, which has registered the active connection before it accepts the next.
        try await withServer(loops: 1, limits: { $0.connections = 3 }, echoOrWait) { port in
            var busy = try (0..<3).map { _ in try busyConnection(port) }
            for (path, status) in [("/", 503), ("/probe", 200), ("/busy", 503), ("/probe", 200)] {
                let client = try TestConnection(port)
                let response = try client.get(path)
                #expect(response.status == status)
                #expect(response["Connection"] == "close")
                #expect(try client.isClosed())
            }
            let body = try TestConnection(port)
            try body.send("POST /probe HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
            #expect(try body.readResponse().status == 503)
            for client in busy { #expect(client.isQuiet(milliseconds: 0)) }
            // Bytes, which would show that a client has left, are not sent to these.
            busy.removeLast().resetOnClose()
            // The server notices the close later.
            var isServed = false
            for _ in 0..<1000 where !isServed { isServed = try TestConnection(port).get("/").status == 200 }
            #expect(isServed)
        }
    }

    @Test("Refuses a surplus connection that sends nothing or a part", arguments: ["", "GET / HTTP/1.1\r\n"])
    func silence(text: String) async throws {
        try await withServer(
            loops: 1,
            limits: {
                $0.connections = 1
                $0.surplusTimeout = .milliseconds(50)
            }, echoOrWait
        ) { port in
            let busy = try busyConnection(port)
            let client = try TestConnection(port)
            try client.send(text)
            let response = try client.readResponse()
            #expect(response.status == 503)
            #expect(response.text.contains("1 connections"))
            #expect(busy.isQuiet(milliseconds: 0))
        }
    }

    @Test(
        "Closes slow bodies and slow readers without a permit, none with one", arguments: [false, true])
    func strangers(hasPermit: Bool) async throws {
        let permit = hasPermit ? Permit() : nil
        try await withServer(
            loops: 1, limits: { $0.connections = 4 },
            decision: { _, response in
                response.permit = permit
                return .read
            },
            { request, response in
                response.permit = permit
                // More than the kernel buffers.
                if request.head.target.rawPath.elementsEqual("/large".utf8) {
                    response.body = [UInt8](repeating: 0, count: 32 << 20)
                }
                return .ready
            }
        ) { port in
            let squatters = try (0..<4).map { number in
                let client = try TestConnection(port)
                let isBody = number < 2
                try client.send(
                    isBody ? "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx" : "GET /large HTTP/1.1\r\nHost: x\r\n\r\n"
                )
                if !isBody { _ = try client.take(1) }
                return client
            }
            for _ in 0..<4 {
                let client = try TestConnection(port)
                // Its loop has read the earlier bytes.
                #expect(try client.get("/").status == (hasPermit ? 503 : 200))
            }
            // Connections with unread output are reset: the kernel keeps none of it.
            if !hasPermit {
                for reader in squatters[2...] {
                    #expect(throws: (any Error).self) { while try !reader.take(1 << 16).isEmpty {} }
                }
            }
            withExtendedLifetime(squatters) {}
        }
    }

    @Test("Refuses connections beyond an address's limit, except probes, until one closes")
    func addresses() async throws {
        try await withServer(limits: { $0.connectionsPerAddress = 3 }, echo) { port in
            var clients = try (0..<3).map { _ in try TestConnection(port) }
            for client in clients { #expect(try client.get("/").status == 200) }
            let refused = try TestConnection(port).get("/")
            #expect(refused.status == 503)
            #expect(refused["Connection"] == "close")
            #expect(refused.text == "Your address has 3 connections already.")
            #expect(try TestConnection(port).get("/probe").status == 200)
            for client in clients { #expect(try client.get("/").status == 200) }
            clients.removeLast()
            var isServed = false
            for _ in 0..<1000 where !isServed { isServed = try TestConnection(port).get("/").status == 200 }
            #expect(isServed)
        }
    }
}
