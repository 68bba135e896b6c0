internal import System

/// The claims of running downloads under `--quota`, for the threads of transfers and for the service: one after another decides.
final class QuotaReservations: Sendable {
    private struct State {
        var ledger: QuotaLedger
        /// Bytes that no record tells of.
        var unrecorded: Int128 = 0
    }

    private let state: Locked<State>
    /// Whether there is a quota.
    let isLimited: Bool
    /// Bytes that records tell of, but for those of these downloads.
    private let kept: @Sendable ([DownloadID]) -> Int128

    /// - Parameters:
    ///   - quota: in bytes; 0 is no limit.
    ///   - kept: returns the bytes that records tell of, but for those of some downloads. Must not wait.
    init(quota: Int64 = 0, kept: @escaping @Sendable ([DownloadID]) -> Int128 = { _ in 0 }) {
        state = Locked(State(ledger: QuotaLedger(quota: quota)))
        isLimited = quota > 0
        self.kept = kept
    }

    /// Notes the bytes that no record tells of.
    func note(unrecorded bytes: Int128) {
        state.withLock { $0.unrecorded = max(0, bytes) }
    }

    /// Whether nothing may begin that has no bytes yet.
    var isFull: Bool {
        isLimited && state.withLock { $0.ledger.isFull(beside: kept(Array($0.ledger.claims.keys)) + $0.unrecorded) }
    }

    /// The download that may go beyond the quota.
    var exception: DownloadID? { state.withLock { $0.ledger.exception } }

    /// Claims the bytes that a download takes in all.
    /// - Parameter own: what it takes now, if it has no claim yet.
    /// - Returns: false if there is no room for them.
    func claim(_ bytes: Int64, for id: DownloadID, having own: Int64 = 0) -> Bool {
        guard isLimited else { return true }
        return state.withLock { state in
            var ids = Array(state.ledger.claims.keys)
            if state.ledger.claims[id] == nil { ids.append(id) }
            return state.ledger.claim(bytes, for: id, having: own, beside: kept(ids) + state.unrecorded)
        }
    }

    /// Ends a claim. What the download has is told by its record by now.
    func release(_ id: DownloadID) {
        if isLimited { state.withLock { $0.ledger.release(id) } }
    }
}
