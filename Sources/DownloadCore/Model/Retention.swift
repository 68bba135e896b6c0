package import HTTPCore

/// The time for which ended downloads are kept.
public struct Retention: Sendable, Equatable {
    /// The time for records of completed downloads; `nil` for ever.
    public var completed: Duration?
    /// The time for records of failed and cancelled downloads; `nil` for ever.
    public var ended: Duration?
    /// Whether finished files are deleted with their records.
    public var deletesFiles = false

    /// Creates a retention that keeps everything.
    public init() {}

    /// Returns the time at which a download's record is removed; `nil` if no removal is planned.
    package func expiry(of download: Download) -> Timestamp? {
        guard let endedAt = download.endedAt, let limit = limit(download.state) else { return nil }
        return endedAt.advanced(by: limit)
    }

    private func limit(_ state: DownloadState) -> Duration? {
        switch state {
        case .completed: completed
        case .failed, .cancelled: ended
        case .queued, .downloading, .paused, .retrying: nil
        }
    }

    /// The time between two searches for expired downloads; `nil` if everything is kept.
    ///
    /// It is a tenth of the shortest limit, within 1 to 60 seconds.
    package var interval: Duration? {
        guard let shortest = [completed, ended].compactMap(\.self).min() else { return nil }
        return min(max(shortest / 10, .seconds(1)), .seconds(60))
    }
}
