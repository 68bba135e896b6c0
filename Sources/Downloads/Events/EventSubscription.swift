internal import System

/// One reader's place in the order of events. `next` and `nextDue` are called by one thread at a time.
public final class EventSubscription: Sendable {
    /// What a reader is sent next.
    private enum Phase {
        /// What it has not been sent since this event; `nil`: it knows nothing.
        case opening(after: EventID?)
        /// The newest states, in the order of their stamps.
        case catchingUp(CatchUp)
        /// The changes after `publication`, and progress.
        case following
    }

    /// What a download's reader knows of its progress.
    private struct Progress: Equatable {
        var bytesReceived: Int64
        var stalled: Bool

        init(_ download: Download) {
            bytesReceived = download.bytesReceived
            stalled = download.stalled
        }
    }

    private struct State {
        var phase: Phase
        /// When the reader goes on without the event that it waits for.
        var deadline: ContinuousClock.Instant?
        /// The reader has been sent every change up to this publication, or something newer of the same download.
        var publication: UInt64 = 0
        /// Under which id progress is sent: everything before it has been sent.
        var id = EventID.none
        /// Downloads whose progress is due. What they are at is read when it is sent.
        var due: [DownloadID] = []
        /// When progress is looked at again.
        var nextTick: ContinuousClock.Instant?
        /// What was last sent of each download that transfers.
        var sent: [DownloadID: Progress] = [:]
    }

    private let hub: EventHub
    private let reader: UInt64
    private let scope: DownloadID?
    private let interval: Duration
    private let state: Locked<State>

    init(hub: EventHub, reader: UInt64, scope: DownloadID?, after: EventID?, interval: Duration) {
        self.hub = hub
        self.reader = reader
        self.scope = scope
        self.interval = interval
        state = Locked(State(phase: .opening(after: after)))
    }

    /// The next event, or `nil` if there is none yet. Transitions come before progress.
    /// - Parameter now: the present time.
    public func next(now: ContinuousClock.Instant) -> DownloadEvent? {
        state.withLock { state in
            while true {
                switch state.phase {
                case .opening(let event):
                    if isEarly(event, &state, now: now) { return nil }
                    if let opening = open(after: event, &state, now: now) { return opening }
                case .catchingUp(var catchUp):
                    let change = catchUp.next(hub.index)
                    state.phase = .catchingUp(catchUp)
                    guard let change else {
                        state.phase = .following
                        state.id = catchUp.end
                        continue
                    }
                    return send(change, under: min(catchUp.position, catchUp.end), &state)
                case .following:
                    switch hub.item(after: state.publication, scope: scope) {
                    case .item(let item, let publication):
                        state.publication = publication
                        return send(item.change, under: EventID(epoch: hub.epoch, sequence: item.sequence), &state)
                    case .nothing(let publication, let sequence):
                        state.publication = publication
                        state.id = EventID(epoch: hub.epoch, sequence: sequence)
                    case .gap: state.phase = .opening(after: state.id)
                    case .end: return nextProgress(&state, now: now)
                    }
                }
            }
        }
    }

