import CCurl
import Glibc
import Synchronization
import System

/// A thread that drives transfers, and the mailbox through which other threads reach it. The thread starts with the first
/// transfer.
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
        /// The handle that wakes the thread; nil before it runs and once it has ended.
        var multi: MultiHandle?
        var thread: JoinableThread?
    }

    let configuration: ClientConfiguration
    let credentials: CredentialStore
    let failedHosts: FailedHosts
    private let mailbox: Locked<Mailbox>
    /// The number of transfers that the loop has received and not finished.
    let load = Atomic(0)
    /// The bytes of bodies that the loop's sinks have received.
    let received = Atomic<UInt64>(0)

    init(configuration: ClientConfiguration, credentials: CredentialStore, failedHosts: FailedHosts) {
        self.configuration = configuration
        self.credentials = credentials
        self.failedHosts = failedHosts
        mailbox = Locked(Mailbox())
    }

    /// Passes a transfer to the thread, and starts the thread if this is the first one.
    /// - Throws: ``ClientError/cancelled`` once the loop is stopping. ``ClientError/connectionFailed(_:)`` if the system
    ///   has no threads left, or libcurl cannot be used. The sink is not called then.
    func start(_ transfer: Transfer, _ sink: any TransferSink) throws(ClientError) {
        try mailbox.withLock { mailbox throws(ClientError) in
            if mailbox.isStopping { throw .cancelled }
            if mailbox.thread == nil { try startThread(&mailbox) }
            post(.start(transfer, sink), &mailbox)
        }
    }

    /// Passes a command about a transfer to the thread. Does nothing if the thread drives none, or is about to stop.
    func post(_ command: Command) {
        mailbox.withLock { mailbox in
            if mailbox.thread != nil, !mailbox.isStopping { post(command, &mailbox) }
        }
    }

    private func post(_ command: Command, _ mailbox: inout Mailbox) {
        mailbox.commands.append(command)
        // Only the first command in an empty mailbox wakes the thread, which then takes all that have arrived.
        if mailbox.commands.count == 1 { mailbox.multi?.wake() }
    }

    private func startThread(_ mailbox: inout Mailbox) throws(ClientError) {
        do throws(SystemError) {
            mailbox.thread = try Thread.startJoinable(name: "pawl transfers") { self.run() }
        } catch {
            throw .connectionFailed("no thread could be started: \(error)")
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
        do throws(ClientError) {
            let multi = try MultiHandle()
            multi.configure()
            mailbox.withLock { $0.multi = multi }
            let driver = TransferDriver(loop: self, multi: multi)
            driver.run()
            // After this, no other thread can wake the handle that is about to be destroyed.
            mailbox.withLock { $0.multi = nil }
            // Closing the idle connections calls the driver.
            withExtendedLifetime(driver) { multi.destroy() }
        } catch {
            refuse(error)
        }
    }

    /// Ends all transfers without libcurl. The next one starts another thread.
    private func refuse(_ error: ClientError) {
        let commands = mailbox.withLock { mailbox in
            mailbox.thread = nil
            defer { mailbox.commands = [] }
            return mailbox.commands
        }
        for case .start(let transfer, let sink) in commands {
            load.subtract(1, ordering: .relaxed)
            sink.finished(.failure(transfer.isCancelled ? .cancelled : error))
        }
    }

    /// Signals are handled on other threads. A write to a closed connection reports EPIPE here rather than SIGPIPE.
    private static func blockSignals() {
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
    }
}
