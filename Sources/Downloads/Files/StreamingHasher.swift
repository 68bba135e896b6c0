internal import System

/// Hashes a part file from its start while its bytes arrive, some way behind them and on another thread, by reading them back from
/// memory that the system still holds. So the transfer does not wait for the hash, and the order in which segments arrive does not matter.
///
/// What it has computed belongs to the file that it is bound to, and is given up with it: bytes that nobody can read any more are
/// never vouched for.
final class StreamingHasher: Sendable {
    /// Small files are hashed as they are received, in bytes: handing them over would cost more.
    static let smallFile: Int64 = 1 << 20
    /// How far bytes get ahead before they are read back.
    private static let stride: Int64 = 1 << 20
    /// How much is hashed at a time; in between it can be stopped.
    private static let longestPiece: Int64 = 64 << 20

    private struct State {
        /// The file; `nil` while it rests.
        var part: PartFile?
        /// The file that it rests on, as it was then.
        var resting: FileIdentity?
        /// Tells which file a digest is of: grows when it starts from zero.
        var beginning = 0
        /// `nil` while it is being fed.
        var digest: FileDigest?
        /// Bytes hashed so far.
        var length: Int64 = 0
        /// How far they may be hashed when what is being fed is done.
        var reach: Int64 = 0
        /// How far the file may be read.
        var target: Int64 = 0
        /// Whether a thread is at work.
        var isRunning = false
        var failure: FileError?
        var isStopped = false
        var completions: [CheckedContinuation<Void, Never>] = []
    }

    private struct Work {
        let part: PartFile
        let beginning: Int
        var digest: FileDigest
        let end: Int64
    }

    private let algorithms: [Checksum.Algorithm]
    private let state: Locked<State>

    /// A hasher that has not begun, and is bound to no file.
    /// - Parameter algorithms: what is computed besides SHA-256.
    init(_ algorithms: some Sequence<Checksum.Algorithm> = []) {
        self.algorithms = Array(algorithms)
        state = Locked(State(digest: FileDigest(algorithms)))
    }

    /// Bytes hashed so far.
    var length: Int64 { state.withLock { $0.length } }

    // MARK: - The file

    /// Hashes that file from now on. Starts from zero unless it is the file that the hasher was bound to, unchanged since it rested on
    /// it. To be called before anything is done to the file.
    /// - Parameter prefix: how many of its first bytes are trusted. What was hashed beyond them does not count.
    func bind(to part: PartFile, holding prefix: Int64) {
        let identity = state.withLock { $0.resting } == nil ? nil : try? part.identity()
        state.withLock { state in
            let isSame = state.part === part || (state.part == nil && identity != nil && state.resting == identity)
            if !isSame || state.reach > prefix {
                state.beginning += 1
                state.digest = FileDigest(algorithms)
                state.length = 0
                state.reach = 0
            }
            state.part = part
            state.resting = nil
            state.target = state.length
            state.failure = nil
            state.isStopped = false
        }
    }

    /// Nothing is written for now: lets go of the file, and remembers which one it was.
    func rest() {
        state.withLock { state in
            guard let part = state.part else { return }
            state.resting = try? part.identity()
            state.part = nil
        }
    }

    /// Hashes no more; whoever waits for the digest is told that there is none. Binding it again ends that.
    func stop() {
        state.withLock { $0.isStopped = true }
    }

    // MARK: - Its bytes

    /// Feeds bytes that have just been written, if they are the next ones.
    func take(_ bytes: RawSpan, at offset: Int64) {
        state.withLock { state in
            guard state.part != nil, var digest = state.digest, digest.length == offset else { return }
            state.digest = nil
            digest.update(bytes)
            state.length = digest.length
            state.reach = digest.length
            state.digest = digest
        }
    }

    /// The first `end` bytes of the file are there: reads them back if it is worth it.
    func follow(upTo end: Int64) {
        if state.withLock({ Self.advance(&$0, to: end, stride: Self.stride) }) { start() }
    }

    /// The digest of the first `length` bytes, if those are exactly what has been hashed.
    func digest(of length: Int64) -> FileDigest? {
        state.withLock { state in
            guard !state.isRunning, !state.isStopped, let digest = state.digest, digest.length == length else { return nil }
            return digest
        }
    }

    /// Hashes all that is missing up to `length`, and returns the digest of that many bytes.
    func complete(upTo length: Int64) async throws(FileError) -> FileDigest {
        await withCheckedContinuation { continuation in
            let (isComplete, starts) = state.withLock { state in
                state.failure = nil
                let starts = Self.advance(&state, to: length, stride: 1)
                guard state.isRunning else { return (true, false) }
                state.completions.append(continuation)
                return (false, starts)
            }
            if isComplete { continuation.resume() }
            if starts { start() }
        }
        let (digest, failure) = state.withLock { ($0.digest, $0.failure) }
        if let failure { throw failure }
        guard let digest, digest.length == length else { throw FileError(.other, "hashing was stopped") }
        return digest
    }

    // MARK: - On the executor

    /// Says how far the file may be read; returns whether a thread has to be sent.
    private static func advance(_ state: inout State, to end: Int64, stride: Int64) -> Bool {
        state.target = max(state.target, end)
        guard !state.isRunning, state.part != nil, !state.isStopped, state.failure == nil, end - state.length >= stride else {
            return false
        }
        state.isRunning = true
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

    /// Takes the digest to feed it up to the target. Without more to do, those who wait for the end are told.
    private func next() -> Work? {
        let (work, completions) = state.withLock { state -> (Work?, [CheckedContinuation<Void, Never>]) in
            if let part = state.part, let digest = state.digest, state.failure == nil, !state.isStopped,
                state.target > digest.length
            {
                state.digest = nil
                let end = min(state.target, digest.length + Self.longestPiece)
                state.reach = end
                return (Work(part: part, beginning: state.beginning, digest: digest, end: end), [])
            }
            state.isRunning = false
            defer { state.completions = [] }
            return (nil, state.completions)
        }
        for completion in completions { completion.resume() }
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
