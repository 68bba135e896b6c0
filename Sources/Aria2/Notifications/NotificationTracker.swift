internal import Downloads
internal import HTTPCore

/// Decides what listeners are told when a download changes: each turn that it takes once, whatever else happens meanwhile.
///
/// Start Complete · Start Error · Start Pause Start Complete · Start Stop. Nothing of retries, nor of what ends or is paused without
/// having begun but for errors.
struct NotificationTracker: Sendable {
    private enum Stage {
        /// It is live, and has not begun since it was added, paused or ended.
        case resting
        case started
        case ended
    }

    private var stages: [DownloadID: Stage] = [:]
    /// What was created later, and is not known, is new.
    private let beginning: Timestamp

    /// - Parameters:
    ///   - live: how the downloads stand that have not ended.
    ///   - beginning: when that was so.
    init(_ live: some Sequence<Download>, at beginning: Timestamp) {
        self.beginning = beginning
        for download in live { stages[download.id] = download.isActive ? .started : .resting }
    }

    /// How many downloads are remembered.
    var count: Int { stages.count }

    /// Takes it that a download is gone.
    mutating func remove(_ id: DownloadID) {
        stages[id] = nil
    }

    /// What is told of a download that stands like this now.
    mutating func update(_ download: Download) -> [RPCNotification] {
        let stage = stages[download.id] ?? (download.state.isLive || download.createdAt >= beginning ? .resting : .ended)
        // Of a turn whose begin was not seen, the end is not told alone.
        let begun: [RPCNotification] = stage == .started ? [] : [.start]
        switch download.state {
        case .downloading, .retrying:
            stages[download.id] = .started
            return begun
        case .queued:
            // It may wait between two tries of one turn.
            if stage != .started { stages[download.id] = .resting }
            return []
        case .paused:
            stages[download.id] = .resting
            return stage == .started ? [.pause] : []
        case .completed:
            stages[download.id] = .ended
            return stage == .ended ? [] : begun + [.complete]
        case .failed:
            stages[download.id] = .ended
            return stage == .ended ? [] : begun + [.error]
        case .cancelled:
            stages[download.id] = .ended
            return stage == .started ? [.stop] : []
        }
    }
}

extension Download {
    fileprivate var isActive: Bool { Aria2Status(state) == .active }
}
