import Foundation
import Glibc
import HTTPCore
import HTTPServer
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(3))) struct UnixSocketTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var path: String { directory.path + "/pawl.sock" }

    /// A server whose responses name the request's sender.
    private func server(_ path: String) -> HTTPServer {
        var configuration = ServerConfiguration()
        configuration.unixSocket = path
        configuration.limits.connectionsPerAddress = 1
        return HTTPServer(
            configuration: configuration,
            application: TestApplication { request, response in
                response.body = Array("\(request.peer.host) \(request.linkPrefix.text)".utf8)
                return .ready
            })
    }

    /// The status of a response over the socket.
    private func status(_ path: String) async throws -> Int {
        try await onThread { try TestConnection(unixSocket: path).get("/").status }
    }

    @Test("Listens on the socket as well, for its owner and group, and removes the file at the end")
    func besides() async throws {
        let (server, path) = (server(path), path)
        let port = try server.start().port
        try await onThread {
            var status = stat()
            #expect(unsafe lstat(path, &status) == 0)
            #expect(status.st_mode == S_IFSOCK | 0o660)
            #expect(try TestConnection(port).get("/").text == "127.0.0.1 ")
            // Any number: they do not count as one client's.
            let clients = try (0..<20).map { _ in try TestConnection(unixSocket: path) }
            for client in clients { #expect(try client.get("/").text == "unix ") }
            let said = try clients[0].get("/", "X-Forwarded-For: 203.0.113.9", "X-Forwarded-Prefix: /pawl")
            #expect(said.text == "203.0.113.9 /pawl")
            #expect(try TestConnection(port).get("/", "X-Forwarded-For: 203.0.113.9").text == "127.0.0.1 ")
        }
        await server.shutdown(within: .zero)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(throws: TestConnection.Failure.cannotConnect(ENOENT)) { try TestConnection(unixSocket: path) }
    }

    @Test("A socket in use is an error that names it, and stays in use")
    func inUse() async throws {
        let (first, second, path) = (server(path), server(path), path)
        _ = try first.start()
        #expect(throws: ServerError.cannotListenOnPath(path, reason: "another process listens on it")) { try second.start() }
        #expect(try await status(path) == 200)
        await first.shutdown(within: .zero)
        _ = try second.start()
        #expect(try await status(path) == 200)
        await second.shutdown(within: .zero)
    }

    @Test("Replaces the file of an ended process; keeps a file that appears later")
    func stale() async throws {
        let (server, path) = (server(path), path)
        // Bound and closed, as after a kill.
        let earlier = self.server(path)
        _ = try earlier.start()
        try FileManager.default.moveItem(atPath: path, toPath: path + "2")
        await earlier.shutdown(within: .zero)
        try FileManager.default.moveItem(atPath: path + "2", toPath: path)
        #expect(throws: TestConnection.Failure.cannotConnect(ECONNREFUSED)) { try TestConnection(unixSocket: path) }
        _ = try server.start()
        #expect(try await status(path) == 200)
        try FileManager.default.removeItem(atPath: path)
        try Data("mine".utf8).write(to: URL(filePath: path))
        await server.shutdown(within: .zero)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }

    @Test("Keeps files that are no sockets; an invalid path is an error")
    func notASocket() throws {
        try Data("mine".utf8).write(to: URL(filePath: path))
        #expect(throws: ServerError.cannotListenOnPath(path, reason: "the path names a file that is not a socket")) {
            try server(path).start()
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        let missing = directory.path + "/missing/pawl.sock"
        #expect(throws: ServerError.cannotListenOnPath(missing, reason: "No such file or directory")) {
            try server(missing).start()
        }
        for bad in ["", "/" + String(repeating: "s", count: 107)] {
            #expect(throws: ServerError.cannotListenOnPath(bad, reason: "its path must have 1 to 107 bytes")) {
                try server(bad).start()
            }
        }
    }
}
