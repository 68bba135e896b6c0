import Foundation
import HTTPCore
import TestSupport
import Testing

@testable import HTTPClient

/// Requests through a proxy. Only the proxy resolves names that end in `.test`.
@Suite(.timeLimit(.minutes(3)))
struct ProxyTests {
    @Test(
        "Reads the URL of a proxy, and displays it without the password",
        arguments: [
            ("http://proxy.example", "http://proxy.example:80"), ("http://proxy.example/", "http://proxy.example:80"),
            ("http://proxy.example:3128", "http://proxy.example:3128"), ("HTTPS://Proxy.example", "https://proxy.example:443"),
            ("https://proxy.example:80", "https://proxy.example:80"), ("socks5h://10.0.0.1", "socks5h://10.0.0.1:1080"),
            ("socks5h://proxy.example:80", "socks5h://proxy.example:80"),
            ("socks5h://[fd00::1]:9050", "socks5h://[fd00::1]:9050"),
            ("http://user:s3cret@proxy.example:3128", "http://proxy.example:3128"),
            ("socks5h://user:p%40ss@127.0.0.1:1", "socks5h://127.0.0.1:1"),
        ])
    func proxyIsRead(text: String, shown: String) throws {
        let proxy = try #require(Proxy(parsing: text))
        #expect("\(proxy)" == shown)
        #expect(!String(reflecting: proxy).contains("s3cret"))
        var configuration = ClientConfiguration()
        configuration.proxy = proxy
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("s3cret") && !"\(configuration)".contains("s3cret"))
    }

    @Test(
        "Refuses an invalid proxy",
        arguments: [
            "", "proxy.example", "proxy.example:3128", "http://", "ftp://proxy.example", "socks5://proxy.example",
            "socks4a://proxy.example", "http://proxy.example/path", "http://proxy.example?x", "http://proxy.example#x",
            "http://proxy.example:0", "http://proxy.example:65536", "http://pro xy.example",
            "http://proxy.example, http://b.example",
        ])
    func noProxyIsRefused(text: String) {
        #expect(Proxy(parsing: text) == nil)
    }

    @Test(
        "Connects directly to destinations of a rule",
        arguments: [
            ("http://intranet.example/", true), ("http://INTRANET.example:8080/", true), ("http://a.b.corp.example/", true),
            ("http://corp.example/", false), ("http://10.1.2.3/", true), ("http://0xa010203/", true),
            ("http://[::ffff:10.1.2.3]/", true), ("http://11.1.2.3/", false), ("http://ported.example:8080/", true),
            ("http://ported.example/", false), ("https://example.org/", false), ("http://[fd00::1]/", true),
            ("http://172.16.3.4/", true), ("http://[::ffff:172.16.3.4]/", true), ("http://172.32.3.4/", false),
        ])
    func rulesNameDirectDestinations(text: String, isDirect: Bool) throws {
        var configuration = ClientConfiguration()
        configuration.directDestinations = try [
            "intranet.example", "*.corp.example", "10.0.0.0/8", "ported.example:8080", "fd00::/8", "::ffff:172.16.0.0/108",
        ].map { try DestinationRule(parsing: $0) }
        #expect(configuration.proxy(for: try url(text)) == nil)
        configuration.proxy = Proxy(parsing: "http://proxy.example")
        #expect((configuration.proxy(for: try url(text)) == nil) == isDirect)
    }

    /// A client of a proxy.
    private func client(
        _ scheme: String, _ proxy: RelayProxy, _ user: String = "", direct: [String] = [], caFile: String? = nil
    ) throws -> HTTPClient {
        var configuration = ClientConfiguration()
        configuration.proxy = Proxy(parsing: "\(scheme)://\(user)127.0.0.1:\(proxy.port)")
        try #require(configuration.proxy != nil)
        configuration.directDestinations = try direct.map { try DestinationRule(parsing: $0) }
        configuration.caFile = caFile
        return try HTTPClient(configuration: configuration)
    }

    @Test("Requests go through the proxy, which resolves names; the guard checks the names", arguments: ["http", "socks5h"])
    func requestsGoThroughProxy(scheme: String) async throws {
        let proxy = try RelayProxy()
        let origin = try ScriptedOrigin { request in
            request.target == "/away" ? [.redirect(to: "http://10.0.0.1/")] : [.response(body: Array("through".utf8))]
        }
        let client = try client(scheme, proxy)
        var request = ClientRequest(url: try url("http://origin.test:\(origin.port)/file"))
        // The proxy itself is on loopback, which every guard refuses.
        request.guarding = DestinationGuard()
        request.fields = [("X-Mine", "1")]
        for _ in 0..<2 {
            let response = try await client.fetch(request, bodyLimit: 100)
            #expect(String(decoding: response.body, as: UTF8.self) == "through")
        }
        #expect(proxy.requests.map(\.target).allSatisfy { $0 == "origin.test:\(origin.port)" })
        #expect(origin.requests.map(\.target) == ["/file", "/file"])
        #expect(origin.requests.first?["X-Mine"] == "1")
        let before = proxy.requests.count
        for host in [
            "127.0.0.1", "0x7f.1", "localhost", "metadata.google.internal", "metadata", "instance-data",
            "metadata.azure.internal", "[::ffff:10.0.0.1]",
        ] {
            request.url = try url("http://\(host):\(origin.port)/")
            #expect(await client.failure(of: request)?.kind == "destinationForbidden", "\(host)")
        }
        #expect(proxy.requests.count == before)
        request.url = try url("http://origin.test:\(origin.port)/away")
        #expect(await client.failure(of: request) == .destinationForbidden("10.0.0.1 (private use)", status: 302))
        request.guarding = DestinationGuard(denied: [try DestinationRule(parsing: "*.test")])
        #expect(await client.failure(of: request)?.kind == "destinationForbidden")
    }

    @Test("User and password go to the proxy only, and appear in no error", arguments: ["http", "socks5h"])
    func credentialsAreTheProxys(scheme: String) async throws {
        let proxy = try RelayProxy(credentials: ("user", "p@ss"))
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let request = ClientRequest(url: try url("http://origin.test:\(origin.port)/"))
        _ = try await client(scheme, proxy, "user:p%40ss@").fetch(request, bodyLimit: 10)
        #expect(origin.requests.map { $0["Proxy-Authorization"] } == [nil])
        for user in ["", "user:s3cret@"] {
            for url in [request.url, try url("https://origin.test/")] {
                let failure = await (try client(scheme, proxy, user)).failure(of: ClientRequest(url: url))
                #expect(failure == .proxyRefused("\(scheme)://127.0.0.1:\(proxy.port)"))
            }
        }
        #expect(origin.requests.count == 1)
    }

    @Test("Checks direct destinations by address")
    func directRequestIsCheckedByAddress() async throws {
        let proxy = try RelayProxy()
        let origin = try ScriptedOrigin { _ in [.response(body: [1])] }
        let client = try client("http", proxy, direct: ["127.0.0.0/8"])
        var request = ClientRequest(url: try url(origin.url()))
        _ = try await client.fetch(request, bodyLimit: 10)
        request.guarding = DestinationGuard()
        #expect(await client.failure(of: request)?.kind == "destinationForbidden")
        #expect(proxy.requests.isEmpty)
    }

    @Test("A missing proxy is a failed connection")
    func missingProxyFailsConnection() async throws {
        let closed = try ClosedPort()
        var configuration = ClientConfiguration()
        configuration.proxy = Proxy(parsing: "http://user:s3cret@127.0.0.1:\(closed.number)")
        let client = try HTTPClient(configuration: configuration)
        for scheme in ["http", "https"] {
            let error = try #require(await client.failure(of: ClientRequest(url: try url("\(scheme)://origin.test/"))))
            #expect(error.kind == "connectionFailed" && !error.message.contains("s3cret"), "\(error)")
        }
    }

    @Test(
        "TLS to the origin uses a verified tunnel",
        .enabled(if: TLSServer.openssl != nil, "there is no openssl command"),
        arguments: ["http", "socks5h"])
    func tlsGoesThroughTunnel(scheme: String) async throws {
        let server = try await TLSServer(subjectAlternativeName: "DNS:origin.test")
        defer { server.stop() }
        let proxy = try RelayProxy(credentials: ("user", "p@ss"))
        let client = try client(scheme, proxy, "user:p%40ss@", caFile: server.caFile)
        var request = ClientRequest(url: try url("https://origin.test:\(server.port)/"))
        request.guarding = DestinationGuard()
        request.fields = [("Authorization", "Bearer origins")]
        let response = try await client.fetch(request, bodyLimit: 100_000)
        #expect(response.head.status == .ok)
        // The head of the tunnel's response is not passed on.
        #expect(FieldName("x-from-proxy").map { response.head.fields[$0] == nil } == true)
        let asked = try #require(proxy.requests.last)
        #expect(asked.method == (scheme == "http" ? "CONNECT" : "SOCKS"))
        #expect(asked.target == "origin.test:\(server.port)" && asked.fields["authorization"] == nil)
        let wrong = await client.failure(of: ClientRequest(url: try url("https://other.test:\(server.port)/")))
        #expect(wrong?.kind == "tls")
    }

    static let python =
        ["/usr/bin/python3", "/usr/local/bin/python3"].first { FileManager.default.isExecutableFile(atPath: $0) }
        ?? (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/python3" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// Terminates TLS and relays to a port: certificate, key, port. Prints its own port, and ends with its input.
    private static let unwrap = """
        import socket, ssl, sys, threading
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        threading.Thread(target=lambda: (sys.stdin.read(), __import__("os")._exit(0)), daemon=True).start()
        def copy(source, target):
            try:
                while data := source.recv(65536): target.sendall(data)
                target.shutdown(socket.SHUT_WR)
            except OSError: pass
        def serve(raw):
            try: client = context.wrap_socket(raw, server_side=True)
            except OSError: return
            plain = socket.create_connection(("127.0.0.1", int(sys.argv[3])))
            threading.Thread(target=copy, args=(client, plain), daemon=True).start()
            copy(plain, client)
        while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """

    @Test(
        "Connects to a proxy with TLS and verifies its certificate",
        .enabled(if: TLSServer.openssl != nil && python != nil, "there is no openssl command, or no python3"))
    func proxyInTLS() async throws {
        let server = try await TLSServer(subjectAlternativeName: "IP:127.0.0.1")
        defer { server.stop() }
        let proxy = try RelayProxy(credentials: ("user", "p@ss"))
        let folder = URL(filePath: server.caFile).deletingLastPathComponent().path
        let process = TestProcess()
        process.executableURL = URL(filePath: try #require(Self.python))
        process.arguments = ["-c", Self.unwrap, folder + "/server.pem", folder + "/server.key", String(proxy.port)]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        defer { try? input.fileHandleForWriting.close() }
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let port = try #require(Int(said.trimmingCharacters(in: .whitespacesAndNewlines)))
        let origin = try ScriptedOrigin { _ in [.response(body: Array("through".utf8))] }
        var configuration = ClientConfiguration()
        configuration.proxy = Proxy(parsing: "https://user:p%40ss@127.0.0.1:\(port)")
        let request = ClientRequest(url: try url("http://origin.test:\(origin.port)/"))
        #expect(await (try HTTPClient(configuration: configuration)).failure(of: request)?.kind == "tls")
        configuration.caFile = server.caFile
        let response = try await HTTPClient(configuration: configuration).fetch(request, bodyLimit: 100)
        #expect(String(decoding: response.body, as: UTF8.self) == "through")
    }
}
