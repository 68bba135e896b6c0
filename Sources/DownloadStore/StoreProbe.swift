package import DownloadCore
internal import System

/// Determines the condition of the store by a small write, a read, and the free space. The write waits for the disk
/// like any other.
///
/// It writes and reads at most once per ``freshness``, however often it is called. No operation begins while an earlier
/// one of its kind is pending, so that a disk that hangs gathers no backlog.
package final class StoreProbe: Sendable {
    /// The time for which a result is valid.
    package static let freshness: Duration = .seconds(1)
    /// The time for which a fleet's database may be unreachable before records count as unreadable. Clients are served
    /// from memory.
    package static let patience: Duration = .seconds(10)

    private struct State {
        /// The write and the read that wait for the disk.
        var write: StoreCommit?
        var read: StoreCommit?
        /// The last result and its time.
        var known: (condition: StoreCondition, at: ContinuousClock.Instant)?
        /// The last condition that was reported.
        var reported = StoreCondition()
        /// The deliveries at the last read.
        var backlog: DeliveryBacklog?
    }

    /// The key path of the pending write or the pending read.
    private typealias Row = any WritableKeyPath<State, StoreCommit?> & Sendable

    private let store: any RecordStore
    private let limit: Duration
    private let obstacle: @Sendable () -> (StoreCondition.Degradation, reason: String)?
    private let changed: @Sendable (StoreCondition) -> Void
    private let state = Locked(State())

    /// Creates a probe.
    /// - Parameters:
    ///   - store: The store to test.
    ///   - limit: The maximum duration of a write or read; `nil` for the default. The default is shorter for a replica,
    ///     because load balancers soon time out.
    ///   - obstacle: Returns an impairment that no write shows, such as a lack of room for new files; `nil` if there is
    ///     none. Must not block.
    ///   - changed: Called with the condition when an impairment begins or ends, or when records become readable or
    ///     unreadable.
    package init(
        _ store: any RecordStore, limit: Duration? = nil,
        obstacle: @escaping @Sendable () -> (StoreCondition.Degradation, reason: String)? = { nil },
        changed: @escaping @Sendable (StoreCondition) -> Void = { _ in }
    ) {
        self.store = store
        self.limit = limit ?? (store.silence == nil ? .seconds(2) : .milliseconds(750))
        self.obstacle = obstacle
        self.changed = changed
    }

    /// Tests the store and returns its condition.
    package func condition() async -> StoreCondition {
        let now = ContinuousClock.now
        let known = state.withLock { state in
            state.known.flatMap { now - $0.at < Self.freshness ? $0 : nil }
        }
        if let known { return known.condition }
        let (write, read) = (begin(\.write) { $0.submit([.probe]) }, begin(\.read, read))
        async let writeFailure = failure(of: write, \.write)
        let readFailure = await failure(of: read, \.read)
        var condition = StoreCondition()
        if store.silence.map({ $0 >= Self.patience }) ?? true { condition.unreadable = readFailure?.description }
        switch await writeFailure {
        case nil:
            guard let (degradation, reason) = obstacle() else { break }
            condition.degraded = [degradation]
            condition.reason = reason
        case let failure?:
            condition.degraded = [failure == .full ? .diskFull : .notWritable]
            condition.reason = failure.description
        }
        // The loss of the lease is reported elsewhere. The replica then begins a new instance.
        if await writeFailure != .fenced { note(condition) }
        return condition
    }

    /// Tests the store again if its condition may have changed, so that the change is reported without a request. It
    /// does not write while all is well, because a disk may sleep then.
    package func watch() async {
        if obstacle() != nil || isImpaired { _ = await condition() }
    }

    /// The webhook deliveries at the last test; `nil` before it.
    package var backlog: DeliveryBacklog? { state.withLock { $0.backlog } }

    /// Whether the last condition that was reported has an impairment.
    package var isImpaired: Bool { state.withLock { $0.reported != StoreCondition() } }

    /// Reads a record that does not exist, and the figures of deliveries.
    private func read(_ store: any RecordStore) -> StoreCommit {
        let commit = StoreCommit()
        Task {
            do throws(StoreError) {
                let backlog = try await store.read { reader in
                    _ = try reader.records([RecordID(value: 0)])
                    return try reader.backlog()
                }
                state.withLock { $0.backlog = backlog }
                commit.set(nil)
            } catch {
                commit.set(error)
            }
        }
        return commit
    }

    /// Returns the pending operation, or begins a new one.
    private func begin(_ place: Row, _ make: (any RecordStore) -> StoreCommit) -> StoreCommit {
        state.withLock { state in
            if let commit = state[keyPath: place] { return commit }
            let commit = make(store)
            state[keyPath: place] = commit
            return commit
        }
    }

    /// Returns the reason that a write or read failed, or that it takes too long; `nil` if it succeeded.
    private func failure(of commit: StoreCommit, _ place: Row) async -> StoreError? {
        commit.whenDone { [self] _ in
            state.withLock { if $0[keyPath: place] === commit { $0[keyPath: place] = nil } }
        }
        return await commit.value(
            within: limit,
            or: store.silence == nil
                ? .inputOutput("no answer from the disk within \(limit)") : .interrupted("no answer within \(limit)"))
    }

    private func note(_ condition: StoreCondition) {
        let isNews = state.withLock { state in
            state.known = (condition, .now)
            // A different reason for the same condition is not reported.
            let isNews =
                state.reported.degraded != condition.degraded
                || (state.reported.unreadable == nil) != (condition.unreadable == nil)
            if isNews { state.reported = condition }
            return isNews
        }
        if isNews { changed(condition) }
    }
}
