package import DownloadCore
internal import System

/// The reservations of running downloads under `--quota`, for the threads of transfers and for the service. A lock orders
/// their decisions.
package final class QuotaReservations: Sendable {
    private struct State {
        var ledger: QuotaLedger
        /// Bytes that no record accounts for.
        var unrecorded: Int128 = 0
    }

    private let state: Locked<State>
    /// Whether there is a quota.
    package let isLimited: Bool
    /// Returns the bytes in all records, except for some downloads.
    private let kept: @Sendable ([RecordID]) -> Int128

    /// Creates the reservations.
    /// - Parameters:
    ///   - quota: The quota in bytes; 0 is no limit.
    ///   - kept: Returns the bytes in all records, except for some downloads. Must not wait.
    package init(quota: Int64 = 0, kept: @escaping @Sendable ([RecordID]) -> Int128 = { _ in 0 }) {
        state = Locked(State(ledger: QuotaLedger(quota: quota)))
        isLimited = quota > 0
        self.kept = kept
    }

    /// Sets the number of bytes that no record accounts for.
    package func note(unrecorded bytes: Int128) {
        state.withLock { $0.unrecorded = max(0, bytes) }
    }

    /// Whether no download without bytes may begin.
    package var isFull: Bool {
        isLimited && state.withLock { $0.ledger.isFull(beside: kept(Array($0.ledger.reservations.keys)) + $0.unrecorded) }
    }

    /// The download that may exceed the quota; `nil` for none.
    package var exception: RecordID? { state.withLock { $0.ledger.exception } }

    /// Reserves all bytes that a download takes.
    /// - Parameter own: The bytes that it takes now, if it has no reservation yet.
    /// - Returns: `false` if there is no room for them.
    package func reserve(_ bytes: Int64, for id: RecordID, having own: Int64 = 0) -> Bool {
        guard isLimited else { return true }
        return state.withLock { state in
            var ids = Array(state.ledger.reservations.keys)
            if state.ledger.reservations[id] == nil { ids.append(id) }
            return state.ledger.reserve(bytes, for: id, having: own, beside: kept(ids) + state.unrecorded)
        }
    }

    /// Ends a reservation. By then, the record of the download accounts for its bytes.
    package func release(_ id: RecordID) {
        if isLimited { state.withLock { $0.ledger.release(id) } }
    }
}
