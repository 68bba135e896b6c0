internal import CSystem
internal import System

/// Returns free heap memory to the system at intervals.
///
/// The C library's allocator keeps an arena for nearly every contending thread, and by default returns only the memory
/// at an arena's very end. Memory that one thread allocates and another frees leaves gaps in all arenas. After hours of
/// mixed load, the process is twice as large as its data.
final class HeapTrimmer: Sendable {
    /// The interval of the checks. An idle service does not grow, so nothing more is done.
    static let interval: Duration = .seconds(30)

    private let isOver = Monitor(false)

    deinit {
        stop()
    }

    /// Starts a thread of its own. If no thread can be created, the heap is not trimmed.
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

    /// Ends the thread, which cannot be started again.
    func stop() {
        isOver.withLock { isOver in
            isOver = true
            return ((), wake: true)
        }
    }

    /// Makes large blocks return to the system as soon as they are freed. To be called before they are allocated.
    static func prepare() {
        pawl_map_large_blocks()
    }

    /// Trims once: takes some milliseconds per 100 MB in use, with a lock of each arena held.
    static func trim() {
        pawl_trim_heap()
    }

    /// Waits for an interval; returns whether `stop()` was called in it.
    private static func sleep(_ isOver: Monitor<Bool>) -> Bool {
        var hasSlept = false
        return isOver.wait { isOver in
            if isOver || hasSlept { return .done(isOver) }
            hasSlept = true
            return .wait(interval)
        }
    }
}

/// Decides when trimming is worthwhile.
struct HeapTrimPolicy {
    /// The minimum growth in bytes since the last trim.
    static let growth: Int64 = 2 << 20

    /// Resident bytes after the last trim, or the lowest since; `nil` before the first trim.
    private var floor: Int64?

    /// Whether to trim a process of this size.
    mutating func wantsTrim(residentBytes: Int64) -> Bool {
        guard let floor else { return true }
        // A process that has shrunk without a trim grows from there.
        self.floor = min(floor, residentBytes)
        return residentBytes >= floor + Self.growth
    }

    /// Records a trim that left this many bytes resident.
    mutating func trimmed(residentBytes: Int64) {
        floor = residentBytes
    }
}
