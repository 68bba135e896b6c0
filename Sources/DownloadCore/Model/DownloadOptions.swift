public import HTTPCore
package import JSON

/// The choices of a client for a download, without its URL. `nil` leaves a value to the service or, in a change, as it is.
///
/// All values are within ``DownloadLimits``: a number becomes the nearest possible one, and further mirrors and texts that cannot
/// be labels are dropped. Front ends refuse such values before.
public struct DownloadOptions: Sendable, Equatable {
    /// The file's name; see `FileNaming.objection(to:)`.
    public var filename: String?
    /// The folder below the files directory; empty for the files directory itself. See `FileNaming.objection(toFolder:)`.
    public var folder: String?
    /// Header fields of the requests. Their values may be secrets: they are never logged, and never sent to another origin.
    public var headers = RequestHeaders()
    /// The checksum that the finished file must match.
    public var checksum: Checksum?
    /// The media type that the file must have, or a pattern such as `audio/*`.
    public var mediaType: String?
    /// Other URLs of the same bytes.
    public var mirrors: [HTTPURL]? {
        didSet {
            if let urls = mirrors, urls.count > DownloadLimits.mirrors { mirrors = Array(urls.prefix(DownloadLimits.mirrors)) }
        }
    }
    /// The priority, see ``DownloadLimits/priorities``. Higher priorities start earlier.
    public var priority: Int? { didSet { priority = priority.map(DownloadLimits.priorities.nearest(to:)) } }
    /// The user's labels.
    public var labels: [String]? {
        didSet { if labels?.allSatisfy(DownloadLimits.isLabel) == false { labels?.removeAll { !DownloadLimits.isLabel($0) } } }
    }
    /// The speed limit in bytes per second; 0 is no limit.
    public var speedLimit: Int64? { didSet { speedLimit = speedLimit.map { max($0, 0) } } }
    /// The maximum number of connections for this file.
    public var segments: Int? { didSet { segments = segments.map(DownloadLimits.segments.nearest(to:)) } }
    /// The time limits of its requests, as far as they differ from the service's.
    public var timeouts: Timeouts?
    /// The choice of when failed attempts are repeated, as far as it differs from the service's.
    public var retry: RetryChoice?
    /// Whether the finished file gets the origin's modification time.
    public var remoteTime: Bool?
    /// The URL of the webhook that receives the ended download.
    public var webhook: HTTPURL?
    /// The move within the queue. The download takes the nearest priority that its new neighbours allow.
    package var move: QueueMove?

    /// The number of downloads that are to precede this one in the queue, 0 or more.
    public var position: Int? {
        get { if case .start(let places) = move { places } else { nil } }
        set { move = newValue.map { .start(max($0, 0)) } }
    }

    // MARK: - Choices for new downloads only

    /// Whether the download starts paused instead of queued.
    public var startsPaused = false
    /// The reaction to a URL that has a live or completed download already.
    public var onDuplicate = DuplicatePolicy.returnExisting
    /// The search result that the download was started from, as the bytes of a JSON object.
    public var track: [UInt8]?
    /// The name of that search result.
    public var trackName: String?
    /// The name in aria2's RPC; `nil` for any.
    public var gid: DownloadGID?

    /// Creates options that leave everything to the service, or as it is.
    public init() {}
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

// MARK: - JSON

/// The form of options in records and between replicas.
extension DownloadOptions {
    /// The chosen values by their names in the API. Header fields and the choices for new downloads are not among them.
    package var members: [JSONMember] {
        var members: [JSONMember] = []
        func put(_ name: String, _ value: JSONValue?) {
            if let value { members.append(JSONMember(name: name, value: value)) }
        }
        func put(_ name: String, _ texts: [String]?) { put(name, texts.map { .array($0.map(JSONValue.string)) }) }
        put("filename", filename.map(JSONValue.string))
        put("folder", folder.map(JSONValue.string))
        put("checksum", checksum.map { .string($0.description) })
        put("mediaType", mediaType.map(JSONValue.string))
        put("mirrors", mirrors?.map(\.string))
        put("priority", priority.map { .integer(Int64($0)) })
        put("labels", labels)
        put("speedLimit", speedLimit.map(JSONValue.integer))
        put("segments", segments.map { .integer(Int64($0)) })
        put("timeouts", timeouts?.json)
        put("retry", retry?.json)
        put("remoteTime", remoteTime.map(JSONValue.bool))
        put("webhook", webhook.map { .string($0.string) })
        switch move {
        case nil: break
        case .start(let places): put("fromStart", .integer(Int64(places)))
        case .current(let places): put("fromCurrent", .integer(Int64(places)))
        case .end(let places): put("fromEnd", .integer(Int64(places)))
        }
        return members
    }

    /// Reads the values of ``members``, which had to be within the limits when a client chose them. Values that cannot be read
    /// are absent.
    package init(members value: JSONValue) {
        func number(_ name: String) -> Int? { value[name]?.integer.map { Int(clamping: $0) } }
        filename = value["filename"]?.string
        folder = value["folder"]?.string
        checksum = value["checksum"]?.string.flatMap { try? Checksum(parsing: $0) }
        mediaType = value["mediaType"]?.string
        mirrors = value["mirrors"]?.array?.compactMap { $0.string.flatMap { HTTPURL($0) } }
        priority = number("priority")
        labels = value["labels"]?.array?.compactMap(\.string)
        speedLimit = value["speedLimit"]?.integer
        segments = number("segments")
        timeouts = value["timeouts"].flatMap(Timeouts.init)
        retry = value["retry"].flatMap { try? RetryChoice(json: $0) }
        remoteTime = value["remoteTime"]?.bool
        webhook = value["webhook"]?.string.flatMap { HTTPURL($0) }
        move =
            number("fromStart").map(QueueMove.start) ?? number("fromCurrent").map(QueueMove.current)
            ?? number("fromEnd").map(QueueMove.end)
    }
}
