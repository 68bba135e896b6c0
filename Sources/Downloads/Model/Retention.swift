internal import HTTPCore

/// For how long what has ended is kept.
public struct Retention: Sendable, Equatable {
    /// Records of completed downloads; `nil`: for ever.
    public var completed: Duration?
    /// Those of failed and cancelled ones; `nil`: for ever.
    public var ended: Duration?
    /// Whether finished files go with their records.
    public var deletesFiles = false

    /// Everything is kept.
    public init() {}

    /// When a download's record is removed, counted from its end; `nil`: never, as things stand.
    func expiry(of download: Download) -> Timestamp? {
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

    /// What has been kept for long enough.
    func expired(now: Timestamp) -> [ListQuery] {
        var queries: [ListQuery] = []
        func add(_ states: Set<DownloadState>, _ limit: Duration?) {
            guard let limit else { return }
            // What ends at this very moment has been kept for no time at all.
            let before = now.advanced(by: .milliseconds(1) - limit)
            queries.append(ListQuery(states: states, endedBefore: before))
        }
        add([.completed], completed)
        add([.failed, .cancelled], ended)
        return queries
    }

    /// How often that is looked at: often enough that a record is not kept a tenth longer, or a minute; `nil`: everything is kept.
    var interval: Duration? {
        guard let shortest = [completed, ended].compactMap(\.self).min() else { return nil }
        return min(max(shortest / 10, .seconds(1)), .seconds(60))
    }
}
