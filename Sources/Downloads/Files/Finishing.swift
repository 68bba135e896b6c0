internal import System

/// A part file that is to be verified.
final class Verification: Sendable {
    let part: PartFile
    /// Bound to the part file; what it lacks is read back.
    let hasher: StreamingHasher
    /// Bytes of the whole file.
    let length: Int64
    /// What it must match: what the client said, and the origin.
    let expected: [Checksum]
    let outcome = AbandonableOutcome<VerifiedFile>()

    init(part: PartFile, hasher: StreamingHasher, length: Int64, expected: [Checksum]) {
        self.part = part
        self.hasher = hasher
        self.length = length
        self.expected = expected
    }

    /// Gives it up: its outcome is there at once, whatever the disk does. From any thread, at any time.
    func abandon() {
        hasher.stop()
        outcome.abandon()
    }
}

/// A verified file that is to get its name.
final class Publication: Sendable {
    let id: DownloadID
    let file: VerifiedFile
    /// The path that was reserved.
    let path: FilePath
    let outcome = AbandonableOutcome<PublishedFile>()

    init(id: DownloadID, file: VerifiedFile, path: FilePath) {
        self.id = id
        self.file = file
        self.path = path
    }

    /// Gives it up, from any thread. Returns whether it does not have the name and will not get it: then its outcome is there at once.
    /// If not, the outcome is to be waited for.
    func abandon() -> Bool {
        outcome.abandon()
    }
}

/// The outcome of work that can be given up until it has begun what is not undone.
final class AbandonableOutcome<Value: Sendable>: Sendable {
    typealias Handler = @Sendable (Result<Value, FinishingFailure>) -> Void

    private enum Phase {
        case open, committed, over
    }

    private struct State {
        var phase = Phase.open
        var handlers: [Handler] = []
    }

    private let state = Locked(State())

    /// Calls the handler once there is an outcome. To be called before the work begins.
    func whenDone(_ handler: @escaping Handler) {
        let isOpen = state.withLock { state in
            if state.phase == .open { state.handlers.append(handler) }
            return state.phase == .open
        }
        if !isOpen { handler(.failure(.abandoned)) }
    }

    /// What comes now is not undone. Returns false if the work has been given up.
    func commit() -> Bool {
        state.withLock { state in
            if state.phase == .open { state.phase = .committed }
            return state.phase == .committed
        }
    }

    /// There is an outcome. Handlers are not told of it once the work has been given up.
    func resolve(_ result: Result<Value, FinishingFailure>) {
        let handlers = state.withLock { state in
            if state.phase == .open { state.phase = .over }
            defer { state.handlers = [] }
            return state.handlers
        }
        for handler in handlers { handler(result) }
    }

    /// Gives the work up. Returns false if it has committed.
    @discardableResult
    func abandon() -> Bool {
        let (isAbandoned, handlers) = state.withLock { state -> (Bool, [Handler]) in
            if state.phase == .committed { return (false, []) }
            state.phase = .over
            defer { state.handlers = [] }
            return (true, state.handlers)
        }
        for handler in handlers { handler(.failure(.abandoned)) }
        return isAbandoned
    }
}
