internal import HTTPServer

/// An origin for demonstrations.
///
/// It has a catalogue in the form of iTunes with playable sound, items in the form of the Internet Archive, posts in the
/// form of JSONPlaceholder, and large files.
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
/// | `/entity?size=…` | a file of any size; see ``Entity/synthetic(_:)`` |
/// | `/podcast/<id>/feed.xml`, `/episodes/<minute>/audio.wav` | the podcast's feed: ``PodcastFeed`` |
/// | `/artwork/<album id>/100x100.png` | a cover, square, 16 to 600 pixels |
/// | `/artist/<id>`, `/album/<id>`, `/track/<id>`, `/podcast/<id>`, `/` | pages |
///
/// All paths take `pace=<bytes per second>`. Nothing is stored: every byte is a function of the target and the offset,
/// the same in every run.
public final class DemoUpstream: Sendable {
    /// The default pace of large files. With 1 MiB/s, 256 MiB over four connections take about a minute, which leaves
    /// time to pause. An album of the archive with four files at a time takes half a minute, and a preview two and a half
    /// seconds.
    public static let pace: Int64 = 1 << 20

    private let application: UpstreamApplication
    private let server: HTTPServer

    /// Creates an upstream that does not listen yet.
    /// - Parameters:
    ///   - port: The port on 127.0.0.1; 0 lets the system choose a free one.
    ///   - pace: Bytes per second and connection for large files; 0 means unlimited. Previews, episodes and the archive's
    ///     files get half of it. A request's `pace=` overrides it; other entities have no other limit.
    ///   - log: Receives a line for each request at its end, on a thread of the server. Pages and artwork are left out.
    public init(port: Int = 0, pace: Int64 = DemoUpstream.pace, log: (@Sendable (String) -> Void)? = nil) {
        application = UpstreamApplication(pace: pace, log: log)
        var configuration = ServerConfiguration()
        configuration.host = "127.0.0.1"
        configuration.port = port
        configuration.eventLoops = 1
        server = HTTPServer(configuration: configuration, application: application)
    }

    /// Starts to listen, and returns the base URL, such as `http://127.0.0.1:41234`.
    ///
    /// - Throws: `ServerError` if it cannot listen on the address.
    public func start() throws -> String {
        let address = try server.start()
        let base = "http://\(address)"
        application.setBase(base)
        return base
    }

    /// Stops listening, and aborts running responses.
    public func shutdown() async {
        await server.shutdown(within: .seconds(1))
    }
}
