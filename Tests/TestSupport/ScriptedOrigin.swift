import Foundation
import Synchronization

/// An origin server on loopback that sends exactly the bytes of a test, valid or invalid.
///
///     let origin = try ScriptedOrigin { request in
///         [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close]     // six bytes short
///     }
///     … origin.url("/file") … origin.requests.first?["Range"] …
///
/// The origin calls the closure for each request on its own thread, and gets the steps of the response. After them, the
/// connection waits for the next request; `.close` and `.reset` end it. One background thread serves all connections,
/// so a stalled one affects no other. The system chooses the port. Everything ends with ``stop()`` or when the value is
/// freed.
public final class ScriptedOrigin: Sendable {
    /// A step of a response.
    public enum Step: Sendable {
        /// Sends these bytes.
        case send([UInt8])
        /// Sends `count` bytes made in pieces by the closure, which receives an offset and a number of bytes.
        case generate(count: Int, from: @Sendable (_ offset: Int, _ count: Int) -> [UInt8])
        /// Continues when the gate is open.
        case wait(Gate)
        /// Opens a gate: all earlier steps are done, and the system has their bytes.
        case open(Gate)
        /// Ends the connection by FIN after the sent bytes.
        case close
        /// Ends the connection by RST. Bytes that the client has not received are lost; wait for a gate first if they
        /// matter.
        case reset
        /// Waits until the client leaves; later gates are opened then.
        case stall
    }

    /// A received request.
    public struct Request: Sendable {
        /// 0 for the first request to this origin.
        public let number: Int
        /// 0 for the first connection; equal for requests that share one.
        public let connection: Int
        /// Such as `GET`.
        public let method: String
        /// As sent: `/path?query`.
        public let target: String
        /// The whole head without the empty line. Bytes beyond ASCII appear as ISO-8859-1.
        public let head: String
        /// The content, of the length in Content-Length.
        public let body: [UInt8]
        /// The fields in order.
        public let fields: [(name: String, value: String)]

        /// The first value of a field, ignoring the case of its name.
        public subscript(name: String) -> String? {
            fields.first { $0.name.lowercased() == name.lowercased() }?.value
        }
    }

    /// The port on 127.0.0.1.
    public let port: Int
    private let reactor: OriginReactor

    /// Listens, and responds with the closure. `greeting` returns the steps at the start of a connection, before any
    /// request: to use another protocol, or to reset every connection but the first.
    public init(
        greeting: @escaping @Sendable (_ connection: Int) -> [Step] = { _ in [] },
        _ answer: @escaping @Sendable (Request) -> [Step]
    ) throws {
        reactor = try OriginReactor(greeting: greeting, answer: answer)
        port = reactor.port
        let reactor = reactor
        let thread = Thread { reactor.run() }
        thread.start()
    }

    deinit { reactor.stop() }

    /// `http://127.0.0.1:<port>` and the path.
    public func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

    /// All requests so far.
    public var requests: [Request] { reactor.requests.value }

    /// The number of accepted connections.
    public var connectionCount: Int { reactor.connectionCount.value }

    /// The number of open connections.
    public var openConnectionCount: Int { reactor.openConnections.value }

    /// Waits until this number of requests have arrived, and returns all.
    @discardableResult
    public func requests(atLeast count: Int, within limit: Duration = .seconds(90)) async throws -> [Request] {
        try await reactor.requests.wait(within: limit) { $0.count >= count }
    }

    /// Waits until this number of connections are open.
    public func openConnections(exactly count: Int, within limit: Duration = .seconds(90)) async throws {
        try await reactor.openConnections.wait(within: limit) { $0 == count }
    }
}

extension ScriptedOrigin.Step {
    /// Sends text as UTF-8.
    public static func text(_ text: String) -> ScriptedOrigin.Step { .send(Array(text.utf8)) }

    /// Sends a whole response, framed by Content-Length.
    public static func response(
        _ status: Int = 200, _ fields: [(name: String, value: String)] = [], body: [UInt8] = []
    ) -> ScriptedOrigin.Step {
        var head = "HTTP/1.1 \(status) Status\r\n"
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        head += "Content-Length: \(body.count)\r\n\r\n"
        return .send(Array(head.utf8) + body)
    }

    /// Sends a redirect without content.
    public static func redirect(_ status: Int = 302, to location: String) -> ScriptedOrigin.Step {
        .response(status, [("Location", location)])
    }
}
