public import HTTPCore

/// A user's request for a download.
///
/// ``DownloadService/add(_:key:)`` refuses values beyond ``DownloadLimits``, bad names, and forbidden destinations.
public struct NewDownload: Sendable {
    /// The URL of the file.
    public var url: HTTPURL
    /// The file's name, if the user chose one; see `FileNaming.objection(to:)`.
    public var filename: String?
    /// Whether ``filename`` is to get an extension, which the origin's response determines.
    public var lacksExtension = false
    /// The folder below the files directory; empty for the files directory itself. See
    /// `FileNaming.objection(toFolder:)`.
    public var folder: String
    /// Header fields of the requests. Their values may be secrets: they are never logged, and
    /// never sent to another origin.
    public var headers: RequestHeaders
    /// The checksum that the finished file must match.
    public var checksum: Checksum?
    /// The expected length in bytes, shown until the origin states it; `nil` if it is unknown.
    public var bytesTotal: Int64?
    /// The media type that the file must have, or a pattern such as `audio/*`.
    public var mediaType: String?
    /// Other URLs of the same bytes.
    public var mirrors: [HTTPURL]
    /// The priority, see ``DownloadLimits/priorities``. Higher priorities start earlier.
    public var priority: Int
    /// The user's labels.
    public var labels: [String]
    /// The speed limit in bytes per second; 0 is no limit.
    public var speedLimit: Int64
    /// The maximum number of connections for this file; `nil` for the service's setting.
    public var segments: Int?
    /// The time limits of its requests, as far as they differ from the service's.
    public var timeouts: Timeouts
    /// The choice of when failed attempts are repeated, as far as it differs from the service's.
    public var retry = RetryChoice()
    /// Whether the finished file gets the origin's modification time; `nil` for the service's option.
    public var remoteTime: Bool?
    /// Whether the download starts paused instead of queued.
    public var startsPaused: Bool
    /// The search result that the download was started from, as the bytes of a JSON object.
    public var track: [UInt8]?
    /// The name of that search result.
    public var trackName: String?
    /// The URL of the webhook that receives the ended download.
    public var webhook: HTTPURL?
    /// The reaction to a URL that has a live or completed download already.
    public var onDuplicate: DuplicatePolicy
    /// The number of downloads that are to precede this one in the queue, 0 or more.
    ///
    /// The download takes the nearest priority to its own that its neighbours allow. `nil`: behind all
    /// downloads of its priority.
    public var position: Int?
    /// The name in aria2's RPC; `nil` for any.
    public var gid: DownloadGID?

    /// Creates a request for a URL, with defaults for all other values.
    public init(
        url: HTTPURL,
        filename: String? = nil,
        folder: String = "",
        headers: RequestHeaders = RequestHeaders(),
        checksum: Checksum? = nil,
        mediaType: String? = nil,
        mirrors: [HTTPURL] = [],
        priority: Int = 0,
        labels: [String] = [],
        speedLimit: Int64 = 0,
        segments: Int? = nil,
        timeouts: Timeouts = Timeouts(),
        remoteTime: Bool? = nil,
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
        self.timeouts = timeouts
        self.remoteTime = remoteTime
        self.startsPaused = startsPaused
        self.track = track
        self.trackName = trackName
        self.webhook = webhook
        self.onDuplicate = onDuplicate
        self.position = position
        self.gid = gid
    }
}

/// The reaction to a URL that has a live or completed download already. The raw values are the API's.
public enum DuplicatePolicy: String, Sendable, CaseIterable {
    /// Returns the existing download.
    case returnExisting = "return"
    /// Refuses the request.
    case reject
    /// Downloads the file again.
    case new
}
