/// Control over a transfer that was started. Any thread may use it, at any time; after the end it does nothing.
///
/// Letting go of it does not cancel the transfer.
public struct TransferHandle: Sendable {
    let transfer: Transfer

    /// Ends the transfer: `finished(.failure(.cancelled))` follows soon, unless it has already finished.
    public func cancel() {
        transfer.cancel()
    }

    /// Whether the transfer waits for its speed limiters at this moment, rather than for the origin.
    public var isHeldBack: Bool { transfer.isHeldBack }
}
