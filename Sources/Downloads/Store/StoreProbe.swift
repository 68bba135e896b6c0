internal import System

/// Finds out what the store can do: by a tiny write that waits for the disk as every other does, by a read, and by what room there is.
///
/// However often it is asked, it writes and reads once in ``freshness`` at most, and never while an earlier one of its own is still
/// waiting: a disk that hangs gathers no backlog.
final class StoreProbe: Sendable {
    /// How long an answer is good for.
    static let freshness: Duration = .seconds(1)
    /// For how long the database of a fleet may be away before the records count as unreadable: what is shown is in memory.
    static let patience: Duration = .seconds(10)

    private struct State {
        /// The write and the read that wait for the disk.
        var write: StoreCommit?
        var read: StoreCommit?
        /// What is known, and since when.
        var known: (condition: StoreCondition, at: ContinuousClock.Instant)?
        /// What was told last.
        var told = StoreCondition()
    }

    /// Where the write or the read stands.
    private typealias Place = any WritableKeyPath<State, StoreCommit?> & Sendable

    private let store: any RecordStore
    private let limit: Duration
    private let fullDirectory: @Sendable () -> String?
    private let changed: @Sendable (StoreCondition) -> Void
    private let state = Locked(State())

    /// - Parameters:
    ///   - store: what is asked.
    ///   - limit: how long a write or a read may take. A fleet's replica is asked by who balances the load, and soon gives up asking.
    ///   - fullDirectory: the path whose file system has no room for anything new; `nil` if there is none. Must not block.
    ///   - changed: told of each change of what is degraded or cannot be read.
    init(
        _ store: any RecordStore, limit: Duration? = nil, fullDirectory: @escaping @Sendable () -> String? = { nil },
        changed: @escaping @Sendable (StoreCondition) -> Void = { _ in }
    ) {
        self.store = store
        self.limit = limit ?? (store.fleet == nil ? .seconds(2) : .milliseconds(750))
        self.fullDirectory = fullDirectory
        self.changed = changed
    }

    /// What the store can do, tried out.
    func condition() async -> StoreCondition {
        let now = ContinuousClock.now
        let known = state.withLock { state in
            state.known.flatMap { now - $0.at < Self.freshness ? $0 : nil }
        }
        if let known { return known.condition }
        let (write, read) = (begin(\.write) { $0.submit([.probe]) }, begin(\.read, Self.read))
        async let writeFailure = failure(of: write, \.write)
        let readFailure = await failure(of: read, \.read)
        var condition = StoreCondition()
        if (store.fleet?.silence).map({ $0 >= Self.patience }) ?? true { condition.unreadable = readFailure?.description }
        switch await writeFailure {
        case nil:
            guard let path = fullDirectory() else { break }
            condition.degraded = [.diskFull]
            condition.reason = "no space left in \(path)"
        case let failure?:
            condition.degraded = [failure == .full ? .diskFull : .notWritable]
            condition.reason = failure.description
        }
        // Who has lost its lease says so by itself, and begins anew.
        if await writeFailure != .fenced { note(condition) }
        return condition
    }

    /// Looks again if there is a sign that something has changed which nobody has asked about yet, so that it is told of. It does not
    /// write while all is well, for a disk may sleep then.
    func watch() async {
        if fullDirectory() != nil || state.withLock({ $0.told != StoreCondition() }) { _ = await condition() }
    }

    /// A read of a record that there is none of.
    private static func read(_ store: any RecordStore) -> StoreCommit {
        let commit = StoreCommit()
        Task {
            do throws(StoreError) {
                _ = try await store.records([DownloadID(value: 0)])
                commit.conclude(.success(()))
            } catch {
                commit.conclude(.failure(error))
            }
        }
        return commit
    }

    /// The one that is under way, or a new one.
    private func begin(_ place: Place, _ make: (any RecordStore) -> StoreCommit) -> StoreCommit {
        state.withLock { state in
            if let commit = state[keyPath: place] { return commit }
            let commit = make(store)
            state[keyPath: place] = commit
            return commit
        }
    }

    /// Why a write or read failed, or that it takes too long.
    private func failure(of commit: StoreCommit, _ place: Place) async -> StoreError? {
        let verdict = StoreCommit()
        let timer = Task { [limit, store] in
            try await Task.sleep(for: limit)
            verdict.conclude(
                .failure(
                    store.fleet == nil
                        ? .inputOutput("no answer from the disk within \(limit)")
                        : .interrupted("no answer within \(limit)")))
        }
        defer { timer.cancel() }
        Task {
            do throws(StoreError) {
                try await commit.wait()
                verdict.conclude(.success(()))
            } catch {
                verdict.conclude(.failure(error))
            }
            self.state.withLock { if $0[keyPath: place] === commit { $0[keyPath: place] = nil } }
        }
        do throws(StoreError) {
            try await verdict.wait()
            return nil
        } catch {
            return error
        }
    }

    private func note(_ condition: StoreCondition) {
        let isNews = state.withLock { state in
            state.known = (condition, .now)
            // A reason that is only worded differently is no news.
            let isNews =
                state.told.degraded != condition.degraded || (state.told.unreadable == nil) != (condition.unreadable == nil)
            if isNews { state.told = condition }
            return isNews
        }
        if isNews { changed(condition) }
    }
}
