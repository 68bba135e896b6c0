package import DownloadCore
internal import DownloadStore
package import HTTPCore
internal import System

/// The records of subscriptions, which share the store and its commits with the downloads.
extension DownloadService {
    /// The subscriptions at the start, oldest first.
    package nonisolated var storedSubscriptions: [StoredSubscription] { parts.subscriptions }

    /// The present time.
    package nonisolated var now: Timestamp { clock.now }

    /// Returns a new identity.
    package func makeID() -> RecordID { context.newIdentity(at: clock.now) }

    /// Returns items of subscriptions.
    /// - Throws: `overloaded`, `storeFailed`.
    package func items(_ query: ItemQuery) async throws(DownloadError) -> [StoredItem] {
        try await reading { () throws(StoreError) in
            try await read(by: .now + Self.answerLimit) { try $0.items(query) }
        }
    }

    /// Returns why files cannot be put into folders, by folder: a part of its path is a file. A folder whose file system is
    /// away or full has no entry, since downloads wait for it.
    package func obstacles(toFolders folders: Set<String>) -> [String: String] {
        var found: [String: String] = [:]
        for folder in folders {
            guard let objection = names.objection(toFolder: FileNaming.normalised(folder), for: nil) else { continue }
            if objection.kind == .other { found[folder] = objection.message }
        }
        return found
    }

    /// Returns the version of a download's file, as its origin names it; `nil` if it is unknown.
    package nonisolated func entity(of id: RecordID) async -> SavedEntity? {
        let records = try? await reading { () throws(StoreError) in try await store.records([id]) }
        return records?.first?.entity
    }

    private nonisolated func reading<Value>(
        _ body: () async throws(StoreError) -> Value
    ) async throws(DownloadError) -> Value {
        do throws(StoreError) {
            return try await body()
        } catch {
            throw error.isInterruption ? .overloaded : DownloadError(error)
        }
    }

    /// Claims a subscription, so that no replica of the fleet but this one changes it.
    /// - Parameters:
    ///   - host: The host of its work. Unless `forced`, nothing is claimed while another subscription of the host is.
    ///   - forced: Whether another replica loses its claim.
    /// - Returns: `nil` if another replica has the claim or the host, and if the subscription is gone.
    /// - Throws: `overloaded`, `unconfirmed`, `shuttingDown`, `storeFailed`.
    package nonisolated func claimSubscription(
        _ id: RecordID, host: String, forced: Bool
    ) async throws(DownloadError) -> ClaimedSubscription? {
        guard let sharing else { return ClaimedSubscription(claim: SubscriptionClaim(id: id, number: nil)) }
        return try await reading { () throws(StoreError) in
            try await sharing.fleet.claimSubscription(id, host: host, forced: forced)
        }
    }

    /// Ends a claim, so that any replica of the fleet may claim the subscription.
    package nonisolated func endClaim(_ claim: SubscriptionClaim) {
        if claim.number != nil { _ = store.submit([.subscription(.endClaim(claim))]) }
    }

    /// Begins to pass the changes of subscriptions by replicas of the fleet. It passes no changes when a claim has ended.
    package nonisolated func followSubscriptions(_ receive: @escaping @Sendable ([ChangedSubscription]) -> Void) {
        sharing?.fleet.followSubscriptions(receive)
    }

    /// Returns a subscription that another replica of the fleet may have added or changed; `nil` if there is none.
    /// - Throws: `overloaded`, `shuttingDown`, `storeFailed`.
    package nonisolated func storedSubscription(_ id: RecordID) async throws(DownloadError) -> StoredSubscription? {
        try await reading { () throws(StoreError) in try await sharing?.fleet.read { try $0.subscription(id) } }
    }

    /// Makes changes of subscriptions durable, and then delivers the messages to webhooks among them. The changes are
    /// submitted before the method suspends, so calls of one actor take effect in their order.
    /// - Parameter settle: Called with the outcome before the method ends; after `unconfirmed`, once the outcome is known.
    /// - Throws: `preconditionFailed` (another replica has claimed the subscription, or has added the work),
    ///   `insufficientStorage`, `overloaded`,
    ///   `unconfirmed` (it may still happen), `shuttingDown`, `storeFailed`.
    package nonisolated func commit(
        _ changes: [StoreChange], settle: @escaping @Sendable (DownloadError?) async -> Void = { _ in }
    ) async throws(DownloadError) {
        guard !store.isCongested else {
            await settle(.overloaded)
            throw .overloaded
        }
        let commit = store.submit(changes)
        deliver(changes, after: commit)
        let settled = StoreCommit()
        Task {
            let error = await commit.value()
            await settle(error.map(Self.refusal))
            settled.set(error)
        }
        if let error = await settled.value(within: Self.answerLimit) { throw Self.refusal(error) }
    }

    /// Makes changes of subscriptions durable like ``commit(_:settle:)``, together with the outcome of a request's key.
    /// - Parameter key: The request's key, which is reserved until the commit has ended.
    package func commit(
        _ changes: [StoreChange], keeping outcome: (stored: StoredSubscription, isNew: Bool), as key: RequestKey,
        settle: @escaping @Sendable (DownloadError?) async -> Void = { _ in }
    ) async throws(DownloadError) {
        var record = IdempotencyRecord(key: key.name, digest: key.digest, outcomes: [], createdAt: clock.now)
        record.subscription = outcome
        ledger.keepReservation(of: key)
        try await commit(changes + remember(record)) { error in
            await settle(error)
            await self.settle(key, error)
        }
    }

    private func settle(_ key: RequestKey, _ error: DownloadError?) {
        if error != nil { ledger.forget(key) }
        ledger.settle(key, after: error)
    }

    /// Returns the subscription that another replica has made for a request with a key; `nil` for none.
    /// - Throws: `keyMismatch`, and the errors of the store.
    package func keptSubscription(
        of key: RequestKey
    ) async throws(DownloadError) -> (stored: StoredSubscription, isNew: Bool)? {
        try await sharing?.outcome(of: key)?.subscription
    }

    private static func refusal(_ error: StoreError) -> DownloadError {
        error == .conflict ? .preconditionFailed : DownloadError(error)
    }
}
