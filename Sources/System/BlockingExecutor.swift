/// Runs work that keeps a processor busy, or waits for a disk, away from the threads that must not wait.
///
/// Each kind of work has a lane with threads of its own, made when they are first needed, so that none stands behind another's.
public final class BlockingExecutor: Sendable {
    /// Waits for the disk; as many at once as there are processors.
    public static let disk = BlockingExecutor(name: "pawl disk")
    /// Hashes files. It gives way to the threads that receive: bytes that have come can be hashed later, and an origin that is kept
    /// waiting is the dearer one.
    public static let hashing = BlockingExecutor(name: "pawl hash", givesWay: true)
    /// Gives back the room of large files that were removed. Nobody else is to wait behind that.
    public static let freeing = BlockingExecutor(name: "pawl free", givesWay: true)
    /// Syncs part files while they are being written, one after the other.
    public static let checkpoints = BlockingExecutor(name: "pawl sync", width: 1)
    /// Gives finished files their names, all that wait together.
    public static let publishing = BlockingExecutor(name: "pawl publish", width: 1)

    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var threads = 0
        /// How many of them have nothing to do.
        var idle = 0
    }

    private let name: String
    private let givesWay: Bool
    private let width: Int
    private let state = Monitor(State())

    /// A lane whose threads stay once they are made: for the life of the process.
    /// - Parameters:
    ///   - name: what its threads are called; 15 bytes at most.
    ///   - width: how many threads there may be, at least 1. With one, work is done in the order in which it was submitted.
    ///   - givesWay: whether other threads are served first.
    init(name: String, width: Int = Thread.processorCount, givesWay: Bool = false) {
        self.name = name
        self.width = width
        self.givesWay = givesWay
    }

    /// Runs the work, and returns what it returns or throws what it throws.
    public func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            submit {
                do throws(Failure) {
                    continuation.resume(returning: .success(try work()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Runs the work before long; nobody waits for it.
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
                if self.givesWay { Thread.giveWay() }
                while true { self.next(waits: true)?() }
            }
        } catch {
            let isAlone = state.withLock { state in
                state.threads -= 1
                return (state.threads == 0, wake: false)
            }
            // Others will get to it; without any it is done here, as late as that may be for the caller.
            if isAlone { while let work = next(waits: false) { work() } }
        }
    }

    /// The next piece of work, once there is some; nil: there is none, and it was not to be waited for.
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
