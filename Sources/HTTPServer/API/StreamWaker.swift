internal import Synchronization

/// A handle that makes the server call a stream's `next` again. Any thread may use it, at any time and any number of
/// times. Wakes before the loop's next pass count as one. After `closed` they have no effect.
public struct StreamWaker: Sendable {
    private let signal: Signal

    init(mailbox: Mailbox, connection: ConnectionID) {
        signal = Signal(mailbox: mailbox, connection: connection)
    }

    /// Requests a call of `next`.
    public func wake() {
        signal.raise()
    }

    /// Records that the loop has handled the wake, so that the next one is signalled again.
    func acknowledge() {
        signal.isRaised.store(false, ordering: .sequentiallyConsistent)
    }

    private final class Signal: Sendable {
        let mailbox: Mailbox
        let connection: ConnectionID
        let isRaised = Atomic<Bool>(false)

        init(mailbox: Mailbox, connection: ConnectionID) {
            self.mailbox = mailbox
            self.connection = connection
        }

        func raise() {
            if !isRaised.exchange(true, ordering: .sequentiallyConsistent) {
                mailbox.post(.wake(connection))
            }
        }
    }
}
