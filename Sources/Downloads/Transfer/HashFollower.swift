internal import System

/// Hashes a part file from its start while its bytes arrive, some way behind them and on another thread, by reading them back from
/// memory that the system still holds. So the transfer does not wait for the hash, and the order in which segments arrive does not matter.
final class HashFollower: Sendable {
    /// Small files are hashed as they are received: handing them over would cost more.
    static let smallFile: Int64 = 1 << 20
    /// How far bytes get ahead before the follower is sent after them.
    private static let stride: Int64 = 1 << 20
    /// How much is hashed at a time; in between it can be stopped.
    fileprivate static let longestPiece: Int64 = 64 << 20

    fileprivate struct State {
        /// nil while it is being fed.
        var digest: FileDigest?
        var length: Int64
        /// How far the file may be read.
        var target: Int64 = 0
        var part: PartFile?
        var failure: FileError?
        var isStopped = false
        var completions: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Locked<State>

    /// A follower that has not begun.
    /// - Parameter algorithms: what is computed besides SHA-256.
    init(_ algorithms: some Sequence<Checksum.Algorithm> = []) {
        state = Locked(State(digest: FileDigest(algorithms), length: 0))
    }

    /// Bytes hashed so far.
    var length: Int64 { state.withLock { $0.length } }

    /// Feeds bytes that have just been written, if they are the next ones.
    func take(_ bytes: RawSpan, at offset: Int64) {
        state.withLock { state in
            guard var digest = state.digest, digest.length == offset else { return }
            state.digest = nil
            digest.update(bytes)
            state.length = digest.length
            state.digest = digest
        }
    }

    /// The first `end` bytes of the file are there: follows if it is worth it.
    func follow(_ part: PartFile, upTo end: Int64) {
        guard state.withLock({ $0.advance(part, to: end, stride: Self.stride) }) else { return }
        BlockingExecutor.hashing.submit { self.run() }
    }

    /// Hashes all that is missing up to `length`, and returns the digest of that many bytes.
    func complete(_ part: PartFile, upTo length: Int64) async throws(FileError) -> FileDigest {
        await withCheckedContinuation { continuation in
            let (isComplete, starts) = state.withLock { state in
                state.failure = nil
                let starts = state.advance(part, to: length, stride: 1)
                if !starts, state.part == nil { return (true, false) }
                state.completions.append(continuation)
                return (false, starts)
            }
            if isComplete { continuation.resume() }
            if starts { BlockingExecutor.hashing.submit { self.run() } }
        }
        return try result(upTo: length, part)
    }

    private func result(upTo length: Int64, _ part: PartFile) throws(FileError) -> FileDigest {
        let (digest, failure) = state.withLock { ($0.digest, $0.failure) }
        if let failure { throw failure }
        guard let digest, digest.length == length else {
            throw FileError(operation: "hash", path: part.path, code: 5)
        }
        return digest
    }

    /// Hashes no more; whoever waits for the digest is told that there is none.
    func stop() {
        state.withLock { $0.isStopped = true }
    }

    // MARK: - On the pool

    private func run() {
        while let (part, digest, end) = next() {
            var digest = digest
            do throws(FileError) {
                try part.hash(upTo: end, into: &digest)
                put(digest, nil)
            } catch {
                put(digest, error)
            }
        }
    }

    /// The next piece of work; none: those who wait for the end are told.
    private func next() -> (PartFile, FileDigest, Int64)? {
        let (work, completions) = state.withLock { state in state.takeWork() }
        for completion in completions { completion.resume() }
        return work
    }

    private func put(_ digest: FileDigest, _ failure: FileError?) {
        state.withLock { state in
            state.digest = digest
            state.length = digest.length
            state.failure = failure
        }
    }
}

extension HashFollower.State {
    /// Notes how far the file may be read; returns whether somebody has to be sent.
    fileprivate mutating func advance(_ part: PartFile, to end: Int64, stride: Int64) -> Bool {
        target = max(target, end)
        guard self.part == nil, failure == nil, end - length >= stride else { return false }
        self.part = part
        return true
    }

    /// Takes the digest to feed it up to the target, or ends the work.
    fileprivate mutating func takeWork() -> (
        work: (PartFile, FileDigest, Int64)?, completions: [CheckedContinuation<Void, Never>]
    ) {
        if let part, let digest, failure == nil, !isStopped, target > digest.length {
            self.digest = nil
            return ((part, digest, min(target, digest.length + HashFollower.longestPiece)), [])
        }
        part = nil
        defer { completions = [] }
        return (nil, completions)
    }
}
