/// Control over a transfer that was started. Any thread may use it, at any time; after the end it does nothing.
///
/// Letting go of it does not cancel the transfer.
public struct TransferHandle: Sendable {
    let transfer: Transfer

    /// Ends the transfer: `finished(.failure(.cancelled))` follows soon, unless it has already finished.
    public func cancel() {
        transfer.cancel()
    }

    /// Changes the most bytes per second; 0 lifts the limit.
    public func setSpeedLimit(bytesPerSecond: Int64) {
        transfer.loop.post(.limit(transfer, bytesPerSecond: max(0, bytesPerSecond)))
    }
}
