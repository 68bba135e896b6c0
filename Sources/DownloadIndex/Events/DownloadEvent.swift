public import DownloadCore

/// An event that a reader receives.
public enum DownloadEvent: Sendable {
    /// All live downloads, or the one download that the reader asked for.
    ///
    /// It replaces everything that the reader has received. A download that is neither in it nor in later events has
    /// been removed, or had ended before.
    case snapshot(id: EventID, LiveDownloads)
    /// A transition or the progress of a download.
    case download(id: EventID, Download)
    /// The removal of a record.
    case removed(id: EventID, RecordID)
}
