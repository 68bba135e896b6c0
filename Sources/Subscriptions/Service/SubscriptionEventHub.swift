public import DownloadCore
internal import System

/// The changes of subscriptions, for any number of readers.
///
/// A reader is a position. It gets the latest state of each subscription that has changed after it, so a slow reader
/// costs no memory.
public final class SubscriptionEventHub: Sendable {
    /// An event for a reader.
    public enum Event: Sendable, Equatable {
        /// All subscriptions, the oldest first. Each reader begins with it, and gets it again if it was too slow.
        case snapshot([Subscription])
        /// A subscription is new, or has changed.
        case changed(Subscription)
        /// A subscription was removed.
        case removed(DownloadID)
    }

    fileprivate struct State {
        /// The number of changes.
        var count: UInt64 = 0
        var present: [DownloadID: (number: UInt64, subscription: Subscription)] = [:]
        /// The latest removals, the oldest first.
        var removed: [(number: UInt64, id: DownloadID)] = []
        /// The number of the latest removal that is not in `removed` any more.
        var forgotten: UInt64 = 0
        var readers: [UInt64: @Sendable () -> Void] = [:]
        var lastReader: UInt64 = 0
    }

    /// The maximum number of removals that readers can learn of one by one.
    private static let removals = 1_000

    fileprivate let state = Locked(State())

    /// Creates a hub without subscriptions.
    public init() {}

    /// Publishes a new or changed subscription. One that has not changed is not published again.
    public func publish(_ subscription: Subscription) {
        change { state in
            if state.present[subscription.id]?.subscription == subscription { return false }
            state.present[subscription.id] = (state.count + 1, subscription)
            return true
        }
    }

    /// Publishes the removal of a subscription.
    public func publishRemoval(of id: DownloadID) {
        change { state in
            guard state.present.removeValue(forKey: id) != nil else { return false }
            state.removed.append((state.count + 1, id))
            if state.removed.count > Self.removals { state.forgotten = state.removed.removeFirst().number }
            return true
        }
    }

    private func change(_ body: (inout State) -> Bool) {
        let wakers = state.withLock { state in
            guard body(&state) else { return [] as [@Sendable () -> Void] }
            state.count += 1
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
        private let hub: SubscriptionEventHub
        private let number: UInt64
        /// The number of the last change that was read; `nil` before the first.
        private let position = Locked<UInt64?>(nil)

        fileprivate init(_ hub: SubscriptionEventHub, _ number: UInt64) {
            self.hub = hub
            self.number = number
        }

        /// Returns the next event; `nil` if there is none yet.
        public func next() -> Event? {
            position.withLock { position in hub.state.withLock { $0.event(after: &position) } }
        }

        /// Ends the reader.
        public func cancel() {
            hub.state.withLock { $0.readers[number] = nil }
        }
    }
}

extension SubscriptionEventHub.State {
    fileprivate func event(after position: inout UInt64?) -> SubscriptionEventHub.Event? {
        guard let last = position, last >= forgotten else {
            position = count
            return .snapshot(present.values.map(\.subscription).sorted { $0.id < $1.id })
        }
        if last == count { return nil }
        let changed = present.values.lazy.filter { $0.number > last }.min { $0.number < $1.number }
        let removed = removed.first { $0.number > last }
        if let removed, removed.number < changed?.number ?? .max {
            position = removed.number
            return .removed(removed.id)
        }
        position = changed?.number ?? count
        return changed.map { .changed($0.subscription) }
    }
}
