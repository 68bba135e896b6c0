internal import HTTPCore
internal import HTTPServer

/// An origin for demonstrations and tests: an iTunes-shaped catalogue with playable sound, items of an archive in the Internet
/// Archive's shape, posts in JSONPlaceholder's, large files, and faults on request.
///
/// | path | what it is |
/// | --- | --- |
/// | `/search`, `/lookup` | the iTunes Search API over ``Catalogue`` and ``Podcast`` |
/// | `/advancedsearch.php`, `/metadata/<identifier>` | the Internet Archive's search and metadata over ``Archive`` |
/// | `/download/<identifier>/<path>` | 302 to one of its nodes, another one each time |
/// | `/node-1/items/<identifier>/<path>` (to `-9`) | a file of an item; 403 if it is private |
/// | `/services/img/<identifier>`, `/details/<identifier>` | the picture and the page of an item |
/// | `/posts`, `/posts/<id>` | JSONPlaceholder's posts |
/// | `/media/<track id>.wav`, `/episodes/<id>/audio.mp3` | 30 s of synthesised sound, as WAVE |
/// | `/large/field-recording-1.bin` (`-2`, `-3`) | 256 MiB, 512 MiB and 1 GiB |
/// | `/artwork/<album id>/100x100.png` | a cover, square, 16 to 600 pixels |
/// | `/artist/<id>`, `/album/<id>`, `/track/<id>`, `/podcast/<id>`, `/` | pages |
/// | `/entity?size=…` | whatever a test needs; see ``Entity/synthetic(_:version:now:)`` |
///
/// Everything takes `pace=<bytes per second>` and `fault=…`; the faults are listed at ``Fault``. Nothing is stored: every byte is a
/// function of the target and its offset, the same in every run.
public final class DemoUpstream: Sendable {
    private let application: UpstreamApplication
    private let server: HTTPServer

    /// An upstream that isn't listening yet.
    public init(configuration: Configuration = Configuration()) {
        application = UpstreamApplication(configuration: configuration)
        var serverConfiguration = ServerConfiguration()
        serverConfiguration.host = "127.0.0.1"
        serverConfiguration.port = configuration.port
        serverConfiguration.eventLoops = 1
        server = HTTPServer(configuration: serverConfiguration, application: application)
    }

    /// Listens, and returns the base URL: `http://127.0.0.1:41234`.
    ///
    /// - Throws: `ServerError` where the address can't be listened on.
    public func start() throws -> String {
        let address = try server.start()
        let base = "http://\(address)"
        application.setBase(base, port: address.port)
        return base
    }

    /// What the paths of entities begin with.
    private static let contents = ["media", "large", "entity", "artwork", "posts", "episodes", "download"]

    /// Stops listening and breaks off what is still being sent.
    public func shutdown() async {
        await server.shutdown(within: .seconds(1))
    }

    /// The latest requests, 1,000 at least, in the order in which their responses began.
    public var requests: [LoggedRequest] { application.log.requests }

    /// The entity that a target names, such as `/media/5000410101.wav` or `/entity?size=1000`, for comparing with what was received.
    /// Nil if there is none, or its bytes depend on where the server listens.
    ///
    /// - Parameter version: which version, where a fault changes the entity: 1 is the first.
    public static func content(of target: String, version: Int = 1) -> DemoContent? {
        guard let requestTarget = try? RequestTarget(target), let parsed = try? Target(requestTarget),
            let name = parsed.segments.first, contents.contains(name),
            let entity = try? Entity.find(parsed, version: min(max(1, version), 1_000_000), base: "", now: 0),
            entity.status == .ok
        else { return nil }
        return DemoContent(content: entity.content)
    }
}

/// The bytes of one of the upstream's entities.
public struct DemoContent: Sendable {
    private let content: any EntityContent

    init(content: any EntityContent) { self.content = content }

    /// In bytes.
    public var length: Int64 { content.length }

    /// The bytes of a range; what of it lies outside the entity is left out.
    public func bytes(in range: Range<Int64>) -> [UInt8] {
        var bytes: [UInt8] = []
        content.append(range.clamped(to: 0..<length), to: &bytes)
        return bytes
    }

    /// All bytes. For entities that fit in memory.
    public var bytes: [UInt8] { bytes(in: 0..<length) }
}
