public import DownloadCore
internal import System

/// The durable states of all subscriptions, for lists and for any number of readers of changes.
///
/// A reader is a position in the order of changes, so a slow reader costs no memory.
public final class SubscriptionIndex: Sendable {
    /// A state of a subscription: an object, so that a copy costs one reference.
    public final class Version: Sendable {
        /// The number of the change that made it, from 1.
        public let number: UInt64
        /// The subscription.
        public let subscription: Subscription

        fileprivate init(_ number: UInt64, _ subscription: Subscription) {
            self.number = number
            self.subscription = subscription
        }
    }

    /// An event for a reader.
    public enum Event: Sendable {
        /// All subscriptions, which ``SubscriptionIndex/following(_:)`` returns one by one. Each reader begins with it, and
        /// gets it again if it was too slow.
        case snapshot
        /// A subscription is new, or has changed.
        case changed(Version)
        /// A subscription was removed.
        case removed(RecordID)
    }

    private enum Change {
        case changed(RecordID)
        case removed(RecordID)
    }

    private struct State {
        /// The number of changes.
        var count: UInt64 = 0
        /// All subscriptions, the oldest first.
        var versions: [Version] = []
        /// The latest changes, the oldest first.
        var changes: [Change] = []
        var readers: [UInt64: @Sendable () -> Void] = [:]
        var lastReader: UInt64 = 0

        /// Returns the place of a subscription, or that at which it would be.
        func place(of id: RecordID) -> Int {
            var (low, high) = (0, versions.count)
            while low < high {
                let middle = (low + high) / 2
                if versions[middle].subscription.id < id { low = middle + 1 } else { high = middle }
            }
            return low
        }

        func version(of id: RecordID) -> Version? {
            let place = place(of: id)
            return place < versions.count && versions[place].subscription.id == id ? versions[place] : nil
        }

        mutating func note(_ change: Change) {
            count += 1
            changes.append(change)
            if changes.count > 2 * max(SubscriptionIndex.leastChanges, versions.count) { changes.removeFirst(changes.count / 2) }
        }

        mutating func event(after position: inout UInt64?) -> Event? {
            guard var last = position, count - last <= changes.count else {
                position = count
                return .snapshot
            }
            defer { position = last }
            while last < count {
                let change = changes[changes.count - Int(count - last)]
                last += 1
                switch change {
                case .removed(let id): return .removed(id)
                case .changed(let id):
                    // Only the latest change of each subscription counts.
                    if let version = version(of: id), version.number == last { return .changed(version) }
                }
            }
            return nil
        }
    }

    /// The number of changes that readers can learn of one by one, at least.
    private static let leastChanges = 1_000

    private let state = Locked(State())

    /// Creates an empty index.
    public init() {}

    /// All subscriptions, the oldest first.
    public var all: [Version] { state.withLock { $0.versions } }

    /// Returns the subscription that follows another one in the order of ids; the first for `nil`.
    public func following(_ id: RecordID?) -> Version? {
        state.withLock { state in
            guard let id else { return state.versions.first }
            var place = state.place(of: id)
            if place < state.versions.count, state.versions[place].subscription.id == id { place += 1 }
            return place < state.versions.count ? state.versions[place] : nil
        }
    }

    /// Publishes a new or changed subscription. One that has not changed is not published again.
    public func publish(_ subscription: Subscription) {
        change { state in
            let place = state.place(of: subscription.id)
            let version = Version(state.count + 1, subscription)
            if place == state.versions.count || state.versions[place].subscription.id != subscription.id {
                state.versions.insert(version, at: place)
            } else if state.versions[place].subscription != subscription {
                state.versions[place] = version
            } else {
                return nil
            }
            return .changed(subscription.id)
        }
    }

    /// Publishes the removal of a subscription.
    public func publishRemoval(of id: RecordID) {
        change { state in
            guard state.version(of: id) != nil else { return nil }
            state.versions.remove(at: state.place(of: id))
            return .removed(id)
        }
    }

    private func change(_ body: (inout State) -> Change?) {
        let wakers = state.withLock { state in
            guard let change = body(&state) else { return [] as [@Sendable () -> Void] }
            state.note(change)
            return Array(state.readers.values)
        }
        for wake in wakers { wake() }
    }

    /// Creates a reader.
    /// - Parameter wake: Called on any thread when there may be an event. It must not block.
    public func makeReader(wake: @escaping @Sendable () -> Void) -> Reader {
        let number = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = wake
            return state.lastReader
        }
        return Reader(self, number)
    }

    /// A position in the changes.
    public final class Reader: Sendable {
        private let index: SubscriptionIndex
        private let number: UInt64
        /// The number of the last change that was read; `nil` before the first.
        private let position = Locked<UInt64?>(nil)

        fileprivate init(_ index: SubscriptionIndex, _ number: UInt64) {
            self.index = index
            self.number = number
        }

        /// Returns the next event; `nil` if there is none yet.
        public func next() -> Event? {
            position.withLock { position in index.state.withLock { $0.event(after: &position) } }
        }

        /// Ends the reader.
        public func cancel() {
            index.state.withLock { $0.readers[number] = nil }
        }
    }
}
