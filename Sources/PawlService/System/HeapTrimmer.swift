internal import CSystem
internal import System

/// Gives back to the system, now and then, the memory that lies free between what the process still uses.
///
/// The C library's allocator keeps an arena for nearly every thread that ever met another in it, and returns by itself only what is
/// free at an arena's very end. What is allocated by one thread and freed by another leaves gaps in all of them, so that after hours
/// of mixed load the process is twice as large as what it holds.
final class HeapTrimmer: Sendable {
    /// How often it looks. The process of a service that idles does not grow, and looking is all that is done then.
    static let interval: Duration = .seconds(30)

    private let isOver = Monitor(false)

    deinit {
        stop()
    }

    /// Begins, on a thread of its own. A system without threads to spare is left untrimmed.
    func start() {
        try? Thread.start(name: "pawl heap") { [isOver] in
            var policy = HeapTrimPolicy()
            while !Self.sleep(isOver) {
                guard let resident = ProcessFigures.residentBytes, policy.wantsTrim(residentBytes: resident) else { continue }
                Self.trim()
                policy.trimmed(residentBytes: ProcessFigures.residentBytes ?? resident)
            }
        }
    }

    /// Ends the thread. It cannot be started again.
    func stop() {
        isOver.withLock { isOver in
            isOver = true
            return ((), wake: true)
        }
    }

    /// Does it once: takes some milliseconds per 100 MB in use, and holds each arena meanwhile.
    static func trim() {
        pawl_trim_heap()
    }

    /// Waits for an interval, and returns whether the end came in it.
    private static func sleep(_ isOver: Monitor<Bool>) -> Bool {
        var hasSlept = false
        return isOver.wait { isOver in
            if isOver || hasSlept { return .done(isOver) }
            hasSlept = true
            return .wait(interval)
        }
    }
}

/// Decides when trimming is worth its while.
struct HeapTrimPolicy {
    /// How much the process must have grown since the last time, in bytes.
    static let growth: Int64 = 2 << 20

    /// Resident bytes after the last time; `nil` if there was none.
    private var floor: Int64?

    /// Whether to trim a process of that size.
    mutating func wantsTrim(residentBytes: Int64) -> Bool {
        guard let floor else { return true }
        // What shrank by itself sets a new mark to grow from.
        self.floor = min(floor, residentBytes)
        return residentBytes >= floor + Self.growth
    }

    /// It was done, and left that many bytes resident.
    mutating func trimmed(residentBytes: Int64) {
        floor = residentBytes
    }
}
