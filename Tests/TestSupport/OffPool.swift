internal import Foundation

/// Runs tests that block or compute for long, one after another, on their own thread.
///
/// Swift's task pool has as many threads as the machine has processors. A test that blocks a thread or computes for
/// seconds delays the services of all other tests, which respond from tasks. Such suites are isolated to this actor
/// instead.
@globalActor
public actor OffPool {
    /// The shared instance.
    public static let shared = OffPool()

    private static let executor = ThreadExecutor()

    /// The executor of the thread.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe Self.executor.asUnownedSerialExecutor() }
}

/// A thread that runs jobs in order.
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
