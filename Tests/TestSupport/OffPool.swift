internal import Foundation

/// Runs tests that block or compute for long, one after another, on a thread of their own.
///
/// Swift's task pool has as many threads as the machine has processors. A test that waits in a system call there, or computes for
/// seconds, starves the services of all other tests, which answer from tasks. Such suites are isolated to this actor instead.
@globalActor
public actor OffPool {
    /// The one there is.
    public static let shared = OffPool()

    private static let executor = ThreadExecutor()

    /// The thread's.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe Self.executor.asUnownedSerialExecutor() }
}

/// One thread that takes jobs in order.
@safe
private final class ThreadExecutor: SerialExecutor {
    private let jobs = Jobs()

    init() {
        let jobs = jobs
        Thread.detachNewThread {
            while true { jobs.next()() }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.append { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}

private final class Jobs: @unchecked Sendable {
    private let condition = NSCondition()
    private var waiting: [@Sendable () -> Void] = []

    func append(_ job: @escaping @Sendable () -> Void) {
        condition.lock()
        waiting.append(job)
        condition.signal()
        condition.unlock()
    }

    func next() -> @Sendable () -> Void {
        condition.lock()
        defer { condition.unlock() }
        while waiting.isEmpty { condition.wait() }
        return waiting.removeFirst()
    }
}
