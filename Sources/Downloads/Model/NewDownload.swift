public import HTTPCore

/// What a user asks to be downloaded. Its values have been validated by whoever makes one, except for the destination, the file's name
/// and its folder.
public struct NewDownload: Sendable {
    /// What to download.
    public var url: HTTPURL
    /// The file's name, if the user chose one; see `FileNaming.objection(to:)`.
    public var filename: String?
    /// Whether ``filename`` is to get an extension as soon as the origin's response tells the media type.
    public var lacksExtension = false
    /// The file's directory below the files directory; empty for that itself. See `FileNaming.objection(toFolder:)`.
    public var folder: String
    /// Fields to send along. They may carry secrets: never shown, never logged, and never sent to another origin.
    public var headers: [(name: String, value: String)]
    /// What the finished file must match.
    public var checksum: Checksum?
    /// Bytes that it is said to have, shown until the origin says; `nil`: nobody knows.
    public var bytesTotal: Int64?
    /// The media type it must have; `audio/*` is understood.
    public var mediaType: String?
    /// More URLs of the same bytes.
    public var mirrors: [HTTPURL]
    /// The more, the earlier it starts: −10…10.
    public var priority: Int
    /// The user's own labels.
    public var labels: [String]
    /// Bytes per second; 0 is no limit.
    public var speedLimit: Int64
    /// Most connections for this file; `nil` takes the service's setting.
    public var segments: Int?
    /// Whether it waits to be resumed rather than for a slot.
    public var startsPaused: Bool
    /// The search item it was started from, as the bytes of a JSON object.
    public var track: [UInt8]?
    /// The name of that item.
    public var trackName: String?
    /// Where the resource is posted to when it ends.
    public var webhook: HTTPURL?
    /// What happens if the URL is already being, or has been, downloaded.
    public var onDuplicate: DuplicatePolicy
    /// How many are to precede it in the queue, 0 or more; `nil`: all of its priority. Between others it takes the nearest priority to its
    /// own that they allow.
    public var position: Int?
    /// The name that aria2's RPC is to have for it; `nil`: any.
    public var gid: DownloadGID?

    /// A download of a URL with everything else at its default.
    public init(
        url: HTTPURL,
        filename: String? = nil,
        folder: String = "",
        headers: [(name: String, value: String)] = [],
        checksum: Checksum? = nil,
        mediaType: String? = nil,
        mirrors: [HTTPURL] = [],
        priority: Int = 0,
        labels: [String] = [],
        speedLimit: Int64 = 0,
        segments: Int? = nil,
        startsPaused: Bool = false,
        track: [UInt8]? = nil,
        trackName: String? = nil,
        webhook: HTTPURL? = nil,
        onDuplicate: DuplicatePolicy = .returnExisting,
        position: Int? = nil,
        gid: DownloadGID? = nil
    ) {
        self.url = url
        self.filename = filename
        self.folder = folder
        self.headers = headers
        self.checksum = checksum
        self.mediaType = mediaType
        self.mirrors = mirrors
        self.priority = priority
        self.labels = labels
        self.speedLimit = speedLimit
        self.segments = segments
        self.startsPaused = startsPaused
        self.track = track
        self.trackName = trackName
        self.webhook = webhook
        self.onDuplicate = onDuplicate
        self.position = position
        self.gid = gid
    }
}

/// What to do with a URL that has a live or completed download already. The raw values are those of the API.
public enum DuplicatePolicy: String, Sendable, CaseIterable {
    /// Respond with the one there is.
    case returnExisting = "return"
    /// Refuse.
    case reject
    /// Download it again.
    case new
}
