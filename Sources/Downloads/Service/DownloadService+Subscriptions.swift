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
        do throws(StoreError) {
            return try await store.items(query)
        } catch {
            throw error.isInterruption ? .overloaded : DownloadError(error)
        }
    }

    /// Makes changes of subscriptions durable. They are submitted before the method suspends, so calls of one actor take
    /// effect in their order.
    /// - Throws: `insufficientStorage`, `overloaded`, `unconfirmed` (it may still happen), `shuttingDown`, `storeFailed`.
    package nonisolated func commit(_ changes: [StoreChange]) async throws(DownloadError) {
        guard !store.isCongested else { throw .overloaded }
        if let error = await store.submit(changes).failure(within: Self.answerLimit) { throw DownloadError(error) }
    }
}
