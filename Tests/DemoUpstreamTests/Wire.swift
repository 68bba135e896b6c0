import Synchronization

@testable import DemoUpstream

/// An upstream without a pace, for one test.
func withUpstream<Value>(
    pace: Int64 = 0, log: (@Sendable (String) -> Void)? = nil, _ body: (DemoUpstream, String) async throws -> Value
) async throws -> Value {
    let upstream = DemoUpstream(configuration: .init(pace: pace, log: log))
    let base = try upstream.start()
    do {
        let value = try await body(upstream, base)
        await upstream.shutdown()
        return value
    } catch {
        await upstream.shutdown()
        throw error
    }
}

/// An entity's bytes; none if there is no such entity.
func content(_ target: String, version: Int = 1) -> [UInt8] {
    DemoUpstream.content(of: target, version: version)?.bytes ?? []
}

/// Lines that threads add.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
}
