public import HTTPCore

/// What is to be changed about a download. What is `nil` stays. The values have been validated by whoever makes one, except for
/// the destination, the file's name and its folder.
public struct DownloadChange: Sendable {
    /// The more, the earlier it starts: −10…10.
    public var priority: Int?
    /// The user's own labels, all of them.
    public var labels: [String]?
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

    /// Changes nothing yet.
    public init() {}

    /// What of it is not possible any more once the file is complete, by its name in the API; `nil` if all of it is.
    var partBeforeCompletion: String? {
        if url != nil { return "url" }
        if filename != nil { return "filename" }
        if folder != nil { return "folder" }
        return nil
    }

    /// Whether the finished file is to have another path.
    var movesFile: Bool { filename != nil || folder != nil }

    /// Changes what takes effect by itself.
    func apply(to download: inout Download) {
        if let priority { download.priority = priority }
        if let labels { download.labels = labels }
        if let speedLimit { download.speedLimit = speedLimit }
    }
}
