import Foundation
import HTTPClient
import HTTPCore
import TestSupport
import Testing

/// TLS against a server with a certificate of its own CA, both made by the openssl command.
@Suite(.timeLimit(.minutes(3)), .serialized, .enabled(if: TLSServer.openssl != nil, "there is no openssl command"))
struct TLSTests {
    @Test("Trusts a certificate only with its CA")
    func certificateNeedsTrustedCA() async throws {
        let server = try await TLSServer(subjectAlternativeName: "IP:127.0.0.1")
        defer { server.stop() }
        let request = ClientRequest(url: try url("https://127.0.0.1:\(server.port)/"))
        var configuration = ClientConfiguration()
        let untrusting = try HTTPClient(configuration: configuration)
        let error = try #require(await untrusting.failure(of: request, bodyLimit: 100_000))
        #expect(error.kind == "tls", "\(error)")
        configuration.caFile = server.caFile
        let response = try await HTTPClient(configuration: configuration).fetch(request, bodyLimit: 100_000)
        #expect(response.head.status == .ok)
        #expect(String(decoding: response.body, as: UTF8.self).contains("TLSv1.3"))
    }

    @Test("Refuses a certificate of another host")
    func foreignCertificateIsRefused() async throws {
        let server = try await TLSServer(subjectAlternativeName: "DNS:other.example")
        defer { server.stop() }
        var configuration = ClientConfiguration()
        configuration.caFile = server.caFile
        let client = try HTTPClient(configuration: configuration)
        let error = try #require(await client.failure(of: ClientRequest(url: try url("https://127.0.0.1:\(server.port)/"))))
        #expect(error.kind == "tls", "\(error)")
    }

    @Test("A CA file without certificates is a TLS failure")
    func emptyCAFileIsFailure() async throws {
        let server = try await TLSServer(subjectAlternativeName: "IP:127.0.0.1")
        defer { server.stop() }
        let directory = try TemporaryDirectory()
        let file = directory.path + "/empty.pem"
        try "no certificate\n".write(toFile: file, atomically: true, encoding: .utf8)
        var configuration = ClientConfiguration()
        configuration.caFile = file
        let client = try HTTPClient(configuration: configuration)
        let error = try #require(await client.failure(of: ClientRequest(url: try url("https://127.0.0.1:\(server.port)/"))))
        #expect(error.kind == "tls", "\(error)")
    }

    @Test(
        "A server's refusal of the handshake is a TLS failure in words",
        arguments: [
            (["-tls1", "-cipher", "ALL:@SECLEVEL=0"], "out of date"), (["-Verify", "1"], "certificate"),
            (["-Verify", "1", "-tls1_2"], "certificate"), (["-alpn", "h2"], "HTTP/2"),
        ])
    func refusalIsTLSFailure(options: [String], words: String) async throws {
        let server = try await TLSServer(subjectAlternativeName: "IP:127.0.0.1", options: options)
        defer { server.stop() }
        var configuration = ClientConfiguration()
        configuration.caFile = server.caFile
        let client = try HTTPClient(configuration: configuration)
        let error = try #require(await client.failure(of: ClientRequest(url: try url("https://127.0.0.1:\(server.port)/"))))
        #expect(error.kind == "tls" && error.message.contains(words), "\(error)")
    }

    @Test(
        "A server that ends each connection without HTTP/2 is known by offering it", .enabled(if: nghttpd != nil, "no nghttpd"))
    func serverOfHTTP2IsKnown() async throws {
        let server = try await TLSServer(subjectAlternativeName: "IP:127.0.0.1")
        server.stop()
        var configuration = ClientConfiguration()
        configuration.caFile = server.caFile
        let client = try HTTPClient(configuration: configuration)
        let process = TestProcess()
        process.executableURL = URL(filePath: try #require(Self.nghttpd))
        process.arguments = ["-a", "127.0.0.1", "\(server.port)", server.keyFile, server.certificateFile]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        defer { kill(process.processIdentifier, SIGKILL) }
        let request = ClientRequest(url: try url("https://127.0.0.1:\(server.port)/"))
        // It does not say when it listens.
        var error = await client.failure(of: request)
        while error?.kind == "connectionFailed" { error = await client.failure(of: request) }
        #expect(error == .onlyHTTP2)
    }

    private static let nghttpd: String? = ["/usr/sbin/nghttpd", "/usr/bin/nghttpd"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    @Test(
        "A broken handshake is a failed connection",
        arguments: [[.text("220 mail.example ESMTP\r\n"), .close], [.reset], [.close]] as [[ScriptedOrigin.Step]])
    func brokenHandshakeFailsConnection(greeting: [ScriptedOrigin.Step]) async throws {
        let plain = try ScriptedOrigin(greeting: { _ in greeting }) { _ in [] }
        let client = try HTTPClient()
        let error = try #require(await client.failure(of: ClientRequest(url: try url("https://127.0.0.1:\(plain.port)/"))))
        #expect(error.kind == "connectionFailed", "\(error)")
    }
}

/// `openssl s_server` with a fresh CA and certificate.
final class TLSServer: Sendable {
    static let openssl: String? = ["/usr/bin/openssl", "/usr/local/bin/openssl", "/opt/homebrew/bin/openssl"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    let port: Int
    let caFile: String
    private let directory: TemporaryDirectory
    private let process: TestProcess

    var keyFile: String { directory.path + "/server.key" }
    var certificateFile: String { directory.path + "/server.pem" }

    /// Starts a server; `options` are further ones of `openssl s_server`.
    init(subjectAlternativeName name: String, options: [String] = []) async throws {
        directory = try TemporaryDirectory()
        let path = directory.path
        caFile = path + "/ca.pem"
        let openssl = try #require(Self.openssl)
        try Self.run(
            openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
            "/CN=Test CA",
            "-keyout", path + "/ca.key", "-out", caFile)
        try Self.run(
            openssl, "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=server",
            "-keyout", path + "/server.key", "-out", path + "/server.csr")
        try "subjectAltName=\(name)\n".write(toFile: path + "/extensions", atomically: true, encoding: .utf8)
        try Self.run(
            openssl, "x509", "-req", "-in", path + "/server.csr", "-CA", caFile, "-CAkey", path + "/ca.key", "-CAcreateserial",
            "-days", "1",
            "-extfile", path + "/extensions", "-out", path + "/server.pem")
        let server = TestProcess()
        server.executableURL = URL(filePath: openssl)
        server.arguments =
            [
                "s_server", "-accept", "127.0.0.1:0", "-cert", path + "/server.pem", "-key", path + "/server.key", "-www",
            ] + options
        let output = Pipe()
        server.standardOutput = output
        server.standardError = FileHandle.nullDevice
        server.standardInput = FileHandle.nullDevice
        try server.run()
        process = server
        // The server prints its port: "ACCEPT 127.0.0.1:40123".
        let said = Waiter("")
        output.fileHandleForReading.readabilityHandler = { handle in
            let text = String(decoding: handle.availableData, as: UTF8.self)
            said.update { $0 += text }
        }
        let text = try await said.wait { $0.contains("ACCEPT") && $0.hasSuffix("\n") }
        output.fileHandleForReading.readabilityHandler = nil
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("ACCEPT") })
        port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
    }

    /// SIGKILL, since the process inherits the signal mask of its starting thread, which may block SIGTERM.
    func stop() {
        kill(process.processIdentifier, SIGKILL)
    }

    private static func run(_ command: String, _ arguments: String...) throws {
        let process = TestProcess()
        process.executableURL = URL(filePath: command)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(arguments)")
    }
}
