import HTTPCore
import HTTPServer
import TestSupport
import Testing

/// Whether the system has ::1.
private let hasIPv6Loopback: Bool = {
    var configuration = ServerConfiguration()
    configuration.host = "::1"
    return (try? HTTPServer(configuration: configuration, application: TestApplication(handler: echo)).start()) != nil
}()

@Suite(.timeLimit(.minutes(3))) struct ListeningTests {
    private func server(_ change: (inout ServerConfiguration) -> Void) -> HTTPServer {
        var configuration = ServerConfiguration()
        change(&configuration)
        return HTTPServer(configuration: configuration, application: TestApplication(handler: echo))
    }

    @Test("A port in use is an error that names it")
    func aPortInUseIs() async throws {
        let first = server { _ in }
        let address = try first.start()
        #expect(address.host == "127.0.0.1")
        #expect(address.port > 0)
        #expect(address.description == "127.0.0.1:\(address.port)")
        let second = server { $0.port = address.port }
        #expect(throws: ServerError.addressInUse(address)) { try second.start() }
        await first.shutdown(within: .zero)
    }

    @Test("A server that could not start starts once its port is free")
    func aServerThatCouldNot() async throws {
        // With the common address, another test might get the port in between.
        let host = "127.94.61.7"
        let first = server { $0.host = host }
        let address = try first.start()
        let second = server {
            $0.host = host
            $0.port = address.port
        }
        #expect(throws: ServerError.addressInUse(address)) { try second.start() }
        await first.shutdown(within: .zero)
        #expect(try second.start() == address)
        #expect(throws: ServerError.alreadyStarted) { try second.start() }
        await second.shutdown(within: .zero)
    }

    @Test("An invalid port is an error", arguments: [-1, 65_536])
    func aPortThatIsNone(port: Int) {
        #expect(throws: ServerError.invalidPort(port)) { try server { $0.port = port }.start() }
    }

    @Test("An invalid host is an error")
    func aHostThatIsNone() {
        #expect {
            try server { $0.host = "no such host" }.start()
        } throws: { error in
            if case ServerError.unknownHost("no such host", _) = error { true } else { false }
        }
    }

    @Test("localhost is 127.0.0.1 and, where it exists, ::1 with the same port")
    func localhostIsBothLoopbackAddresses() async throws {
        let server = server { $0.host = "localhost" }
        let address = try server.start()
        #expect(address.host == "127.0.0.1")
        #expect(try TestConnection(address.port).get("/").status == 200)
        if hasIPv6Loopback {
            #expect(try TestConnection(address.port, overIPv6: true).get("/").status == 200)
            let second = self.server {
                $0.host = "::1"
                $0.port = address.port
            }
            #expect(throws: ServerError.addressInUse(SocketAddress(host: "::1", port: address.port))) { try second.start() }
        }
        await server.shutdown(within: .zero)
    }

    @Test("localhost with a port that ::1 uses is an error that names it", .enabled(if: hasIPv6Loopback))
    func aPortThatOneLoopbackAddressUses() async throws {
        // Another test may have the port at 127.0.0.1. Then another port is tried.
        for _ in 0..<20 {
            let other = server { $0.host = "::1" }
            let address = try other.start()
            let server = server {
                $0.host = "localhost"
                $0.port = address.port
            }
            let error = #expect(throws: ServerError.self) { try server.start() }
            await other.shutdown(within: .zero)
            if error == .addressInUse(SocketAddress(host: "127.0.0.1", port: address.port)) { continue }
            #expect(error == .addressInUse(address))
            return
        }
        Issue.record("no port of ::1 is free at 127.0.0.1")
    }

    @Test("IPv6 addresses have brackets")
    func ipv6AddressesAreWrittenWith() {
        #expect(SocketAddress(host: "::1", port: 80).description == "[::1]:80")
        #expect(SocketAddress(host: "::1", port: 0).description == "::1")
    }

    @Test("Serves two hundred connections at once on any number of loops", arguments: [1, 2, 4])
    func twoHundredConnectionsAtOnce(loops: Int) async throws {
        let peers = Box<Set<Int>>([])
        try await withServer(loops: loops) { request, response in
            let peer = request.peer
            peers.update { $0.insert(peer.port) }
            return echo(request, &response)
        } client: { port in
            let clients = try (0..<200).map { _ in try TestConnection(port) }
            for round in 0..<5 {
                for client in clients { try client.send("GET /\(round) HTTP/1.1\r\nHost: x\r\n\r\n") }
                for client in clients { #expect(try client.readResponse().text == "GET /\(round) 0 ") }
            }
        }
        #expect(peers.current.count == 200)
    }

    @Test("The connection limit can change while the server runs; busy ones stay")
    func connectionLimitChanges() async throws {
        let server = HTTPServer(
            configuration: {
                var configuration = ServerConfiguration()
                configuration.limits.connections = 3
                return configuration
            }(), application: TestApplication(handler: echoOrWait))
        let port = try server.start().port
        try await onThread {
            let busy = try (0..<3).map { _ in try busyConnection(port) }
            #expect(try TestConnection(port).get("/").status == 503)
            server.limit(connections: 100)
            #expect(try TestConnection(port).get("/").status == 200)
            server.limit(connections: 1)
            #expect(try TestConnection(port).get("/").status == 503)
            for client in busy { #expect(client.isQuiet(milliseconds: 0)) }
        }
        await server.shutdown(within: .zero)
    }

    @Test("Counts open connections")
    func connectionsAreCountedAndForgotten() async throws {
        let server = server { _ in }
        let port = try server.start().port
        var clients: [TestConnection] = []
        for number in 1...10 {
            let client = try TestConnection(port)
            #expect(try await onThread { try client.get("/").status } == 200)
            clients.append(client)
            #expect(server.connectionCount == number)
        }
        clients.removeAll()
        while server.connectionCount > 0 { try await nextTurn() }
        await server.shutdown(within: .zero)
    }
}
