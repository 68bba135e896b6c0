/// Writes lines on a thread of its own, so that a reader that has stopped reading stops only this thread.
///
/// At most ``capacity`` bytes wait for the thread. Lines beyond them are dropped until it has taken the others. It then
/// writes these, and a line with the number of those that are missing.
public final class LineWriter: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        /// The lines that were dropped, and those that the notices have not counted yet.
        var (dropped, untold): (UInt64, UInt64) = (0, 0)
        var hasThread = false
        var threadSleeps = false
        /// Whether a line was dropped since the thread has taken the others.
        var isFull = false
        /// The number of bytes that were accepted.
        var accepted = 0
    }

    /// The maximum number of bytes that wait: some thousand lines.
    static let capacity = 1 << 20

    private let write: @Sendable ([UInt8]) -> Int
    private let notice: @Sendable (UInt64) -> [UInt8]
    private let state = Monitor(State())
    /// The number of accepted bytes that have been written or have failed.
    private let done = Monitor(0)

    /// - Parameters:
    ///   - write: Writes bytes, and returns the number of those that were written. May block.
    ///   - notice: Returns the line about a number of dropped lines.
    public init(write: @escaping @Sendable ([UInt8]) -> Int, notice: @escaping @Sendable (UInt64) -> [UInt8] = { _ in [] }) {
        (self.write, self.notice) = (write, notice)
    }

    /// The number of lines that were dropped, or could not be written.
    public var droppedLines: UInt64 { state.withLock { ($0.dropped, wake: false) } }

    /// Adds a line, with its line break. Does not block, unless the system has no thread left.
    public func append(_ line: [UInt8]) {
        let needsThread = state.withLock { state in
            if state.isFull || (!state.waiting.isEmpty && state.waiting.count + line.count > Self.capacity) {
                state.isFull = true
                state.dropped += 1
                state.untold += 1
                return (false, wake: false)
            }
            state.waiting += line
            state.accepted += line.count
            defer { state.hasThread = true }
            return (!state.hasThread, wake: state.threadSleeps)
        }
        guard needsThread else { return }
        do throws(SystemError) {
            try Thread.start(name: "pawl log") { [self] in while true { writeBatch(waits: true) } }
        } catch {
            // The next line tries again.
            state.withLock { ($0.hasThread = false, wake: false) }
            writeBatch(waits: false)
        }
    }

    /// Waits until all lines so far are written, at most for a time.
    public func flush(within limit: Duration) {
        let (accepted, end) = (state.withLock { ($0.accepted, wake: false) }, ContinuousClock.now + limit)
        done.wait { done in
            let rest = end - .now
            return done >= accepted || rest <= .zero ? .done(()) : .wait(rest)
        }
    }

    /// Writes the lines that wait, and how many are missing after them.
    /// - Parameter waits: Whether the thread sleeps until there is a line.
    private func writeBatch(waits: Bool) {
        let (batch, missing): ([UInt8], UInt64) = state.wait { state in
            state.threadSleeps = waits && state.waiting.isEmpty
            if state.threadSleeps { return .wait(nil) }
            defer { (state.waiting, state.untold, state.isFull) = ([], 0, false) }
            return .done((state.waiting, state.untold))
        }
        let lost = batch[min(write(batch), batch.count)...].reduce(UInt64(0)) { $0 + ($1 == 0x0A ? 1 : 0) }
        let line = missing == 0 || lost > 0 ? [] : notice(missing)
        let isTold = lost == 0 && write(line) == line.count
        state.withLock { state in
            state.dropped += lost
            state.untold += lost + (isTold ? 0 : missing)
            return ((), wake: false)
        }
        done.withLock { done in
            done += batch.count
            return ((), wake: true)
        }
    }
}
