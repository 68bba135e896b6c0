/// A user's command for a download.
public enum DownloadCommand: String, Sendable, CaseIterable {
    /// Stops the download and keeps its bytes.
    case pause
    /// Continues from the present bytes.
    case resume
    /// Stops the download and deletes its part file.
    case cancel
    /// Starts again from byte 0.
    case retry
}
