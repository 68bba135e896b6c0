import DemoUpstream
import Synchronization
import TestSupport
import TestUpstream

/// An upstream with faults for one test.
func withUpstream(_ body: (TestUpstream, String) async throws -> Void) async throws {
    let upstream = TestUpstream()
    let base = try upstream.start()
    do {
        try await body(upstream, base)
        await upstream.shutdown()
    } catch {
        await upstream.shutdown()
        throw error
    }
}

/// The demo's upstream, without a pace, for one test.
func withDemo(log: (@Sendable (String) -> Void)? = nil, _ body: (String) async throws -> Void) async throws {
    let upstream = DemoUpstream(pace: 0, log: log)
    let base = try upstream.start()
    do {
        try await body(base)
        await upstream.shutdown()
    } catch {
        await upstream.shutdown()
        throw error
    }
}

/// Sends a request on its own connection and reads the whole response. Fields are whole lines.
func get(_ base: String, _ target: String, _ fields: String..., method: String = "GET") throws -> TestResponse {
    let connection = try connect(base)
    try connection.send("\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\(fields.map { $0 + "\r\n" }.joined())\r\n")
    return try connection.readResponse(isHead: method == "HEAD")
}

/// - Parameter base: `http://127.0.0.1:port`.
func connect(_ base: String, patience: Duration = .seconds(60)) throws -> TestConnection {
    try TestConnection(base.split(separator: ":").last.flatMap { Int($0) } ?? 0, patience: patience)
}

/// The end of a response.
enum Ending {
    case complete, closed, reset, silence

    /// Reads a body, and returns its end.
    init(of connection: TestConnection, _ response: inout TestResponse) throws {
        do {
            try connection.readBody(of: &response)
            self = .complete
        } catch TestConnection.Failure.ended {
            self = .closed
        } catch TestConnection.Failure.reset {
            self = .reset
        } catch TestConnection.Failure.timedOut {
            self = .silence
        }
    }
}

/// The same as `get`, for a body that may break off.
func getBroken(_ base: String, _ target: String, patience: Duration = .seconds(60)) throws -> (TestResponse, Ending) {
    let connection = try connect(base, patience: patience)
    try connection.send("GET", target)
    var response = try connection.readHead()
    let ending = try Ending(of: connection, &response)
    return (response, ending)
}

/// The bytes of an entity; empty if there is no such entity.
func content(_ target: String, version: Int = 1) -> [UInt8] {
    TestUpstream.content(of: target, version: version)?.bytes ?? []
}

/// Lines from several threads.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
}
