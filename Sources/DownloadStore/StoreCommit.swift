package import DownloadCore
package import System

/// The pending commit of changes. Its value is the reason that they could not be made durable; `nil`: they are durable. It
/// is set on the store's thread. A caller waits for it before it confirms the changes.
package typealias StoreCommit = Outcome<StoreError?>

extension StoreCommit {
    /// Returns once the changes are durable.
    package func wait() async throws(StoreError) {
        if let error = await value() { throw error }
    }

    /// Waits at most `limit` for the outcome. The result is `late`, by default `.interrupted`, if the outcome is not known
    /// by then.
    package func value(
        within limit: Duration, or late: StoreError = .interrupted("it does not answer in time")
    ) async -> StoreError? {
        let wait = StoreCommit()
        whenDone { wait.set($0) }
        return await wait.value(within: limit, orSetting: late)
    }
}
