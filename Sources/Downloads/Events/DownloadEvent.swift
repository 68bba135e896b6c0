/// What a reader of events is told.
public enum DownloadEvent: Sendable {
    /// Where things stand: every live download, or the one that the reader asked for.
    case snapshot(id: EventID, [Download])
    /// A transition, or progress.
    case download(id: EventID, Download)
    /// A record that was removed.
    case removed(id: EventID, DownloadID)
}
