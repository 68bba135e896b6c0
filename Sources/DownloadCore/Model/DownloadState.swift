/// The state of a download.
public enum DownloadState: String, Sendable, CaseIterable {
    /// Waits for a slot.
    case queued
    /// Transfers in a slot, or has all bytes, which are being verified and published.
    case downloading
    /// Is stopped, and keeps its bytes.
    case paused
    /// Waits for its next attempt after a failure that may pass, without a slot.
    case retrying
    /// Ended: the finished file is published.
    case completed
    /// Ended by a failure. A command can resume it.
    case failed
    /// Ended by a user's command. Its part file is deleted.
    case cancelled

    /// Whether the download has not ended: it is neither completed, failed nor cancelled.
    @inlinable public var isLive: Bool {
        switch self {
        case .queued, .downloading, .paused, .retrying: true
        case .completed, .failed, .cancelled: false
        }
    }
}
