/// What a reader of events is sent.
public enum DownloadEvent: Sendable {
    /// Where things stand: every live download, or the one that the reader asked for. It replaces all that the reader knew: a download
    /// that is neither in it nor in the events that follow has been removed, or had ended before.
    case snapshot(id: EventID, LiveDownloads)
    /// A transition, or progress.
    case download(id: EventID, Download)
    /// A record that was removed.
    case removed(id: EventID, DownloadID)
}
