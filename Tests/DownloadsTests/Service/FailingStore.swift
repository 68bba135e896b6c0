import TestSupport
import System

@testable import DownloadCore
@testable import DownloadStore

/// A store that refuses changes on demand, as a full or broken disk would; others go to the real one.
final class FailingStore: RecordStore {
    private let real: any RecordStore
    private let refusal = Locked<(@Sendable (StoreChange) -> Bool)?>(nil)
    private let reason = Locked(StoreError.full)
    private let count = Locked(0)
    /// Commits whose result only the test knows until it reports it.
    private let delay = Locked<(@Sendable (StoreChange) -> Bool)?>(nil)
    /// The held-back results; the commits are made nonetheless.
    let delayed = Waiter<[StoreCommit]>([])
    /// The number of durable bytes of each download that the store was told.
    let synced = Waiter<[RecordID: Int64]>([:])

    init(_ real: any RecordStore) {
        self.real = real
    }

    /// The number of refused submissions.
    var refused: Int { count.withLock { $0 } }

    /// From now on, submissions with such a change fail; `nil` accepts all again.
    func refuse(
        as error: StoreError = .inputOutput("the disk is said to be broken"), _ condition: (@Sendable (StoreChange) -> Bool)?
    ) {
        reason.withLock { $0 = error }
        refusal.withLock { $0 = condition }
    }

    /// From now on, submissions with such a change are written without a result until the test concludes them.
    func delay(_ condition: (@Sendable (StoreChange) -> Bool)?) {
        delay.withLock { $0 = condition }
    }

    func load() throws(StoreError) -> StoredContents {
        try real.load()
    }

    func read<Value: Sendable>(
        noting ids: [RecordID], _ body: @escaping @Sendable (any StoreReader) throws -> Value
    ) async throws(StoreError) -> Value {
        try await real.read(noting: ids, body)
    }

    func submit(_ changes: [StoreChange], isAwaited: Bool) -> StoreCommit {
        for record in changes.compactMap(\.savedRecord) { synced.update { $0[record.id] = record.syncedBytes } }
        if let isDelayed = delay.withLock({ $0 }), changes.contains(where: isDelayed) {
            _ = real.submit(changes, isAwaited: isAwaited)
            let commit = StoreCommit()
            delayed.update { $0.append(commit) }
            return commit
        }
        let condition = refusal.withLock { $0 }
        guard let condition, changes.contains(where: condition) else { return real.submit(changes, isAwaited: isAwaited) }
        count.withLock { $0 += 1 }
        let commit = StoreCommit()
        commit.set(reason.withLock { $0 })
        return commit
    }

    func note(_ progress: StoredProgress) {
        real.note(progress)
        synced.update { $0[progress.id] = progress.bytesReceived }
    }

    var silence: Duration? { real.silence }

    func close() async {
        await real.close()
    }
}

extension StoreChange {
    /// The added or saved record.
    var savedRecord: DownloadRecord? {
        switch self {
        case .add(let record), .save(let record): record
        default: nil
        }
    }

    /// The saved record, if it is in this state.
    func saves(_ state: DownloadState) -> Bool {
        savedRecord?.download.state == state
    }

    /// Whether it removes a record.
    var removes: Bool {
        if case .remove = self { true } else { false }
    }
}
