import CCurl
import Glibc
import Synchronization
import System

/// A thread that drives transfers, and the mailbox through which other threads reach it.
final class TransferLoop: Sendable {
    enum Command: Sendable {
        case start(Transfer, any TransferSink)
        case cancel(Transfer)
        /// The limit of a transfer's speed limiter has changed.
        case limitsChanged
    }

    private struct Mailbox: ~Copyable {
        var commands: [Command] = []
        /// Whether further commands are refused. Earlier commands are still carried out.
        var isStopping = false
        /// The handle that wakes the thread; nil once the thread has ended.
        var multi: MultiHandle?
        var thread: JoinableThread?
    }

    let configuration: ClientConfiguration
    let credentials: CredentialStore
    private let mailbox: Locked<Mailbox>
    /// The number of transfers that the loop has received and not finished.
    let load = Atomic(0)
    /// The bytes of bodies that the loop's sinks have received.
    let received = Atomic<UInt64>(0)

    init(configuration: ClientConfiguration, credentials: CredentialStore) throws(ClientError) {
        self.configuration = configuration
        self.credentials = credentials
        guard let multi = MultiHandle() else { throw .connectionFailed("libcurl has no memory") }
        mailbox = Locked(Mailbox(multi: multi))
        multi.configure(idleConnections: configuration.idleConnectionsPerThread)
        do throws(SystemError) {
            let thread = try Thread.startJoinable(name: "pawl transfers") { self.run() }
            mailbox.withLock { $0.thread = thread }
        } catch {
            multi.destroy()
            throw .connectionFailed("no thread could be started: \(error)")
        }
    }

    /// Passes a command to the thread. Returns false, and does nothing, once the loop is stopping.
    @discardableResult
    func post(_ command: Command) -> Bool {
        mailbox.withLock { mailbox in
            guard !mailbox.isStopping else { return false }
            mailbox.commands.append(command)
            // Only the first command in an empty mailbox wakes the thread, which then takes all that have arrived.
            if mailbox.commands.count == 1 { mailbox.multi?.wake() }
            return true
        }
    }

    /// Cancels all transfers and ends the thread. Waits for the thread, unless called on it.
    func stop() {
        let thread = mailbox.withLock { mailbox in
            mailbox.isStopping = true
            mailbox.multi?.wake()
            defer { mailbox.thread = nil }
            return mailbox.thread
        }
        thread?.join()
    }

    /// Takes all commands; called by the driver.
    func takeCommands() -> (commands: [Command], isStopping: Bool) {
        mailbox.withLock { mailbox in
            let commands = mailbox.commands
            mailbox.commands.removeAll()
            return (commands, mailbox.isStopping)
        }
    }

    private func run() {
        Self.blockSignals()
        guard let multi = mailbox.withLock({ $0.multi }) else { return }
        let driver = TransferDriver(loop: self, multi: multi)
        driver.run()
        // After this, no other thread can wake the handle that is about to be destroyed.
        mailbox.withLock { $0.multi = nil }
        // Closing the idle connections calls the driver.
        withExtendedLifetime(driver) { multi.destroy() }
    }

    /// Signals are handled on other threads. A write to a closed connection reports EPIPE here rather than SIGPIPE.
    private static func blockSignals() {
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
    }
}
