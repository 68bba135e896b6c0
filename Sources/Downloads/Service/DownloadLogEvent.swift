/// Something worth a line in the log, or counting. No secret is in it.
public enum DownloadLogEvent: Sendable {
    /// A download changed its state.
    case transition(Download)
    /// A record was removed.
    case removed(DownloadID)
    /// A failed attempt is tried again after a delay.
    case retry(Download, after: Duration)
    /// The partial bytes of a download were given up, and why.
    case startedOver(DownloadID, String)
    /// A queued download got a slot, after so long.
    case started(DownloadID, waited: Duration)
    /// The store made a group of changes durable, which took so long.
    case committed(took: Duration)
    /// Something went wrong that no download shows.
    case warning(String)
}

/// Why a data directory cannot be worked on: one clear line.
public struct DownloadsStartError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, naming the path.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
