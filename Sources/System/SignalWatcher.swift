internal import Glibc
internal import Synchronization

/// Turns SIGTERM, SIGINT and SIGHUP into calls.
///
/// The handler only writes the signal's number into a pipe, for next to nothing is allowed inside of one; a thread of its own reads
/// them. Blocking the signals and waiting for them (`sigwait`) does not do: libdispatch's main thread takes them unblocked.
public enum SignalWatcher {
    /// The pipe's end to write to; −1 before there is one.
    private static let writeEnd = Atomic<Int32>(-1)

    /// Ignores SIGPIPE and SIGXFSZ: a peer that is gone, and a file that may not grow, show as errors of the write.
    public static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Signals that come within this time after the first one count as that one.
    private static let repetition: Duration = .seconds(1)

    /// Calls `body`, on a thread of its own, with the first signal that comes. A second one, more than a second later, or the end of `limit`
    /// ends the process at once. Called once in the life of a process.
    /// - Parameters:
    ///   - limit: how long an orderly end may take.
    ///   - reload: called with each SIGHUP, on that thread too; without it, SIGHUP ends the process as the others do.
    ///   - body: begins the orderly end; must not block.
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
        // SIGINT also where it is ignored: shells start background jobs that way. SIGHUP is left to whoever ignored it (nohup).
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
            // timeout(1) and others signal a process and then its group, which is one wish.
            repeat { second = next(until: begun + limit) } while second != nil && .now < begun + SignalWatcher.repetition
            // 128 + signal is what shells report of a process that a signal ended. An orderly end that takes too long counts as
            // done: whatever was acknowledged is on disk.
            _exit(second.map { 128 + $0 } ?? 0)
        }

        /// The next signal; `nil` if none comes in time.
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
