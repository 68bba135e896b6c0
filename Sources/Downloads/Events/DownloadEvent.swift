/// What a reader of events is told.
public enum DownloadEvent: Sendable {
    /// Where things stand: every live download, or the one that the reader asked for. It replaces what was known of live ones: one
    /// that is neither in it nor told of by the events that follow at once, which are those that have ended meanwhile, was removed.
    case snapshot(id: EventID, [Download])
    /// A transition, or progress.
    case download(id: EventID, Download)
    /// A record that was removed.
    case removed(id: EventID, DownloadID)
}
