/// Where a download is in its life.
public enum DownloadState: String, Sendable, CaseIterable {
    /// Waits for a slot.
    case queued
    /// Transfers, in a slot; or has all its bytes, which are being verified and published.
    case downloading
    /// Stopped by the user; its bytes are kept.
    case paused
    /// Failed in a way that may pass, and waits for its next attempt without holding a slot.
    case retrying
    /// The file is published.
    case completed
    /// Given up; resumable by command.
    case failed
    /// Given up by the user; its partial bytes are deleted.
    case cancelled

    /// Whether it has not ended: anything but completed, failed and cancelled.
    public var isLive: Bool {
        switch self {
        case .queued, .downloading, .paused, .retrying: true
        case .completed, .failed, .cancelled: false
        }
    }
}
