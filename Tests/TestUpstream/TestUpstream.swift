import DemoUpstream
import HTTPCore
import HTTPServer

/// The upstream of `pawl demo` for tests: without a default pace, with a log of its requests, and with faults on demand.
///
/// All paths take `fault=…`; ``Fault`` lists the faults. `/entity` takes more parameters than in the demo:
///
/// | parameter | meaning |
/// | --- | --- |
/// | `etag` | a text that becomes a strong tag; `none` leaves it out |
/// | `lastmodified` | `recent` is the moment of the response, which makes it a weak validator; `none` leaves it out |
/// | `type` | `none` leaves it out |
/// | `ranges` | `none`: not served, and not announced |
public final class TestUpstream: Sendable {
    private let application = FaultyApplication()
    private let server: HTTPServer

    /// Creates an upstream that does not listen yet.
    public init() {
        var configuration = ServerConfiguration()
        configuration.host = "127.0.0.1"
        configuration.port = 0
        configuration.eventLoops = 1
        server = HTTPServer(configuration: configuration, application: application)
    }

    /// Starts to listen, and returns the base URL, such as `http://127.0.0.1:41234`.
    public func start() throws -> String {
        let address = try server.start()
        let base = "http://\(address)"
        application.setBase(base, port: address.port)
        return base
    }

    /// Stops listening, and aborts running responses.
    public func shutdown() async {
        await server.shutdown(within: .seconds(1))
    }

    /// The latest requests, at least 1,000, in the order in which their responses began.
    public var requests: [LoggedRequest] { application.log.requests }

    /// The entity of a target, such as `/media/5000410101.wav` or `/entity?size=1000`, for comparison with received
    /// bytes. `nil` if there is none, or it is made for each request.
    ///
    /// - Parameter version: The version, from 1, of an entity that a fault changes.
    public static func content(of target: String, version: Int = 1) -> TestContent? {
        guard let requestTarget = try? RequestTarget(target), let parsed = try? FaultyTarget(requestTarget) else { return nil }
        var found = parsed.target
        if found.segments.first == "download" { found.segments.replaceSubrange(0..<1, with: ["node-1", "items"]) }
        guard var entity = Entity.find(found, base: "", node: 1), entity.status == .ok, entity.etag != nil else { return nil }
        parsed.change(&entity, version: version)
        return TestContent(content: entity.content)
    }
}

/// The bytes of one of the upstream's entities.
public struct TestContent: Sendable {
    let content: any EntityContent

    /// The length in bytes.
    public var length: Int64 { content.length }

    /// The bytes of a range, as far as it is inside the entity.
    public func bytes(in range: Range<Int64>) -> [UInt8] {
        var bytes: [UInt8] = []
        content.append(range.clamped(to: 0..<length), to: &bytes)
        return bytes
    }

    /// All bytes, for entities that fit in memory.
    public var bytes: [UInt8] { bytes(in: 0..<length) }
}
