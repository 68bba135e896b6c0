package import DownloadCore
internal import System

/// Hashes a part file from its start while its bytes arrive. It runs on another thread, some way behind them, and reads
/// them back from the system's cache. So the transfer does not wait for the hash, and segments may arrive in any order.
///
/// The digest belongs to the bound file, and is discarded with it. It never covers bytes that can no longer be read.
package final class StreamingHasher: Sendable {
    /// The number of bytes that must have arrived before they are read back.
    private static let stride: Int64 = 1 << 20
    /// The maximum number of bytes that are hashed in one step. Hashing can be stopped between steps.
    private static let longestPiece: Int64 = 64 << 20

    private struct State {
        /// The bound file; `nil` while the hasher is idle.
        var part: PartFile?
        /// The state of the last bound file, while the hasher is idle.
        var resting: FileStatus?
        /// The number of restarts from zero, which identifies the file of a digest.
        var beginning = 0
        /// The digest; `nil` while bytes are added to it.
        var digest: FileDigest?
        /// The number of bytes that were hashed.
        var length: Int64 = 0
        /// The number of hashed bytes after the step in progress.
        var reach: Int64 = 0
        /// The number of bytes up to which the file may be read.
        var target: Int64 = 0
        /// The end of the steps under way; `nil`: no thread is hashing.
        var running: Outcome<Void>?
        var failure: FileError?
        var isStopped = false

        /// Forgets a failure after which hashing can be tried again.
        mutating func forgetPassingFailure() {
            if failure?.kind != .altered { failure = nil }
        }
    }

    private struct Work {
        let part: PartFile
        let beginning: Int
        var digest: FileDigest
        package let end: Int64
    }

    private let algorithms: [Checksum.Algorithm]
    /// Whether the digests of parts for object storage are computed.
    package let isDivided: Bool
    private let state: Locked<State>

    /// Creates a hasher that is bound to no file.
    /// - Parameters:
    ///   - algorithms: The algorithms to compute in addition to SHA-256.
    ///   - isDivided: Whether the digests of parts for object storage are computed, except for whole small files.
    package init(_ algorithms: some Sequence<Checksum.Algorithm> = [], isDivided: Bool = false) {
        self.algorithms = Array(algorithms)
        self.isDivided = isDivided
        state = Locked(State(digest: FileDigest(algorithms)))
    }

    /// Whether the hasher computes digests of these algorithms.
    package func computes(_ algorithms: [Checksum.Algorithm]) -> Bool {
        algorithms.allSatisfy { $0 == .sha256 || self.algorithms.contains($0) }
    }

    /// The number of bytes that were hashed.
    package var length: Int64 { state.withLock { $0.length } }

    // MARK: - The file

    /// Binds the hasher to a file. Must be called before any change to the file. Starts from zero unless it is the file
    /// that was last bound, unchanged while the hasher was idle.
    /// - Parameter prefix: The number of first bytes that are trusted. A digest of more bytes is discarded.
    package func bind(to part: PartFile, holding prefix: Int64) {
        let found = state.withLock { $0.resting } == nil ? nil : try? part.status()
        state.withLock { state in
            let isSame =
                state.part === part || (state.part == nil && found.map { state.resting?.isUnchanged(in: $0) ?? false } ?? false)
            if !isSame || state.reach > prefix {
                state.beginning += 1
                state.digest = FileDigest(algorithms, comparing: part.fingerprinted, isDivided: isDivided)
                state.length = 0
                state.reach = 0
                state.failure = nil
            }
            state.part = part
            state.resting = nil
            state.target = state.length
            state.forgetPassingFailure()
            state.isStopped = false
        }
    }

    /// Binds the hasher to a new file, to which the bytes of a digest are about to be written.
    package func bind(to part: PartFile, with digest: FileDigest) {
        bind(to: part, holding: 0)
        state.withLock { state in
            state.digest = digest
            state.length = digest.length
            state.reach = digest.length
            state.target = digest.length
        }
    }

    /// Returns the digest of a whole file's bytes.
    package func digest(ofAll bytes: RawSpan) -> FileDigest {
        var digest = FileDigest(algorithms)
        digest.update(bytes)
        return digest
    }

    /// Makes the hasher idle while nothing is written. Releases the file, and keeps its state.
    package func rest() {
        state.withLock { state in
            guard let part = state.part else { return }
            state.resting = try? part.status()
            state.part = nil
        }
    }

    /// Stops hashing, so that ``complete(upTo:)`` fails. Binding the hasher again ends that.
    package func stop() {
        state.withLock { $0.isStopped = true }
    }

    // MARK: - Bytes

    /// Hashes bytes that have just been written, if they follow the hashed ones.
    package func take(_ bytes: RawSpan, at offset: Int64) {
        state.withLock { state in
            guard state.part != nil, var digest = state.digest, digest.length == offset else { return }
            state.digest = nil
            digest.update(bytes)
            state.length = digest.length
            state.reach = digest.length
            state.digest = digest
        }
    }

    /// Announces that the first `end` bytes of the file have arrived. Reads them back if enough of them are not yet
    /// hashed.
    /// - Returns: The error if the file has other bytes than those that were written to it; otherwise `nil`.
    @discardableResult
    package func follow(upTo end: Int64) -> FileError? {
        let (starts, failure) = state.withLock { state in
            (Self.advance(&state, to: end, stride: Self.stride), state.failure)
        }
        if starts { start() }
        return failure?.kind == .altered ? failure : nil
    }

    /// Returns the digest of the first `length` bytes if exactly those were hashed; otherwise `nil`.
    package func digest(of length: Int64) -> FileDigest? {
        state.withLock { state in
            guard state.running == nil, !state.isStopped, state.failure == nil, let digest = state.digest, digest.length == length
            else { return nil }
            return digest
        }
    }

    /// Hashes the missing bytes up to `length`, and returns the digest of that many bytes.
    package func complete(upTo length: Int64) async throws(FileError) -> FileDigest {
        let (starts, running) = state.withLock { state in
            state.forgetPassingFailure()
            return (Self.advance(&state, to: length, stride: 1), state.running)
        }
        if starts { start() }
        await running?.value()
        let (digest, failure) = state.withLock { ($0.digest, $0.failure) }
        if let failure { throw failure }
        guard let digest, digest.length == length else { throw FileError(.other, "hashing was stopped") }
        return digest
    }

    // MARK: - On the executor

    /// Raises the limit up to which the file may be read. Returns whether a thread must be started.
    private static func advance(_ state: inout State, to end: Int64, stride: Int64) -> Bool {
        state.target = max(state.target, end)
        guard state.running == nil, state.part != nil, !state.isStopped, state.failure == nil, end - state.length >= stride else {
            return false
        }
        state.running = Outcome()
        return true
    }

    private func start() {
        BlockingExecutor.hashing.submit {
            while var work = self.next() {
                do throws(FileError) {
                    try work.part.hash(upTo: work.end, into: &work.digest)
                    self.put(work, nil)
                } catch {
                    self.put(work, error)
                }
            }
        }
    }

    /// Takes the digest for the next step. If no step is left, resumes the callers that wait for the end.
    private func next() -> Work? {
        let (work, running) = state.withLock { state -> (Work?, Outcome<Void>?) in
            if let part = state.part, let digest = state.digest, state.failure == nil, !state.isStopped,
                state.target > digest.length
            {
                state.digest = nil
                let end = min(state.target, digest.length + Self.longestPiece)
                state.reach = end
                return (Work(part: part, beginning: state.beginning, digest: digest, end: end), nil)
            }
            return (nil, state.running.take())
        }
        running?.set(())
        return work
    }

    private func put(_ work: Work, _ failure: FileError?) {
        state.withLock { state in
            guard state.beginning == work.beginning else { return }
            state.digest = work.digest
            state.length = work.digest.length
            state.failure = failure
        }
    }
}
