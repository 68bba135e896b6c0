/// Runs work that occupies a processor or waits for a disk, on threads that may block.
///
/// Each kind of work has an executor with threads of its own, which start when they are first needed. So no kind waits
/// for another.
public final class BlockingExecutor: Sendable {
    /// Work that waits for the disk; at most as many threads as processors.
    public static let disk = BlockingExecutor(name: "pawl disk")
    /// Hashing of files. It has a lower priority than the threads that receive. Hashing can wait, but an origin should
    /// not.
    public static let hashing = BlockingExecutor(name: "pawl hash", hasLowPriority: true)
    /// Freeing of disk space of large removed files, on threads of its own so that no other work waits for it.
    public static let freeing = BlockingExecutor(name: "pawl free", hasLowPriority: true)
    /// Syncs of part files during their transfers, one at a time.
    public static let checkpoints = BlockingExecutor(name: "pawl sync", width: 1)
    /// Copies of finished files into folders on other file systems, one at a time.
    public static let copying = BlockingExecutor(name: "pawl copy", width: 1, hasLowPriority: true)
    /// Publication of finished files. One thread takes all files that wait.
    public static let publishing = BlockingExecutor(name: "pawl publish", width: 1)

    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var threads = 0
        /// The number of idle threads.
        var idle = 0
    }

    private let name: String
    private let hasLowPriority: Bool
    private let width: Int
    private let state = Monitor(State())

    /// Creates an executor. Its threads, once started, run until the process ends.
    /// - Parameters:
    ///   - name: The name of its threads; at most 15 bytes.
    ///   - width: The maximum number of threads, at least 1. With one thread, work is done in the order of submission.
    ///   - hasLowPriority: Whether other threads have a higher priority.
    init(name: String, width: Int = Thread.processorCount, hasLowPriority: Bool = false) {
        self.name = name
        self.width = width
        self.hasLowPriority = hasLowPriority
    }

    /// Runs the work, and returns its value or throws its error.
    public func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }

    /// Queues the work without waiting for it.
    public func submit(_ work: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state -> (Bool, wake: Bool) in
            state.waiting.append(work)
            if state.waiting.count <= state.idle { return (false, wake: true) }
            guard state.threads < width else { return (false, wake: false) }
            state.threads += 1
            return (true, wake: false)
        }
        if starts { start() }
    }

    private func start() {
        do throws(SystemError) {
            try Thread.start(name: name) {
                if self.hasLowPriority { Thread.lowerPriority() }
                while true { self.next(waits: true)?() }
            }
        } catch {
            let isAlone = state.withLock { state in
                state.threads -= 1
                return (state.threads == 0, wake: false)
            }
            // The other threads will do the work. If there is none, the calling thread does it, even though that delays
            // the caller.
            if isAlone { while let work = next(waits: false) { work() } }
        }
    }

    /// The next piece of work. `nil`: none is queued, and `waits` is false.
    private func next(waits: Bool) -> (@Sendable () -> Void)? {
        var isIdle = false
        return state.wait { state in
            if isIdle { state.idle -= 1 }
            guard state.waiting.isEmpty else { return .done(state.waiting.removeFirst()) }
            guard waits else { return .done(nil) }
            isIdle = true
            state.idle += 1
            return .wait(nil)
        }
    }
}
