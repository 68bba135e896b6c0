internal import System

/// Where readers of events subscribe. Any thread may.
///
/// The hub keeps a bounded history that all readers share; a reader keeps only its own position in it, so a slow one costs nothing more
/// however far it falls behind. What lies further back, or in an earlier run, it reads from the index, by stamps.
public final class EventHub: Sendable {
    /// Names this run of the service in event ids.
    public let epoch: UInt64

    typealias Wake = @Sendable () -> Void

    private struct Readers {
        private var next: UInt64 = 0
        private var ofAll: [UInt64: Wake] = [:]
        private var ofOne: [DownloadID: [UInt64: Wake]] = [:]
        /// Those of all, in an array that is made once for many changes.
        private var gathered: [Wake]?
        /// Readers that were sent an event by another replica which has not arrived here yet.
        private var ahead: [UInt64: (sequence: UInt64, wake: Wake)] = [:]
        private(set) var count = 0

        mutating func insert(_ scope: DownloadID?, _ wake: @escaping Wake) -> UInt64 {
            next += 1
            count += 1
            if let scope {
                ofOne[scope, default: [:]][next] = wake
            } else {
                ofAll[next] = wake
                gathered = nil
            }
            return next
        }

        mutating func hold(_ reader: UInt64, until sequence: UInt64, _ wake: @escaping Wake) {
            ahead[reader] = (sequence, wake)
        }

        /// Takes the readers whose event has arrived.
        mutating func release(upTo sequence: UInt64) -> [Wake] {
            if ahead.isEmpty { return [] }
            let arrived = ahead.filter { $0.value.sequence <= sequence }
            for reader in arrived.keys { ahead[reader] = nil }
            return arrived.values.map(\.wake)
        }

        mutating func remove(_ reader: UInt64, _ scope: DownloadID?) {
            ahead[reader] = nil
            let wake: Wake?
            if let scope {
                wake = ofOne[scope]?.removeValue(forKey: reader)
                if ofOne[scope]?.isEmpty == true { ofOne[scope] = nil }
            } else {
                wake = ofAll.removeValue(forKey: reader)
                gathered = nil
            }
            if wake != nil { count -= 1 }
        }

        /// Those that a change of a download concerns.
        mutating func wakes(for id: DownloadID) -> (ofAll: [Wake], ofOne: [UInt64: Wake]) {
            let all = gathered ?? Array(ofAll.values)
            gathered = all
            return (all, ofOne[id] ?? [:])
        }
    }

    private struct State {
        var history: EventHistory
        var readers = Readers()
        /// The last stamp that was given.
        var sequence: UInt64 = 0
        /// Those that were reserved and neither used nor given up, ascending.
        var reserved: [UInt64] = []

        /// Every change with a stamp up to this one is published.
        var published: UInt64 { reserved.first.map { $0 - 1 } ?? sequence }

        mutating func reserve() -> UInt64 {
            sequence += 1
            reserved.append(sequence)
            return sequence
        }

        mutating func release(_ stamp: UInt64) -> Bool {
            var low = 0
            var high = reserved.count
            while low < high {
                let middle = (low + high) / 2
                if reserved[middle] < stamp { low = middle + 1 } else { high = middle }
            }
            guard low < reserved.count, reserved[low] == stamp else { return false }
            reserved.remove(at: low)
            return true
        }
    }

    private let state: Locked<State>
    /// The newest stamp that was saved before this run: what readers were sent after it was lost in a crash.
    private let saved: EventID
    let index: SnapshotIndex
    let progress: ProgressSampler
    /// Asks the feed of a fleet for its newest changes; `nil` outside of a fleet.
    private let pull: (@Sendable () -> Void)?

    /// The longest that a reader waits for an event that it has been sent by another replica.
    static let patience: Duration = .seconds(1)

    init(
        epoch: UInt64, saved: EventID = .none, index: SnapshotIndex, capacity: Int = EventHistory.defaultCapacity,
        pull: (@Sendable () -> Void)? = nil
    ) {
        self.epoch = epoch
        self.saved = saved
        self.pull = pull
        self.index = index
        progress = ProgressSampler(index)
        state = Locked(State(history: EventHistory(capacity: capacity)))
    }

    /// How many readers are subscribed.
    public var readerCount: Int { state.withLock { $0.readers.count } }

    /// Starts reading.
    /// - Parameters:
    ///   - scope: only events of this download; `nil` for all.
    ///   - after: the last event the reader has seen, if it has seen any (`Last-Event-ID`). What came after it is sent: each transition
    ///     if it is recent, and otherwise the newest state of each download that has changed, and what was removed. Where removals are
    ///     not known that far back, a snapshot comes first. In a fleet, an event that has not arrived here yet is waited for.
    ///   - interval: the least time between two progress events of one download.
    ///   - wake: called, on any thread, when a change that is in scope is there to be read; must not block.
    /// - Returns: the reader's cursor; cancel it when the reader leaves.
    public func subscribe(
        scope: DownloadID?, after: EventID?, interval: Duration, wake: @escaping @Sendable () -> Void
    ) -> EventSubscription {
        let (reader, isAhead) = state.withLock { state in
            let reader = state.readers.insert(scope, wake)
            guard let after, mayArrive(after, state) else { return (reader, false) }
            state.readers.hold(reader, until: after.sequence, wake)
            return (reader, true)
        }
        if isAhead { pull?() }
        return EventSubscription(hub: self, reader: reader, scope: scope, after: after, interval: interval)
    }

