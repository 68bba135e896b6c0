package import DownloadCore
internal import System

/// One reader's position in the order of events. Only one thread at a time may call `next` and `nextDue`.
public final class EventSubscription: Sendable {
    /// The phase of the subscription.
    private enum Phase {
        /// Nothing after this event has been sent; `nil` if the reader has received no event.
        case opening(after: EventID?)
        /// The newest states are sent, in the order of their event ids.
        case catchingUp(CatchUp)
        /// The changes after `publication` and progress are sent.
        case following
    }

    /// The progress of a download that the reader has received.
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
        /// The time at which the reader continues without the event that it waits for.
        var deadline: ContinuousClock.Instant?
        /// The reader has received every change up to this publication, or a later one of the same download.
        var publication: UInt64 = 0
        /// The event id that progress is sent with. Every change up to it has been sent.
        var id = EventID.none
        /// The downloads whose progress is due. It is read when it is sent.
        var due: [RecordID] = []
        /// The time of the next search for progress.
        var nextTick: ContinuousClock.Instant?
        /// The last progress that was sent of each download that transfers.
        var sent: [RecordID: Progress] = [:]
    }

    private let hub: EventHub
    private let reader: UInt64
    private let scope: RecordID?
    private let interval: Duration
    private let state: Locked<State>

    package init(hub: EventHub, reader: UInt64, scope: RecordID?, after: EventID?, interval: Duration) {
        self.hub = hub
        self.reader = reader
        self.scope = scope
        self.interval = interval
        state = Locked(State(phase: .opening(after: after)))
    }

    /// Returns the next event; `nil` if there is none yet. Transitions come before progress.
    /// - Parameter now: The present time.
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

    /// Returns the time at which progress may be due, or at which the wait for an event ends.
    ///
    /// `nil` if only a transition can bring an event. A transition wakes the reader.
    /// - Parameter now: The present time.
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

    /// Ends the subscription. After it returns, `wake` is not called again, except by calls already under way.
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

    /// Decides how the reader continues.
    /// - Returns: The snapshot, if the reader continues with one; otherwise `nil`.
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
        // The snapshot has the progress of all transfers, so progress is due after an interval.
        state.nextTick = now + interval
        state.sent = [:]
        if let scope {
            // The present state of the only download in scope is enough.
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
            // A download that has stopped, or whose latest change has not been sent yet, has no progress to send.
            guard let download = hub.progress.sample(now: now)[id], download.publication <= state.publication,
                hub.index.entry(id)?.download.publication == download.publication, state.sent[id] != Progress(download)
            else { continue }
            state.sent[id] = Progress(download)
            return .download(id: state.id, download)
        }
        return nil
    }
}

/// Reads the newest states of all downloads that have changed since an event, page by page.
struct CatchUp: Sendable {
    /// The number of changes that are read at once. It bounds the cost of a slow reader.
    private static let pageSize = 64

    /// The event id of the last change that was returned.
    package private(set) var position: EventID
    /// The event id after which the reader continues when everything has been returned.
    package let end: EventID
    /// The number of publications to read. Later ones are sent later.
    private let publications: UInt64
    private let skipsLive: Bool
    /// The changes to return next, in reverse order.
    private var page: [(changeID: EventID, change: EventHistory.Change)] = []
    /// The event id of the last change that was read.
    private var reached: EventID
    private var isRead = false

    /// Creates a reader of changes.
    /// - Parameters:
    ///   - event: The last event that the reader has received.
    ///   - view: The state that the reader is to receive.
    ///   - skipsLive: Whether the reader has received all live downloads already.
    init(after event: EventID, _ view: IndexView, skipsLive: Bool) {
        position = event
        reached = event
        end = view.eventID
        publications = view.publications
        self.skipsLive = skipsLive
    }

    /// Returns the next change; `nil` at the end.
    mutating func next(_ index: SnapshotIndex) -> EventHistory.Change? {
        while page.isEmpty, !isRead { readPage(index) }
        guard let (changeID, change) = page.popLast() else { return nil }
        position = changeID
        return change
    }

    private mutating func readPage(_ index: SnapshotIndex) {
        // Removals are read first. A download that is removed between the two reads is in neither;
        // its removal is sent later.
        let removals = index.removals(after: reached, atMost: Self.pageSize)
        let view = index.view()
        var walk = view.byChangeID.walk(after: reached.value, in: view.entries)
        var left = removals[...]
        while page.count < Self.pageSize {
            // More removals may precede the next download.
            if left.isEmpty, removals.count == Self.pageSize { break }
            while let entry = walk.peek.flatMap({ view.entries[$0] }), !isWanted(entry.download) { _ = walk.next() }
            let entry = walk.peek.flatMap { view.entries[$0] }
            if let removal = left.first, entry.map({ removal.changeID < $0.download.changeID }) ?? true {
                left.removeFirst()
                reached = removal.changeID
                if removal.publication <= publications { page.append((removal.changeID, .removal(removal.id))) }
            } else if let entry {
                _ = walk.next()
                reached = entry.download.changeID
                page.append((entry.download.changeID, .transition(view.current(entry))))
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