    /// When progress may be due, or the wait for an event ends; `nil` if only a transition can bring something, which wakes the reader.
    /// - Parameter now: the present time.
    public func nextDue(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        state.withLock { state in
            if case .opening = state.phase, let deadline = state.deadline { return deadline }
            guard hub.index.isTransferring(scope: scope) else {
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
        hub.unsubscribe(reader, scope)
    }

    /// Whether the reader waits for an event that another replica has sent it.
    private func isEarly(_ event: EventID?, _ state: inout State, now: ContinuousClock.Instant) -> Bool {
        guard let event, case .later = hub.resumption(after: event) else { return false }
        let deadline = state.deadline ?? now + EventHub.patience
        state.deadline = deadline
        return now < deadline
    }

    /// Decides how the reader goes on, and returns the snapshot if that begins with one.
    private func open(after event: EventID?, _ state: inout State, now: ContinuousClock.Instant) -> DownloadEvent? {
        let resumption = event.map(hub.resumption) ?? .snapshot
        let view = hub.index.view()
        state.phase = .following
        state.publication = view.publications
        state.id = view.eventID
        if case .history(let publication) = resumption, let event {
            state.publication = publication
            state.id = event
            return nil
        }
        state.due = []
        // The snapshot says how far transfers are: progress is news only after an interval.
        state.nextTick = now + interval
        state.sent = [:]
        if let scope {
            // All that matters of it is how it stands.
            guard let download = hub.index.download(scope) else { return .removed(id: state.id, scope) }
            state.publication = max(state.publication, download.publication)
            return .snapshot(id: state.id, LiveDownloads(only: download))
        }
        switch (resumption, event) {
        case (.index, let event?):
            state.phase = .catchingUp(CatchUp(after: event, view, skipsLive: false))
            return nil
        case (.snapshotAndIndex, let event?):
            state.phase = .catchingUp(CatchUp(after: event, view, skipsLive: true))
            state.id = event
        default: break
        }
        return .snapshot(id: state.id, LiveDownloads(view))
    }

    private func send(_ change: EventHistory.Change, under id: EventID, _ state: inout State) -> DownloadEvent {
        state.id = id
        switch change {
        case .transition(let download):
            state.sent[download.id] = download.state == .downloading ? Progress(download) : nil
            return .download(id: id, download)
        case .removal(let download):
            state.sent[download] = nil
            return .removed(id: id, download)
        }
    }

    private func nextProgress(_ state: inout State, now: ContinuousClock.Instant) -> DownloadEvent? {
        if state.due.isEmpty {
            guard now >= state.nextTick ?? now else { return nil }
            state.nextTick = now + interval
            let sample = hub.progress.sample(now: now)
            let downloads = scope.map { scope in sample[scope].map { [$0] } ?? [] } ?? sample.downloads
            state.due = downloads.reversed().filter { state.sent[$0.id] != Progress($0) }.map(\.id)
        }
        while let id = state.due.popLast() {
            // What transfers no more, or has changed in a way that the reader has not been sent yet, is no progress.
            guard let download = hub.progress.sample(now: now)[id], download.publication <= state.publication,
                hub.index.entry(id)?.download.publication == download.publication, state.sent[id] != Progress(download)
            else { continue }
            state.sent[id] = Progress(download)
            return .download(id: state.id, download)
        }
        return nil
    }
}

/// Reads the newest state of all that has changed since an event, page by page.
struct CatchUp: Sendable {
    /// Changes that are read at once, and all that a slow reader costs.
    private static let pageSize = 64

    /// The stamp of the last change that was taken.
    private(set) var position: EventID
    /// Under what id the reader goes on afterwards.
    let end: EventID
    /// What was published later is sent later.
    private let publications: UInt64
    private let skipsLive: Bool
    /// Changes to be taken next, the last first.
    private var page: [(stamp: EventID, change: EventHistory.Change)] = []
    /// The stamp of the last change that was read.
    private var reached: EventID
    private var isRead = false

    /// - Parameters:
    ///   - event: what the reader has been sent.
    ///   - view: what it is to be sent.
    ///   - skipsLive: whether it has been sent all live downloads already.
    init(after event: EventID, _ view: IndexView, skipsLive: Bool) {
        position = event
        reached = event
        end = view.eventID
        publications = view.publications
        self.skipsLive = skipsLive
    }

    /// The next change; `nil` at the end.
    mutating func next(_ index: SnapshotIndex) -> EventHistory.Change? {
        while page.isEmpty, !isRead { readPage(index) }
        guard let (stamp, change) = page.popLast() else { return nil }
        position = stamp
        return change
    }

    private mutating func readPage(_ index: SnapshotIndex) {
        // The removals first: of one that comes in between, neither is read, and it is sent later.
        let removals = index.removals(after: reached, atMost: Self.pageSize)
        let view = index.view()
        var walk = view.byStamp.walk(after: reached.value, in: view.entries)
        var left = removals[...]
        while page.count < Self.pageSize {
            // There may be more of them before the next download.
            if left.isEmpty, removals.count == Self.pageSize { break }
            while let entry = walk.peek.flatMap({ view.entries[$0] }), !isWanted(entry.download) { _ = walk.next() }
            let entry = walk.peek.flatMap { view.entries[$0] }
            if let removal = left.first, entry.map({ removal.stamp < $0.download.stamp }) ?? true {
                left.removeFirst()
                reached = removal.stamp
                if removal.publication <= publications { page.append((removal.stamp, .removal(removal.id))) }
            } else if let entry {
                _ = walk.next()
                reached = entry.download.stamp
                page.append((entry.download.stamp, .transition(view.current(entry))))
            } else {
                isRead = true
                break
            }
        }
        page.reverse()
    }

    private func isWanted(_ download: Download) -> Bool {
        download.publication <= publications && !(skipsLive && download.state.isLive)
    }
}