    func unsubscribe(_ reader: UInt64, _ scope: DownloadID?) {
        state.withLock { $0.readers.remove(reader, scope) }
    }

    // MARK: - For subscriptions

    /// How a reader goes on that has been sent everything up to an event.
    enum Resumption {
        /// After a wait: another replica has sent it the event, which arrives here soon.
        case later
        /// With the changes after this publication.
        case history(after: UInt64)
        /// With the newest states, by stamps.
        case index
        /// The same, after a snapshot: what was removed since is not known, or what was sent is not what was saved.
        case snapshotAndIndex
        /// With a snapshot alone: there was no such event.
        case snapshot
    }

    func resumption(after event: EventID) -> Resumption {
        let (sequence, publication, isEarly) = state.withLock { state in
            let publication = event.epoch == epoch ? state.history.publication(after: event.sequence) : nil
            return (state.sequence, publication, mayArrive(event, state))
        }
        if isEarly { return .later }
        guard event <= EventID(epoch: epoch, sequence: sequence) else { return .snapshot }
        if let publication { return .history(after: publication) }
        let isSaved = event.epoch == epoch || event <= saved
        return isSaved && event >= index.knownSince ? .index : .snapshotAndIndex
    }

    /// Whether an event is one of the fleet's that has not arrived here yet. A single machine has lost it.
    private func mayArrive(_ event: EventID, _ state: State) -> Bool {
        pull != nil && event.epoch == epoch && event.sequence > state.sequence
    }

    enum Lookup {
        case item(EventHistory.Item, publication: UInt64)
        /// There is nothing more.
        case end
        /// There is nothing up to this publication, but there may be after it.
        case nothing(upTo: UInt64, sequence: UInt64)
        /// Changes after the position are no longer held.
        case gap
    }

    /// How many changes are looked at before the lock is given back.
    private static let stride: UInt64 = 256

    /// The first change after a publication that is in `scope`.
    func item(after publication: UInt64, scope: DownloadID?) -> Lookup {
        state.withLock { state in
            guard state.history.holdsEverything(after: publication) else { return .gap }
            var passed: (UInt64, sequence: UInt64)?
            for number in publication + 1..<publication + 1 + Self.stride {
                guard let item = state.history[number] else { break }
                if scope == nil || item.change.downloadID == scope { return .item(item, publication: number) }
                passed = (number, item.sequence)
            }
            return passed.map { .nothing(upTo: $0.0, sequence: $0.sequence) } ?? .end
        }
    }

    // MARK: - For the publisher

    /// Reserves the next stamp.
    func reserve() -> EventID {
        EventID(epoch: epoch, sequence: state.withLock { $0.reserve() })
    }

    /// Gives up a reserved stamp.
    func abandon(_ stamp: EventID) {
        guard stamp.epoch == epoch else { return }
        _ = state.withLock { $0.release(stamp.sequence) }
    }

    /// Every change with a stamp up to this one has been published.
    var published: EventID { EventID(epoch: epoch, sequence: state.withLock { $0.published }) }

    /// Takes it that everything up to a publication was there before anybody could read.
    func begin(after publication: UInt64) {
        state.withLock { $0.history.begin(after: publication, base: $0.published) }
    }

    /// The stamp of a change that is published now, and the id of its event.
    /// - Parameter reserved: its stamp, if it was reserved and not used yet; otherwise it gets another.
    func use(_ reserved: EventID) -> (stamp: EventID, id: EventID) {
        let (stamp, published) = state.withLock { state in
            var stamp = reserved.sequence
            if reserved.epoch != epoch || !state.release(stamp) {
                stamp = state.reserve()
                _ = state.release(stamp)
            }
            return (stamp, state.published)
        }
        return (EventID(epoch: epoch, sequence: stamp), EventID(epoch: epoch, sequence: published))
    }

    /// Takes it that everything up to a change of a fleet's was there before anybody could read, the last ones of them one by one.
    /// - Parameter publication: that of the newest of them.
    func begin(after publication: UInt64, _ recent: [EventHistory.Change], base: UInt64) {
        state.withLock { state in
            state.sequence = base
            state.history.begin(after: publication - UInt64(recent.count), base: base)
            for change in recent {
                state.sequence += 1
                state.history.append(EventHistory.Item(change: change, stamp: state.sequence, sequence: state.sequence))
            }
        }
    }

    /// Passes a change of a fleet's of which there is nothing to tell.
    func pass(_ stamp: EventID) {
        let wakes = state.withLock { state in
            state.sequence = stamp.sequence
            return state.readers.release(upTo: stamp.sequence)
        }
        for wake in wakes { wake() }
    }

    /// Adds a change that is in the index, and wakes those whom it concerns.
    func append(_ change: EventHistory.Change, stamp: EventID, id: EventID) {
        let item = EventHistory.Item(change: change, stamp: stamp.sequence, sequence: id.sequence)
        let (wakes, arrived) = state.withLock { state in
            // A fleet's stamps are not reserved.
            state.sequence = max(state.sequence, stamp.sequence)
            state.history.append(item)
            return (state.readers.wakes(for: change.downloadID), state.readers.release(upTo: state.sequence))
        }
        for wake in wakes.ofAll { wake() }
        for wake in wakes.ofOne.values { wake() }
        for wake in arrived { wake() }
    }
}
