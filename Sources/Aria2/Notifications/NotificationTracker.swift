internal import DownloadCore
internal import HTTPCore

/// Decides which notifications a change of a download causes: one for each start and one for its end, whatever happens
/// in between.
///
/// Typical sequences: start, complete; start, error; start, pause, start, complete; start, stop. Retries cause no
/// notifications. Downloads that end or are paused before they start cause none either, except for errors.
struct NotificationTracker: Sendable {
    private enum Stage {
        /// Live, and not started since it was added, paused or ended.
        case idle
        case started
        case ended
    }

    private var stages: [RecordID: Stage] = [:]
    /// An unknown download that was created later is new.
    private let beginning: Timestamp

    /// - Parameters:
    ///   - live: The live downloads at the beginning.
    ///   - beginning: The time of that state.
    init(_ live: some Sequence<Download>, at beginning: Timestamp) {
        self.beginning = beginning
        for download in live { stages[download.id] = download.isActive ? .started : .idle }
    }

    /// The number of downloads in memory.
    var count: Int { stages.count }

    /// Forgets a removed download.
    mutating func remove(_ id: RecordID) {
        stages[id] = nil
    }

    /// The notifications for the new state of a download.
    mutating func update(_ download: Download) -> [RPCNotification] {
        let stage = stages[download.id] ?? (download.state.isLive || download.createdAt >= beginning ? .idle : .ended)
        // If the start was not observed, a start precedes the notification of the end.
        let begun: [RPCNotification] = stage == .started ? [] : [.start]
        switch download.state {
        case .downloading, .retrying:
            stages[download.id] = .started
            return begun
        case .queued:
            // A download may be queued between two attempts of one start.
            if stage != .started { stages[download.id] = .idle }
            return []
        case .paused:
            stages[download.id] = .idle
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
