public import DownloadCore
internal import System

/// Requests that a client may repeat under the same key.
extension DownloadService {
    /// Reserves a key for a request of the caller, unless a request with it has been carried out. Until the key is
    /// released, other requests with it wait.
    /// - Parameter key: The request's key.
    /// - Returns: The outcome, with the downloads as they were then; `nil`: the caller has to carry out the request.
    /// - Throws: `keyMismatch`, `shuttingDown`, `overloaded` (the earlier request takes too long), `storeFailed`.
    package func reserve(_ key: RequestKey) async throws(DownloadError) -> IdempotencyRecord? {
        let deadline = ContinuousClock.now + Self.answerLimit
        reserving: while true {
            guard !isShuttingDown else { throw .shuttingDown }
            switch ledger.reserve(key, now: noteTrustedTime()) {
            case .reserved: break reserving
            case .known(let record): return record
            case .mismatch: throw .keyMismatch
            case .isUnderWay(let end): try await follow(end, by: deadline)
            }
        }
        do throws(DownloadError) {
            guard let kept = try await sharing?.outcome(of: key) else { return nil }
            release(key)
            return kept
        } catch {
            release(key, after: error)
            throw error
        }
    }

    /// Releases a key and resumes the requests that wait for it. If the request has failed, the next one is carried
    /// out, unless it has waited for the store in vain.
    public func release(_ key: RequestKey, after failure: DownloadError? = nil) {
        ledger.release(key, after: failure)
    }

    /// Returns the changes that make the outcomes of a request durable under its key.
    func remember(_ outcomes: [Addition.Outcome], as key: RequestKey?) -> [StoreChange] {
        guard let key else { return [] }
        var record = IdempotencyRecord(key: key.name, digest: key.digest, outcomes: outcomes, createdAt: clock.now)
        record.warnings = key.warnings
        return remember(record)
    }

    func remember(_ record: IdempotencyRecord) -> [StoreChange] {
        [.remember(record)] + ledger.remember(record, now: noteTrustedTime()).map(StoreChange.forget)
    }
}
