import Foundation

/// A database for one test in ``PrivatePostgres``. It is dropped some time after the value is freed, unless a client is
/// still connected.
public final class TestDatabase: Sendable {
    /// Its server.
    public let server: PrivatePostgres
    /// Its name.
    public let name: String

    init(_ server: PrivatePostgres) throws {
        self.server = server
        name = server.unusedName()
        try server.administer("CREATE DATABASE \(name)")
    }

    deinit {
        let (server, name) = (server, name)
        Thread.detachNewThread { try? server.administer("DROP DATABASE \(name)") }
    }

    /// Runs the statements of a file, as the superuser.
    public func execute(file path: String) throws {
        try server.psql("-d \(name) -f '\(path)'")
    }

    /// A connection string: over the Unix socket, as the superuser.
    public var conninfo: String {
        "host=\(server.socketDirectory) port=\(server.port) user=\(PrivatePostgres.user) dbname=\(name)"
    }

    /// A connection string over TCP.
    /// - Parameters:
    /// - port: the port of a relay to the server; by default the server's own.
    /// - more: further parameters, such as `user=… password=…`, which take precedence.
    public func conninfo(port: Int? = nil, _ more: String = "") -> String {
        "host=127.0.0.1 port=\(port ?? server.port) user=\(PrivatePostgres.user) dbname=\(name) sslmode=disable \(more)"
    }
}
