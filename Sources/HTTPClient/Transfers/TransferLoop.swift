import CCurl
import Glibc
import Synchronization
import System

/// A thread that drives transfers, and the mailbox through which other threads reach it.
final class TransferLoop: Sendable {
    enum Command: Sendable {
        case start(Transfer, any TransferSink)
        case cancel(Transfer)
        /// A speed limiter of some transfer has another limit.
        case limitsChanged
    }

    private struct Mailbox: ~Copyable {
        var commands: [Command] = []
        /// No more commands are taken; those that are here are still carried out.
        var isStopping = false
        /// What to wake; nil before the thread has begun and after it has ended.
        var multi: MultiHandle?
        var thread: JoinableThread?
    }

    let configuration: ClientConfiguration
    private let mailbox: Locked<Mailbox>
    /// How many transfers this loop has been given and has not finished.
    let load = Atomic(0)
    /// Bytes of bodies that its sinks have received.
    let received = Atomic<UInt64>(0)

    init(configuration: ClientConfiguration) throws(ClientError) {
        self.configuration = configuration
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

    /// Hands a command to the thread. Returns false, and does nothing, once the loop is stopping.
    @discardableResult
    func post(_ command: Command) -> Bool {
        mailbox.withLock { mailbox in
            guard !mailbox.isStopping else { return false }
            mailbox.commands.append(command)
            // Whoever finds the mailbox empty wakes; the thread then takes all that has come until it looks.
            if mailbox.commands.count == 1 { mailbox.multi?.wake() }
            return true
        }
    }

    /// Ends all transfers as cancelled and the thread with them. Waits for it, unless called on it.
    func stop() {
        let thread = mailbox.withLock { mailbox in
            mailbox.isStopping = true
            mailbox.multi?.wake()
            defer { mailbox.thread = nil }
            return mailbox.thread
        }
        thread?.join()
    }

    /// Takes what has come; called by the driver.
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
        // From here on no thread wakes what is about to be destroyed.
        mailbox.withLock { $0.multi = nil }
        // Closing the idle connections calls the driver.
        withExtendedLifetime(driver) { multi.destroy() }
    }

    /// Signals are for other threads; and writing to a connection that has gone reports EPIPE rather than SIGPIPE here.
    private static func blockSignals() {
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
    }
}
