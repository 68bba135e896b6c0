internal import HTTPCore
internal import HTTPServer

/// An origin for demonstrations and tests.
///
/// It has a catalogue like that of iTunes with playable sound, items like those of the Internet Archive, posts like
/// those of JSONPlaceholder, and large files. Requests can ask for faults.
///
/// | path | contents |
/// | --- | --- |
/// | `/search`, `/lookup` | the iTunes Search API over ``Catalogue`` and ``Podcast`` |
/// | `/advancedsearch.php`, `/metadata/<identifier>` | the Internet Archive's search and metadata over ``Archive`` |
/// | `/download/<identifier>/<path>` | 302 to one of its nodes, another one each time |
/// | `/node-1/items/<identifier>/<path>` (to `-9`) | a file of an item; 403 if it is private |
/// | `/services/img/<identifier>`, `/details/<identifier>` | the picture and the page of an item |
/// | `/posts`, `/posts/<id>` | JSONPlaceholder's posts |
/// | `/media/<track id>.wav`, `/episodes/<id>/audio.mp3` | 30 s of synthesised sound, as WAVE |
/// | `/large/field-recording-1.bin` (`-2`, `-3`) | 256 MiB, 512 MiB and 1 GiB |
/// | `/podcast/<id>/feed.xml`, `/episodes/<minute>/audio.wav` | the podcast's feed: ``PodcastFeed`` |
/// | `/artwork/<album id>/100x100.png` | a cover, square, 16 to 600 pixels |
/// | `/artist/<id>`, `/album/<id>`, `/track/<id>`, `/podcast/<id>`, `/` | pages |
/// | `/entity?size=…` | an entity for a test; see ``Entity/synthetic(_:version:now:)`` |
///
/// All paths take `pace=<bytes per second>` and `fault=…`; ``Fault`` lists the faults. Nothing is stored: every byte is
/// a function of the target and the offset, the same in every run.
public final class DemoUpstream: Sendable {
    private let application: UpstreamApplication
    private let server: HTTPServer

    /// Creates an upstream that does not listen yet.
    public init(configuration: Configuration = Configuration()) {
        application = UpstreamApplication(configuration: configuration)
        var serverConfiguration = ServerConfiguration()
        serverConfiguration.host = "127.0.0.1"
        serverConfiguration.port = configuration.port
        serverConfiguration.eventLoops = 1
        server = HTTPServer(configuration: serverConfiguration, application: application)
    }

    /// Starts to listen, and returns the base URL, such as `http://127.0.0.1:41234`.
    ///
    /// - Throws: `ServerError` if it cannot listen on the address.
    public func start() throws -> String {
        let address = try server.start()
        let base = "http://\(address)"
        application.setBase(base, port: address.port)
        return base
    }

    /// The first path segments of entities.
    private static let contents = ["media", "large", "entity", "artwork", "posts", "episodes", "download"]

    /// Stops listening, and aborts running responses.
    public func shutdown() async {
        await server.shutdown(within: .seconds(1))
    }

    /// The latest requests, at least 1,000, in the order in which their responses began.
    public var requests: [LoggedRequest] { application.log.requests }

    /// The entity of a target, such as `/media/5000410101.wav` or `/entity?size=1000`, for comparison with received
    /// bytes. `nil` if there is none, or its bytes depend on the server's address.
    ///
    /// - Parameter version: The version, from 1, of an entity that a fault changes.
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

    /// The length in bytes.
    public var length: Int64 { content.length }

    /// The bytes of a range, without those outside the entity.
    public func bytes(in range: Range<Int64>) -> [UInt8] {
        var bytes: [UInt8] = []
        content.append(range.clamped(to: 0..<length), to: &bytes)
        return bytes
    }

    /// All bytes, for entities that fit in memory.
    public var bytes: [UInt8] { bytes(in: 0..<length) }
}
