/// The control of a transfer that was started. Any thread may use it, at any time. After the transfer's end it has no
/// effect.
///
/// Releasing the handle does not cancel the transfer.
public struct TransferHandle: Sendable {
    let transfer: Transfer

    /// Cancels the transfer. `finished(.failure(.cancelled))` follows soon, unless the transfer has already finished.
    public func cancel() {
        transfer.cancel()
    }

    /// Whether the transfer currently waits for its speed limiters rather than for the origin.
    public var isHeldBack: Bool { transfer.isHeldBack }
}
