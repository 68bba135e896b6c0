import Synchronization

/// The part of a transfer that all threads use. State of its loop's thread is in ``ActiveTransfer``.
///
/// It has no reference to its sink, since a sink may keep the handle of its own transfer.
final class Transfer: Sendable {
    let request: ClientRequest
    let loop: TransferLoop
    /// Set before the loop receives the command, so that a running callback ends immediately.
    private let cancellation = Atomic(false)
    private let waiting = Atomic(false)

    init(request: ClientRequest, loop: TransferLoop) {
        self.request = request
        self.loop = loop
    }

    /// Whether the transfer waits for its speed limiters.
    var isHeldBack: Bool {
        get { waiting.load(ordering: .relaxed) }
        set { waiting.store(newValue, ordering: .relaxed) }
    }

    var isCancelled: Bool { cancellation.load(ordering: .relaxed) }

    func cancel() {
        if !cancellation.exchange(true, ordering: .relaxed) { loop.post(.cancel(self)) }
    }
}
