internal import Threading

/// Runs work that keeps a processor busy, or waits for a disk, away from the threads that receive; as many at once as there are
/// processors.
final class WorkPool: Sendable {
    /// Hashes the files of all downloads. It gives way to the threads that receive: bytes that have come can be hashed later, and
    /// an origin that is kept waiting is the dearer one.
    static let hashing = WorkPool(name: "pawl hash", givesWay: true)
    /// Waits for the disk.
    static let disk = WorkPool(name: "pawl disk", givesWay: false)
    /// Gives back the room of large files that were removed. Nobody else is to wait behind that.
    static let freeing = WorkPool(name: "pawl free", givesWay: true)

    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var threads = 0
        /// How many of them have nothing to do.
        var idle = 0
    }

    private let name: String
    private let givesWay: Bool
    private let width = Thread.processorCount
    private let state = Monitor(State())

    private init(name: String, givesWay: Bool) {
        self.name = name
        self.givesWay = givesWay
    }

    /// Runs the work as soon as others have left room for it.
    func run(_ work: @escaping @Sendable () -> Void) {
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
        do throws(ThreadError) {
            try Thread.start(name: name) {
                if self.givesWay { Thread.giveWay() }
                while true { self.next(true)?() }
            }
        } catch {
            let isAlone = state.withLock { state in
                state.threads -= 1
                return (state.threads == 0, wake: false)
            }
            // Others will get to it; without any it is done here, as late as that may be for the caller.
            if isAlone { while let work = next(false) { work() } }
        }
    }

    /// The next piece of work, once there is some; nil: there is none, and it was not to be waited for.
    private func next(_ waits: Bool) -> (@Sendable () -> Void)? {
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
