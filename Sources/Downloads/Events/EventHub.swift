internal import System

/// Where transitions are published and readers subscribe. Any thread may do either.
///
/// The hub keeps a bounded history that all readers share; a reader keeps only its own position in it,
/// so a slow one costs nothing more however far it falls behind.
public final class EventHub: Sendable {
    /// Names this run of the service in event ids.
    public let epoch: UInt64

    private struct State {
        var history: EventHistory
        var wakes: [UInt64: @Sendable () -> Void] = [:]
        var nextReader: UInt64 = 0
    }

    private let state: Locked<State>
    let board: DownloadBoard

    init(epoch: UInt64, board: DownloadBoard, capacity: Int = EventHistory.defaultCapacity) {
        self.epoch = epoch
        self.board = board
        state = Locked(State(history: EventHistory(capacity: capacity)))
    }

    /// How many readers are subscribed.
    public var readerCount: Int { state.withLock { $0.wakes.count } }

    /// The number that the next change will get; only the one that publishes can rely on it.
    var nextSequence: UInt64 { state.withLock { $0.history.sequence + 1 } }

    /// Starts reading.
    /// - Parameters:
    ///   - scope: only events of this download; `nil` for all.
    ///   - after: the last event the reader has seen, if it has seen any (`Last-Event-ID`). What came after it is told; where that
    ///     is no longer held, or was told by an earlier run, a snapshot is, and each download that has ended since.
    ///   - interval: the least time between two progress events of one download.
    ///   - wake: called, on any thread, when a transition is there to be read; must not block.
    /// - Returns: the reader's cursor; cancel it when the reader leaves.
    public func subscribe(
        scope: DownloadID?, after: EventID?, interval: Duration, wake: @escaping @Sendable () -> Void
    ) -> EventSubscription {
        let (reader, current) = state.withLock { state in
            let reader = state.nextReader
            state.nextReader += 1
            state.wakes[reader] = wake
            return (reader, state.history.sequence)
        }
        let opening: EventSubscription.Opening =
            switch after {
            case let after? where after.epoch == epoch && after.sequence <= current: .resuming(at: after.sequence)
            case let after? where after.epoch < epoch: .snapshot(at: current, since: after)
            default: .snapshot(at: current, since: nil)
            }
        return EventSubscription(hub: self, reader: reader, scope: scope, interval: interval, opening: opening)
    }

    func publish(_ change: EventHistory.Change) {
        let wakes = state.withLock { state in
            state.history.append(change)
            return Array(state.wakes.values)
        }
        for wake in wakes { wake() }
    }

    func unsubscribe(_ reader: UInt64) {
        state.withLock { _ = $0.wakes.removeValue(forKey: reader) }
    }

    enum Lookup {
        case change(EventHistory.Change, number: UInt64)
        case upToDate(UInt64)
        /// Changes after the position are no longer held; the current number.
        case gap(UInt64)
    }

    /// The first change after `position` that is in `scope`.
    func change(after position: UInt64, scope: DownloadID?) -> Lookup {
        state.withLock { state in
            let history = state.history
            guard history.holdsEverything(after: position) else { return .gap(history.sequence) }
            var number = position + 1
            while let change = history[number] {
                if scope == nil || change.downloadID == scope { return .change(change, number: number) }
                number += 1
            }
            return .upToDate(history.sequence)
        }
    }
}
