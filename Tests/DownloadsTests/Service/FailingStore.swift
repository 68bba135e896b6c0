import TestSupport
import System

@testable import Downloads

/// A store that refuses changes for as long as a test wants it to, as a full or broken disk would; the rest goes to the real one.
final class FailingStore: RecordStore {
    private let real: any RecordStore
    private let refusal = Locked<(@Sendable (StoreChange) -> Bool)?>(nil)
    private let reason = Locked(StoreError.full)
    private let count = Locked(0)
    /// Those whose commit is known to the test alone until it says so.
    private let delay = Locked<(@Sendable (StoreChange) -> Bool)?>(nil)
    /// The commits that are held back for that; they are made all the same.
    let delayed = Waiter<[StoreCommit]>([])
    /// How many bytes of each download the store has been told to be on the disk.
    let synced = Waiter<[DownloadID: Int64]>([:])

    init(_ real: any RecordStore) {
        self.real = real
    }

    /// How many submissions were refused.
    var refused: Int { count.withLock { $0 } }

    /// From now on, submissions with such a change fail; `nil` lets all pass again.
    func refuse(
        as error: StoreError = .inputOutput("the disk is said to be broken"), _ condition: (@Sendable (StoreChange) -> Bool)?
    ) {
        reason.withLock { $0 = error }
        refusal.withLock { $0 = condition }
    }

    /// From now on, submissions with such a change are written, and nobody learns of it until the test concludes them.
    func delay(_ condition: (@Sendable (StoreChange) -> Bool)?) {
        delay.withLock { $0 = condition }
    }

    func load() throws(StoreError) -> StoredContents {
        try real.load()
    }

    func records(_ ids: [DownloadID]) async throws(StoreError) -> [DownloadRecord] {
        try await real.records(ids)
    }

    func deliveries(
        from id: DownloadID, if isWanted: @escaping @Sendable (String) -> Bool
    ) async throws(StoreError) -> DeliveryPage {
        try await real.deliveries(from: id, if: isWanted)
    }

    func submit(_ changes: [StoreChange]) -> StoreCommit {
        for record in changes.compactMap(\.savedRecord) { synced.update { $0[record.id] = record.syncedBytes } }
        if let isDelayed = delay.withLock({ $0 }), changes.contains(where: isDelayed) {
            _ = real.submit(changes)
            let commit = StoreCommit()
            delayed.update { $0.append(commit) }
            return commit
        }
        let condition = refusal.withLock { $0 }
        guard let condition, changes.contains(where: condition) else { return real.submit(changes) }
        count.withLock { $0 += 1 }
        let commit = StoreCommit()
        commit.conclude(.failure(reason.withLock { $0 }))
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
    /// The record that is added or saved.
    var savedRecord: DownloadRecord? {
        switch self {
        case .add(let record), .save(let record): record
        default: nil
        }
    }

    /// The record that is saved, if it is in this state.
    func saves(_ state: DownloadState) -> Bool {
        savedRecord?.download.state == state
    }

    /// Whether it removes a record.
    var removes: Bool {
        if case .remove = self { true } else { false }
    }
}
