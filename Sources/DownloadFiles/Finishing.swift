package import DownloadCore
internal import System

/// A verified file to publish under its name.
package final class Publication: Sendable {
    package let id: RecordID
    package let file: VerifiedFile
    /// The reserved path.
    package let path: FilePath
    /// The modification time of the finished file in seconds since 1970; `nil` for the time of the last write. Object
    /// storage sets a time of its own.
    package let modified: Int64?
    package let outcome = AbandonableOutcome<PublishedFile>()
    /// The copy in the folder of the path, if that is on another file system than part files; `nil` until it is made.
    let copy = Locked<FolderCopy?>(nil)

    package init(id: RecordID, file: VerifiedFile, path: FilePath, modified: Int64? = nil) {
        self.id = id
        self.file = file
        self.path = path
        self.modified = modified
    }

    /// Abandons the publication, on any thread. Returns true if the file has no name and will not get one; the outcome
    /// then follows at once. Returns false if the outcome must be awaited.
    package func abandon() -> Bool {
        outcome.abandon()
    }
}

/// The reason that a file could not be finished.
package enum FinishingFailure: Error, Sendable, Equatable {
    /// It was abandoned before its end.
    case abandoned
    /// Its bytes do not match the expected checksum.
    case checksum(expected: String, actual: String)
    case file(FileError)
}

/// A part file whose bytes were verified.
package struct VerifiedFile: Sendable {
    package let part: PartFile
    /// Its length in bytes.
    package let length: Int64
    package let sha256: [UInt8]
    /// The digests of its parts for object storage; `nil` if they were not computed.
    package let parts: [[UInt8]]?
    /// Whether its bytes are on the disk. Small files are flushed together when they are published.
    package let isFlushed: Bool
}

/// The outcome of work that can be abandoned until it begins a step that is not undone.
package final class AbandonableOutcome<Value: Sendable>: Sendable {
    private enum Phase {
        case open, committed, over
    }

    private struct State {
        var phase = Phase.open
        /// Whether it was to be abandoned after it had committed.
        var isUnwanted = false
    }

    private let state = Locked(State())
    private let outcome = Outcome<Result<Value, FinishingFailure>>()

    /// Calls the handler once there is an outcome.
    package func whenDone(_ handler: @escaping @Sendable (Result<Value, FinishingFailure>) -> Void) { outcome.whenDone(handler) }

    /// Whether the work is not yet over, and can be abandoned.
    var isOpen: Bool { state.withLock { $0.phase == .open } }

    /// Allows to abandon the work again, because the step that is not undone has had no effect. Work that was to be
    /// abandoned during the step is abandoned now.
    func reopen() {
        let isUnwanted = state.withLock { state in
            if state.phase == .committed { state.phase = .open }
            return state.isUnwanted
        }
        if isUnwanted { abandon() }
    }

    /// Begins the step that is not undone. Returns false if the work was abandoned.
    func commit() -> Bool {
        state.withLock { state in
            if state.phase == .open { state.phase = .committed }
            return state.phase == .committed
        }
    }

    /// Sets the outcome. Has no effect if the work was abandoned.
    func resolve(_ result: Result<Value, FinishingFailure>) {
        state.withLock { if $0.phase == .open { $0.phase = .over } }
        outcome.set(result)
    }

    /// Abandons the work. Returns false if it has committed.
    @discardableResult
    func abandon() -> Bool {
        let hasCommitted = state.withLock { state in
            if state.phase == .committed { state.isUnwanted = true } else { state.phase = .over }
            return state.phase == .committed
        }
        if !hasCommitted { outcome.set(.failure(.abandoned)) }
        return !hasCommitted
    }
}
