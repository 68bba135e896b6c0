public import HTTPCore

/// The options of the commands that talk to a running service.
public struct ClientOptions: Sendable {
    /// The service.
    public var server: HTTPURL
    /// The finished file's name.
    public var filename: String?
    /// Most connections for each file, 1…16.
    public var segments: Int?
    /// Bytes per second of each download; 0 is no limit.
    public var speedLimit: Int64 = 0
    /// −10…10; greater ones begin first.
    public var priority: Int?
    /// Formats of the parts of a work; empty for those that the service chooses.
    public var formats: [String] = []
    /// Labels to add, or the one that downloads must have.
    public var labels: [String] = []
    /// The folder of the finished file, or that downloads must have; empty for none.
    public var folder: String?
    /// Whether a download is added without beginning.
    public var startsPaused = false
    /// The states to list; empty for all.
    public var states: [String] = []
    /// What URL, file name or track name must contain.
    public var text: String?
    /// Most rows to show.
    public var count: Int?
    /// Whether identifiers are all that is listed.
    public var writesIDsOnly = false
    /// Whether all downloads are meant, rather than those named.
    public var meansAll = false
    /// Whether the finished file goes too.
    public var deletesFile = false
    /// Where to search.
    public var source: String?
    /// What kind of media to search for.
    public var media: String?
    /// What to find of that kind of media.
    public var entity: String?
    /// Whose store to search.
    public var country: String?

    init() {
        server = HTTPURL(.http, host: "127.0.0.1", port: 8080)
    }
}
