import Synchronization

/// A transfer as all threads see it. What only its loop's thread may touch is in ``ActiveTransfer``.
///
/// It does not hold its sink: a sink may well keep the handle of its own transfer.
final class Transfer: Sendable {
    let request: ClientRequest
    let loop: TransferLoop
    /// Set before the loop hears of it, so that a callback in full flow stops at once.
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
