internal import Glibc
internal import Synchronization

/// Turns SIGTERM, SIGINT and SIGHUP into calls.
///
/// The signal handler only writes the signal's number into a pipe, since a handler may do little else. A thread of its
/// own reads the pipe. Blocking the signals and calling `sigwait` does not work, since libdispatch's main thread leaves
/// them unblocked.
public enum SignalWatcher {
    /// The write end of the pipe; −1 before the pipe exists.
    private static let writeEnd = Atomic<Int32>(-1)

    /// Ignores SIGPIPE and SIGXFSZ. A closed peer and a file-size limit then appear as errors of the write.
    public static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Signals that come within this time after the first one count as that one.
    private static let repetition: Duration = .seconds(1)

    /// Calls `body` on a thread of its own with the first signal. A second signal more than a second later, or the end of
    /// `limit`, then ends the process immediately. Must be called only once in a process.
    /// - Parameters:
    ///   - limit: The maximum time of an orderly end.
    ///   - reload: Called on the same thread for each SIGHUP. If `nil`, SIGHUP ends the process as the others do.
    ///   - body: Begins the orderly end; must not block.
    public static func watch(
        limit: Duration, reload: (@Sendable () -> Void)? = nil, _ body: @escaping @Sendable (Int32) -> Void
    ) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return }
        writeEnd.store(ends[1], ordering: .sequentiallyConsistent)
        let job = Job(readEnd: ends[0], limit: limit, reload: reload, body: body)
        do throws(SystemError) {
            try Thread.start(name: "pawl signals") { job.run() }
        } catch {
            return
        }
        // SIGINT is handled even where it is ignored, since shells ignore it in background jobs. An ignored SIGHUP
        // (nohup) stays ignored unless there is a `reload`.
        for number in [SIGTERM, SIGINT, SIGHUP] where number != SIGHUP || reload != nil || !isIgnored(number) {
            signal(number) { number in
                let saved = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = unsafe write(SignalWatcher.writeEnd.load(ordering: .relaxed), &byte, 1)
                errno = saved
            }
        }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private final class Job: Sendable {
        let readEnd: Int32
        let limit: Duration
        let reload: (@Sendable () -> Void)?
        let body: @Sendable (Int32) -> Void

        init(
            readEnd: Int32, limit: Duration, reload: (@Sendable () -> Void)?, body: @escaping @Sendable (Int32) -> Void
        ) {
            self.readEnd = readEnd
            self.limit = limit
            self.reload = reload
            self.body = body
        }

        func run() {
            guard let first = next(until: nil) else { return }
            let begun = ContinuousClock.now
            body(first)
            var second: Int32?
            // timeout(1) and others signal a process and then its group.
            repeat { second = next(until: begun + limit) } while second != nil && .now < begun + SignalWatcher.repetition
            // Shells report 128 + signal for a process that a signal ended. After `limit` the status is 0, since all
            // acknowledged changes are on the disk.
            _exit(second.map { 128 + $0 } ?? 0)
        }

        /// The next signal; `nil` if none comes before the deadline.
        private func next(until deadline: ContinuousClock.Instant?) -> Int32? {
            while true {
                var milliseconds: Int32 = -1
                if let deadline {
                    milliseconds = Int32(clamping: Int64((deadline - .now) / .milliseconds(1)))
                    if milliseconds <= 0 { return nil }
                }
                var poller = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
                guard unsafe poll(&poller, 1, milliseconds) > 0 else { continue }
                var byte: UInt8 = 0
                guard unsafe read(readEnd, &byte, 1) == 1 else { continue }
                guard let reload, Int32(byte) == SIGHUP else { return Int32(byte) }
                // Once the end has begun there is nothing to reload.
                if deadline == nil { reload() }
            }
        }
    }
}
