import Foundation

/// A database of its own for one test, in ``PrivatePostgres``. It is dropped some time after the value goes away, unless
/// somebody is connected still.
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

    /// A connection string: over the Unix socket, as the user who may do everything.
    public var conninfo: String {
        "host=\(server.socketDirectory) port=\(server.port) user=\(PrivatePostgres.user) dbname=\(name)"
    }

    /// One over TCP.
    /// - Parameters:
    ///   - port: that of a relay to the server; the server's own unless given.
    ///   - more: further parameters, such as `user=… password=…`; these win.
    public func conninfo(port: Int? = nil, _ more: String = "") -> String {
        "host=127.0.0.1 port=\(port ?? server.port) user=\(PrivatePostgres.user) dbname=\(name) sslmode=disable \(more)"
    }
}
