public import HTTPCore
internal import System

/// What is to be changed about a download. What is `nil` stays. The values have been validated by whoever makes one, except for
/// the destination, the file's name and its folder.
public struct DownloadChange: Sendable {
    /// The more, the earlier it starts: −10…10.
    public var priority: Int?
    /// The user's own labels, all of them.
    public var labels: [String]?
    /// What the finished file must match from now on.
    var checksum: Checksum?
    /// A label that it is to have beside those it has.
    var addedLabel: String?
    /// A label that it is to have no more.
    var removedLabel: String?
    /// Bytes per second; 0 is no limit.
    public var speedLimit: Int64?
    /// Another URL of the same content.
    public var url: HTTPURL?
    /// The `Authorization` field to send to that URL. It is a secret.
    public var authorization: String?
    /// The file's name; see `FileNaming.objection(to:)`.
    public var filename: String?
    /// The file's directory; see `FileNaming.objection(toFolder:)`.
    public var folder: String?
    /// More URLs of the same content, in place of those there were; the next attempt uses them.
    public var mirrors: [HTTPURL]?
    /// Most connections for this file, 1 or more; the next attempt uses them.
    public var segments: Int?
    /// Where it is to stand in the queue. Takes the nearest priority that its neighbours there allow.
    var move: QueueMove?

    /// How many are to precede it in the queue, 0 or more.
    public var position: Int? {
        get { if case .start(let places) = move { places } else { nil } }
        set { move = newValue.map(QueueMove.start) }
    }

    /// Changes nothing yet.
    public init() {}

    /// What of it is not possible any more once the file is complete, by its name in the API; `nil` if all of it is.
    var partBeforeCompletion: String? {
        if url != nil { return "url" }
        if filename != nil { return "filename" }
        if folder != nil { return "folder" }
        if mirrors != nil { return "mirrors" }
        if segments != nil { return "segments" }
        return nil
    }

    /// Whether the finished file is to have another path.
    var movesFile: Bool { filename != nil || folder != nil }

    /// Changes what takes effect by itself.
    func apply(to download: inout Download) {
        if let priority { download.priority = priority }
        if let labels { download.labels = labels }
        if let checksum { download.checksum = checksum }
        if let removedLabel { download.labels.removeAll { $0.isExactly(removedLabel) } }
        if let addedLabel, !download.labels.containsExactly(addedLabel) { download.labels.append(addedLabel) }
        if let speedLimit { download.speedLimit = speedLimit }
    }
}
