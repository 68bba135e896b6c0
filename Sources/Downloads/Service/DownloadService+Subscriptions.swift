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
    package func makeID() -> DownloadID { context.newIdentity(at: clock.now) }

    /// Returns items of subscriptions.
    /// - Throws: `overloaded`, `storeFailed`.
    package nonisolated func items(_ query: ItemQuery) async throws(DownloadError) -> [StoredItem] {
        try await reading { () throws(StoreError) in try await store.items(query) }
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
        _ id: DownloadID, host: String, forced: Bool
    ) async throws(DownloadError) -> ClaimedSubscription? {
        try await reading { () throws(StoreError) in
            try await sharing.claimSubscription(id, host: host, forced: forced)
        }
    }

    /// Ends a claim, so that any replica of the fleet may claim the subscription.
    package nonisolated func endClaim(_ claim: SubscriptionClaim) {
        if claim.number != nil { _ = store.submit([.endClaim(claim)]) }
    }

    /// Begins to pass the changes of subscriptions by replicas of the fleet. It passes no changes when a claim has ended.
    package nonisolated func followSubscriptions(_ receive: @escaping @Sendable ([ChangedSubscription]) -> Void) {
        sharing.followSubscriptions(receive)
    }

    /// Returns a subscription that another replica of the fleet may have added or changed; `nil` if there is none.
    /// - Throws: `overloaded`, `shuttingDown`, `storeFailed`.
    package nonisolated func storedSubscription(_ id: DownloadID) async throws(DownloadError) -> StoredSubscription? {
        try await reading { () throws(StoreError) in try await sharing.subscription(id) }
    }

    /// Makes changes of subscriptions durable, and then delivers the messages to webhooks among them. The changes are
    /// submitted before the method suspends, so calls of one actor take effect in their order.
    /// - Throws: `preconditionFailed` (another replica has claimed the subscription, or has added the work),
    ///   `insufficientStorage`, `overloaded`,
    ///   `unconfirmed` (it may still happen), `shuttingDown`, `storeFailed`.
    package nonisolated func commit(_ changes: [StoreChange]) async throws(DownloadError) {
        guard !store.isCongested else { throw .overloaded }
        let commit = store.submit(changes)
        deliver(changes, after: commit)
        guard let error = await commit.failure(within: Self.answerLimit) else { return }
        throw error == .conflict ? .preconditionFailed : DownloadError(error)
    }
}
