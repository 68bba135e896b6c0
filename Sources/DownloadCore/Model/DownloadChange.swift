public import HTTPCore
internal import System

/// Changes to a download. `nil` leaves a value as it is.
///
/// ``DownloadService/change(_:_:if:)`` refuses values beyond ``DownloadLimits``, bad names, and forbidden destinations.
public struct DownloadChange: Sendable {
    /// The priority, see ``DownloadLimits/priorities``. Higher priorities start earlier.
    public var priority: Int?
    /// The user's labels, which replace all earlier ones.
    public var labels: [String]?
    /// The checksum that the finished file must match from now on.
    package var checksum: Checksum?
    /// A label to add to the present ones.
    package var addedLabel: String?
    /// A label to remove from the present ones.
    package var removedLabel: String?
    /// The speed limit in bytes per second; 0 is no limit.
    public var speedLimit: Int64?
    /// Another URL of the same content.
    public var url: HTTPURL?
    /// Header fields for that URL, which replace fields of the same names. Their values are secrets.
    public var headers = RequestHeaders()
    /// The file's name; see `FileNaming.objection(to:)`.
    public var filename: String?
    /// The folder of the file; see `FileNaming.objection(toFolder:)`.
    public var folder: String?
    /// URLs of the same content that replace the present mirrors. The next attempt uses them.
    public var mirrors: [HTTPURL]?
    /// The maximum number of connections for this file, 1 or more. The next attempt uses it.
    public var segments: Int?
    /// The time limits of its requests, which replace all chosen ones. The next attempt uses them.
    public var timeouts: Timeouts?
    /// The choice of when failed attempts are repeated, which replaces the present one. The next failure uses it.
    public var retry: RetryChoice?
    /// The move within the queue. The download takes the nearest priority that its new neighbours allow.
    package var move: QueueMove?

    /// The number of downloads that are to precede this one in the queue, 0 or more.
    public var position: Int? {
        get { if case .start(let places) = move { places } else { nil } }
        set { move = newValue.map(QueueMove.start) }
    }

    /// Creates a change that leaves everything as it is.
    public init() {}

    /// The API's name of a value that cannot be changed once the file is complete; `nil` if there is none.
    var partBeforeCompletion: String? {
        if url != nil { return "url" }
        if filename != nil { return "filename" }
        if folder != nil { return "folder" }
        if mirrors != nil { return "mirrors" }
        if segments != nil { return "segments" }
        if timeouts != nil { return "timeouts" }
        if retry != nil { return "retry" }
        return nil
    }

    /// Whether the finished file is to get another path.
    var movesFile: Bool { filename != nil || folder != nil }

    /// Applies the values that need no further work.
    /// - Parameter usual: The policy for values that the choice of retries leaves to the service.
    package func apply(to download: inout Download, usual: RetryPolicy) {
        if let priority { download.priority = priority }
        if let labels { download.labels = labels }
        if let checksum { download.checksum = checksum }
        if let removedLabel { download.labels.removeAll { $0.isExactly(removedLabel) } }
        if let addedLabel, !download.labels.containsExactly(addedLabel) { download.labels.append(addedLabel) }
        if let speedLimit { download.speedLimit = speedLimit }
        if let timeouts { download.timeouts = timeouts }
        if let retry { download.retry = retry.completed(by: usual) }
    }
}
