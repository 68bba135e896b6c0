import Foundation
import Synchronization

/// An origin server on loopback that answers byte by byte as a test says, right or wrong.
///
///     let origin = try ScriptedOrigin { request in
///         [.text("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), .close]     // six bytes short
///     }
///     … origin.url("/file") … origin.requests.first?["Range"] …
///
/// The closure is asked for each request, on the origin's own thread, and returns the steps of the answer. When they are done,
/// the connection waits for the next request; `.close` and `.reset` end it. One background thread serves all connections, so a
/// stalled one disturbs nobody. The port is free and chosen by the system. Everything ends with ``stop()`` or when the value goes away.
public final class ScriptedOrigin: Sendable {
    /// One step of an answer.
    public enum Step: Sendable {
        /// Sends these bytes.
        case send([UInt8])
        /// Sends `count` bytes made in pieces by the closure, which is given an offset and a number of bytes.
        case generate(count: Int, from: @Sendable (_ offset: Int, _ count: Int) -> [UInt8])
        /// Goes on when the gate is open.
        case wait(Gate)
        /// Opens a gate: all steps before are done, their bytes given to the system.
        case open(Gate)
        /// Ends the connection by FIN, after what was sent.
        case close
        /// Ends the connection by RST. What the client has not received yet is lost: wait for a gate before, if it matters.
        case reset
        /// Does nothing more until the client leaves; gates that come behind it are opened then.
        case stall
    }

    /// A request as it came in.
    public struct Request: Sendable {
        /// 0 for the first request to this origin.
        public let number: Int
        /// 0 for the first connection; the same for requests that share one.
        public let connection: Int
        /// Such as `GET`.
        public let method: String
        /// As sent: `/path?query`.
        public let target: String
        /// All of the head, up to and without the empty line. Bytes beyond ASCII are shown as ISO-8859-1.
        public let head: String
        /// The content, as long as Content-Length says.
        public let body: [UInt8]
        /// The fields in order.
        public let fields: [(name: String, value: String)]

        /// The first value of a field, names compared without case.
        public subscript(name: String) -> String? {
            fields.first { $0.name.lowercased() == name.lowercased() }?.value
        }
    }

    /// The port on 127.0.0.1.
    public let port: Int
    private let reactor: OriginReactor

    /// Listens, and answers by the closure. `greeting` gives the steps with which a connection begins, before any request: to
    /// speak another protocol, or to reset every connection but the first.
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

    /// How many connections have been accepted so far.
    public var connectionCount: Int { reactor.connectionCount.value }

    /// How many connections are open now.
    public var openConnectionCount: Int { reactor.openConnections.value }

    /// Waits until so many requests have come, and returns all.
    @discardableResult
    public func requests(atLeast count: Int, within limit: Duration = .seconds(90)) async throws -> [Request] {
        try await reactor.requests.wait(within: limit) { $0.count >= count }
    }

    /// Waits until so many connections are open.
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
