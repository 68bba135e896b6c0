internal import Synchronization

/// Makes the server call a stream's `next` again. May be used from any thread, at any time, as often as one likes: wakes that
/// come before the loop has taken notice are one, and after `closed` they do nothing.
public struct StreamWaker: Sendable {
    private let signal: Signal

    init(mailbox: Mailbox, connection: ConnectionID) {
        signal = Signal(mailbox: mailbox, connection: connection)
    }

    /// Asks for a call of `next` soon.
    public func wake() {
        signal.raise()
    }

    /// The loop has taken notice; the next wake is a new one.
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
