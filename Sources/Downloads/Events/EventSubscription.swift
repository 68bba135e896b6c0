internal import System

/// One reader's place in the order of events. `next` and `nextDue` are called by one thread at a time.
public final class EventSubscription: Sendable {
    /// How a reader begins.
    enum Opening {
        /// After this change.
        case resuming(at: UInt64)
        /// With a snapshot, as of this change; and with what has ended since the run in which `since` was told began.
        case snapshot(at: UInt64, since: EventID?)
    }

    private struct State {
        var position: UInt64
        /// A snapshot is to be told next; and what has ended since this event of an earlier run.
        var wantsSnapshot = false
        var earlier: EventID?
        /// Progress that is due and not yet read; at most one entry for each transferring download.
        var progress: [Download] = []
        /// Downloads that ended while the reader was behind the history, or away; told once, newest state only.
        var missed: [DownloadID] = []
        /// The last event that the reader is known to have had when they were found missing. They are told under its id, all but
        /// the last: a reader that leaves in between is told of them again.
        var missedSince: EventID?
        /// When progress is looked at again.
        var nextTick: ContinuousClock.Instant?
        /// Bytes last told, by download.
        var told: [DownloadID: Int64] = [:]
    }

    private let hub: EventHub
    private let reader: UInt64
    private let scope: DownloadID?
    private let interval: Duration
    private let state: Locked<State>

    init(hub: EventHub, reader: UInt64, scope: DownloadID?, interval: Duration, opening: Opening) {
        self.hub = hub
        self.reader = reader
        self.scope = scope
        self.interval = interval
        switch opening {
        case .resuming(let position): state = Locked(State(position: position))
        case .snapshot(let position, let earlier):
            state = Locked(State(position: position, wantsSnapshot: true, earlier: earlier))
        }
    }

    /// The next event, or `nil` if there is none yet. Transitions come before progress.
    /// - Parameter now: the present time.
    public func next(now: ContinuousClock.Instant) -> DownloadEvent? {
        state.withLock { state in
            if state.wantsSnapshot {
                state.wantsSnapshot = false
                // The snapshot tells how far transfers are: progress is news only after an interval.
                state.nextTick = now + interval
                if let earlier = state.earlier {
                    state.earlier = nil
                    miss(
                        hub.board.ended(inRunsFrom: earlier.epoch, atMost: EventHistory.defaultCapacity, scope: scope), earlier,
                        &state)
                }
                return .snapshot(id: state.missedSince ?? eventID(state.position), snapshot())
            }
            if let missed = nextMissed(&state) { return missed }
            switch hub.change(after: state.position, scope: scope) {
            case .change(.transition(let download), let number):
                state.position = number
                state.told[download.id] = download.bytesReceived
                if !download.state.isLive { state.told[download.id] = nil }
                return .download(id: eventID(number), download)
            case .change(.removal(let id), let number):
                state.position = number
                return .removed(id: eventID(number), id)
            case .gap(let current):
                let since = state.position
                state.position = current
                state.progress = []
                miss(hub.board.ended(sinceSequence: since, scope: scope), eventID(since), &state)
                return .snapshot(id: state.missedSince ?? eventID(current), snapshot())
            case .upToDate(let current):
                state.position = current
            }
            return nextProgress(&state, now: now)
        }
    }

    /// When progress may be due; `nil` if only a transition can bring something, which wakes the reader.
    /// - Parameter now: the present time.
    public func nextDue(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        state.withLock { state in
            guard hub.board.isTransferring(scope: scope) else {
                state.nextTick = nil
                return nil
            }
            let due = state.nextTick ?? now + interval
            state.nextTick = due
            return due
        }
    }

    /// Ends the subscription; `wake` is not called again once this returns, but for calls already under way.
    public func cancel() {
        hub.unsubscribe(reader)
    }

    private func eventID(_ sequence: UInt64) -> EventID { EventID(epoch: hub.epoch, sequence: sequence) }

    private func snapshot() -> [Download] {
        guard let scope else { return hub.board.live() }
        return hub.board.download(scope).map { [$0] } ?? []
    }

    private func miss(_ downloads: [DownloadID], _ since: EventID, _ state: inout State) {
        state.missed = downloads
        state.missedSince = downloads.isEmpty ? nil : since
    }

    private func nextMissed(_ state: inout State) -> DownloadEvent? {
        while let id = state.missed.popLast() {
            if state.missed.isEmpty { state.missedSince = nil }
            if let download = hub.board.download(id) {
                return .download(id: state.missedSince ?? eventID(state.position), download)
            }
        }
        return nil
    }

    private func nextProgress(_ state: inout State, now: ContinuousClock.Instant) -> DownloadEvent? {
        if state.progress.isEmpty, now >= state.nextTick ?? now {
            state.nextTick = now + interval
            let transferring = hub.board.transferring(scope: scope)
            state.progress = transferring.filter { state.told[$0.id] != $0.bytesReceived }.reversed()
            state.told = Dictionary(transferring.map { ($0.id, $0.bytesReceived) }, uniquingKeysWith: { first, _ in first })
        }
        return state.progress.popLast().map { .download(id: eventID(state.position), $0) }
    }
}
