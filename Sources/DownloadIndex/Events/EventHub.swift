public import DownloadCore
internal import System

/// The hub where readers of events subscribe. It can be used on any thread.
///
/// The hub keeps a bounded history that all readers share. A reader keeps only its own position in it, so that a slow
/// reader costs nothing more however far it falls behind. Older changes, and earlier instances' changes, are read from
/// the index by their event ids.
public final class EventHub: Sendable {
    /// The epoch of the event ids.
    public let epoch: UInt64

    typealias Wake = @Sendable () -> Void

    private struct Readers {
        private var next: UInt64 = 0
        private var ofAll: [UInt64: Wake] = [:]
        private var ofOne: [RecordID: [UInt64: Wake]] = [:]
        /// The callbacks of all readers without a scope, in an array that is made once for many changes.
        private var gathered: [Wake]?
        /// Readers whose last event came from another replica, and has not arrived here yet.
        private var ahead: [UInt64: (sequence: UInt64, wake: Wake)] = [:]
        package private(set) var count = 0

        package mutating func insert(_ scope: RecordID?, _ wake: @escaping Wake) -> UInt64 {
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

        /// Removes the readers whose event has arrived.
        /// - Returns: Their callbacks.
        mutating func release(upTo sequence: UInt64) -> [Wake] {
            if ahead.isEmpty { return [] }
            let arrived = ahead.filter { $0.value.sequence <= sequence }
            for reader in arrived.keys { ahead[reader] = nil }
            return arrived.values.map(\.wake)
        }

        mutating func remove(_ reader: UInt64, _ scope: RecordID?) {
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

        /// Returns the callbacks of the readers that a change of a download concerns.
        mutating func wakes(for id: RecordID) -> (ofAll: [Wake], ofOne: [UInt64: Wake]) {
            let all = gathered ?? Array(ofAll.values)
            gathered = all
            return (all, ofOne[id] ?? [:])
        }
    }

    private struct State {
        var history: EventHistory
        var readers = Readers()
        /// The count of the last event id.
        var sequence: UInt64 = 0
        /// The counts that are reserved and neither used nor abandoned, in ascending order. Nearly always, the first one is used
        /// next, and a slice removes that without a move of the others.
        var reserved: ArraySlice<UInt64> = []

        /// The count up to which every change has been published.
        var published: UInt64 { reserved.first.map { $0 - 1 } ?? sequence }

        mutating func reserve() -> UInt64 {
            sequence += 1
            reserved.append(sequence)
            return sequence
        }

        mutating func release(_ changeID: UInt64) -> Bool {
            if reserved.first == changeID {
                reserved.removeFirst()
                return true
            }
            var (low, high) = (reserved.startIndex, reserved.endIndex)
            while low < high {
                let middle = (low + high) / 2
                if reserved[middle] < changeID { low = middle + 1 } else { high = middle }
            }
            guard low < reserved.endIndex, reserved[low] == changeID else { return false }
            reserved.remove(at: low)
            return true
        }
    }

    private let state: Locked<State>
    /// The newest event id that was saved before this instance. Events that readers received after
    /// it were lost in a crash.
    private let saved: EventID
    package let index: SnapshotIndex
    package let progress: ProgressSampler
    /// Asks the fleet's change log for its newest changes; `nil` outside of a fleet.
    private let pull: (@Sendable () -> Void)?

    /// The maximum wait of a reader for an event that another replica has sent it.
    package static let patience: Duration = .seconds(1)

    package init(
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

    /// The number of subscribed readers.
    public var readerCount: Int { state.withLock { $0.readers.count } }

    /// Subscribes a reader.
    /// - Parameters:
    ///   - scope: The download whose events are sent; `nil` for all downloads.
    ///   - after: The last event that the reader has received (`Last-Event-ID`); `nil` for none. The changes after it
    ///     are sent. Recent changes are sent one by one. Of older ones, the newest state of each download and the
    ///     removals are sent. If older removals are not known, a snapshot comes first. In a fleet, the reader waits for
    ///     an event that has not arrived here yet.
    ///   - interval: The minimum time between two progress events of one download.
    ///   - wake: Called on any thread when a change in scope can be read; must not block.
    /// - Returns: The reader's subscription, which must be cancelled when the reader leaves.
    public func subscribe(
        scope: RecordID?, after: EventID?, interval: Duration, wake: @escaping @Sendable () -> Void
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

    func unsubscribe(_ reader: UInt64, _ scope: RecordID?) {
        state.withLock { $0.readers.remove(reader, scope) }
    }

    // MARK: - For subscriptions

    /// The way in which a reader continues after the last event that it has received.
    enum Resumption {
        /// After a wait. Another replica has sent the event, which arrives here soon.
        case later
        /// With the changes after this publication.
        case history(after: UInt64)
        /// With the newest states, by their event ids.
        case index
        /// With a snapshot, then the newest states by their event ids. Either older removals are not known, or events
        /// that were sent have not been saved.
        case snapshotAndIndex
        /// With a snapshot alone, because there was no such event.
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

    /// Whether an event is one of the fleet's that has not arrived here yet. A single service has lost such an event.
    private func mayArrive(_ event: EventID, _ state: State) -> Bool {
        pull != nil && event.epoch == epoch && event.sequence > state.sequence
    }

    package enum Lookup {
        case item(EventHistory.Item, publication: UInt64)
        /// There are no more changes.
        case end
        /// No change up to this publication is in scope, but later ones may be.
        case nothing(upTo: UInt64, sequence: UInt64)
        /// Changes after the position are no longer held.
        case gap
    }

    /// The maximum number of changes that are examined before the lock is released.
    private static let stride: UInt64 = 256

    /// Returns the first change after a publication that is in `scope`.
    package func item(after publication: UInt64, scope: RecordID?) -> Lookup {
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

    /// Reserves the next event id.
    package func reserve() -> EventID {
        EventID(epoch: epoch, sequence: state.withLock { $0.reserve() })
    }

    /// Abandons a reserved event id.
    package func abandon(_ changeID: EventID) {
        guard changeID.epoch == epoch else { return }
        _ = state.withLock { $0.release(changeID.sequence) }
    }

    /// The event id up to which every change has been published.
    package var published: EventID { EventID(epoch: epoch, sequence: state.withLock { $0.published }) }

    /// Starts the history after changes that were published before there were readers.
    package func begin(after publication: UInt64) {
        state.withLock { $0.history.begin(after: publication, base: $0.published) }
    }

    /// Assigns the event id of a change that is published now.
    /// - Parameter reserved: The event id that was reserved for the change. If it is not reserved, the change gets
    ///   another one.
    /// - Returns: The change's event id, and the id that its event is sent with.
    package func use(_ reserved: EventID) -> (changeID: EventID, id: EventID) {
        let (changeID, published) = state.withLock { state in
            var changeID = reserved.sequence
            if reserved.epoch != epoch || !state.release(changeID) {
                changeID = state.reserve()
                _ = state.release(changeID)
            }
            return (changeID, state.published)
        }
        return (EventID(epoch: epoch, sequence: changeID), EventID(epoch: epoch, sequence: published))
    }

    /// Starts the history of a fleet after changes that were published before there were readers. The most recent of
    /// them can be read one by one.
    /// - Parameter publication: The publication of the newest change.
    package func begin(after publication: UInt64, _ recent: [EventHistory.Change], base: UInt64) {
        state.withLock { state in
            state.sequence = base
            state.history.begin(after: publication - UInt64(recent.count), base: base)
            for change in recent {
                state.sequence += 1
                state.history.append(EventHistory.Item(change: change, changeID: state.sequence, sequence: state.sequence))
            }
        }
    }

    /// Skips the event id of a fleet's change that changes nothing here.
    package func pass(_ changeID: EventID) {
        let wakes = state.withLock { state in
            state.sequence = changeID.sequence
            return state.readers.release(upTo: changeID.sequence)
        }
        for wake in wakes { wake() }
    }

    /// Adds a change that is in the index, and wakes the readers that it concerns.
    package func append(_ change: EventHistory.Change, changeID: EventID, id: EventID) {
        let item = EventHistory.Item(change: change, changeID: changeID.sequence, sequence: id.sequence)
        let (wakes, arrived) = state.withLock { state in
            // A fleet's event ids are not reserved.
            state.sequence = max(state.sequence, changeID.sequence)
            state.history.append(item)
            return (state.readers.wakes(for: change.downloadID), state.readers.release(upTo: state.sequence))
        }
        for wake in wakes.ofAll { wake() }
        for wake in wakes.ofOne.values { wake() }
        for wake in arrived { wake() }
    }
}
