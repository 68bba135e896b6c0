package import DownloadCore
internal import System

/// A part file to verify.
package final class Verification: Sendable {
    package let part: PartFile
    /// The hasher that is bound to the part file. Bytes that it lacks are read back.
    package let hasher: StreamingHasher
    /// The length of the whole file in bytes.
    package let length: Int64
    /// The checksums of the client and of the origin that the file must match.
    package let expected: [Checksum]
    package let outcome = AbandonableOutcome<VerifiedFile>()

    package init(part: PartFile, hasher: StreamingHasher, length: Int64, expected: [Checksum]) {
        self.part = part
        self.hasher = hasher
        self.length = length
        self.expected = expected
    }

    /// Abandons the verification. Its outcome follows at once, whatever the disk does. May be called on any thread at
    /// any time.
    package func abandon() {
        hasher.stop()
        outcome.abandon()
    }
}

/// A verified file to publish under its name.
package final class Publication: Sendable {
    package let id: DownloadID
    package let file: VerifiedFile
    /// The reserved path.
    package let path: FilePath
    package let outcome = AbandonableOutcome<PublishedFile>()

    package init(id: DownloadID, file: VerifiedFile, path: FilePath) {
        self.id = id
        self.file = file
        self.path = path
    }

    /// Abandons the publication, on any thread. Returns true if the file has no name and will not get one; the outcome
    /// then follows at once. Returns false if the outcome must be awaited.
    package func abandon() -> Bool {
        outcome.abandon()
    }
}

/// The outcome of work that can be abandoned until it begins a step that is not undone.
package final class AbandonableOutcome<Value: Sendable>: Sendable {
    package typealias Handler = @Sendable (Result<Value, FinishingFailure>) -> Void

    private enum Phase {
        case open, committed, over
    }

    private struct State {
        var phase = Phase.open
        var handlers: [Handler] = []
    }

    private let state = Locked(State())

    /// Calls the handler once there is an outcome. Must be called before the work begins.
    package func whenDone(_ handler: @escaping Handler) {
        let isOpen = state.withLock { state in
            if state.phase == .open { state.handlers.append(handler) }
            return state.phase == .open
        }
        if !isOpen { handler(.failure(.abandoned)) }
    }

    /// Begins the step that is not undone. Returns false if the work was abandoned.
    func commit() -> Bool {
        state.withLock { state in
            if state.phase == .open { state.phase = .committed }
            return state.phase == .committed
        }
    }

    /// Sets the outcome. Handlers are not called again if the work was abandoned.
    func resolve(_ result: Result<Value, FinishingFailure>) {
        let handlers = state.withLock { state in
            if state.phase == .open { state.phase = .over }
            defer { state.handlers = [] }
            return state.handlers
        }
        for handler in handlers { handler(result) }
    }

    /// Abandons the work. Returns false if it has committed.
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
