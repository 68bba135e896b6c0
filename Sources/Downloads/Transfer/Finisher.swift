internal import System

/// Turns complete part files into published files: hash, check, sync, link, sync the directory.
///
/// What a large file needs is done for several at once, on the pool. Then one thread takes everything that waits, so that many
/// small files share one sync of the file system and one of the directory.
final class Finisher: Sendable {
    /// What is to be published.
    struct Order: Sendable {
        let id: DownloadID
        let part: PartFile
        /// Has hashed the file's first bytes; what is missing is read back.
        let hasher: HashFollower
        /// Bytes of the whole file.
        let length: Int64
        /// The name that was reserved.
        let name: String
        /// What the file must match: what the client said, and the origin.
        let expected: [Checksum]
    }

    struct Published: Sendable, Equatable {
        /// The name it got: the reserved one, or the next free one if somebody put a file there.
        let name: String
        /// Lower-case hexadecimal.
        let sha256: String
    }

    enum Failure: Error, Equatable {
        case file(FileError)
        case checksum(expected: String, actual: String)
    }

    /// From so many files on, one sync of the file system costs less than one for each.
    static let sharedSyncThreshold = 5

    private struct Entry {
        let order: Order
        let sha256: String
        let reply: CheckedContinuation<Result<Published, Failure>, Never>
    }

    private struct Waiting {
        var entries: [Entry] = []
        var isRunning = false
    }

    private let directory: DataDirectory
    private let waiting = Locked(Waiting())

    init(directory: DataDirectory) {
        self.directory = directory
    }

    /// Publishes a file; durable when it returns.
    func finish(_ order: Order) async -> Result<Published, Failure> {
        switch await verified(order) {
        case .failure(let failure): .failure(failure)
        case .success(let sha256):
            await withCheckedContinuation { reply in
                let starts = waiting.withLock { waiting in
                    waiting.entries.append(Entry(order: order, sha256: sha256, reply: reply))
                    defer { waiting.isRunning = true }
                    return !waiting.isRunning
                }
                if starts { BlockingExecutor.publishing.submit { self.run() } }
            }
        }
    }

    /// Removes the name of a part file that bears another by now; not on the caller's thread, as directories may be slow.
    func forget(_ id: DownloadID) async -> FileError? {
        await withCheckedContinuation { reply in
            BlockingExecutor.disk.submit { [directory] in
                do throws(FileError) {
                    try FileSystem.remove(directory.part(id))
                    reply.resume(returning: nil)
                } catch {
                    reply.resume(returning: error)
                }
            }
        }
    }

    // MARK: - Each by itself

    /// The file's SHA-256, if it matches all that is expected of it.
    private func verified(_ order: Order) async -> Result<String, Failure> {
        // Large files are written back here, while they are hashed, so that those behind them in the row do not wait for them.
        async let syncFailure = order.length > HashFollower.smallFile ? synchronize(order.part) : nil
        do throws(FileError) {
            let digest = try await order.hasher.complete(order.part, upTo: order.length)
            for expected in order.expected {
                let actual = try await checksum(expected.algorithm, of: order, digest)
                if actual != expected {
                    return .failure(.checksum(expected: expected.description, actual: actual?.description ?? "unknown"))
                }
            }
            if let syncFailure = await syncFailure { return .failure(.file(syncFailure)) }
            return .success(digest.hexadecimal)
        } catch {
            return .failure(.file(error))
        }
    }

    /// A digest of the whole file. One that was not computed as the bytes came is computed from the file.
    private func checksum(
        _ algorithm: Checksum.Algorithm, of order: Order, _ digest: FileDigest
    ) async throws(FileError) -> Checksum? {
        if let checksum = digest.checksum(algorithm) { return checksum }
        return try await HashFollower([algorithm]).complete(order.part, upTo: order.length).checksum(algorithm)
    }

    private func synchronize(_ part: PartFile) async -> FileError? {
        await withCheckedContinuation { reply in
            BlockingExecutor.disk.submit {
                do throws(FileError) {
                    try part.synchronize()
                    reply.resume(returning: nil)
                } catch {
                    reply.resume(returning: error)
                }
            }
        }
    }

    // MARK: - All that wait together

    private func run() {
        while true {
            let batch = waiting.withLock { waiting in
                defer { waiting.entries = [] }
                if waiting.entries.isEmpty { waiting.isRunning = false }
                return waiting.entries
            }
            if batch.isEmpty { return }
            for (outcome, entry) in zip(publish(batch), batch) { entry.reply.resume(returning: outcome) }
        }
    }

    private func publish(_ batch: [Entry]) -> [Result<Published, Failure>] {
        let sharesSync = batch.count >= Finisher.sharedSyncThreshold
        var outcomes = batch.map { entry in
            Self.attempt { () throws(FileError) in
                let isLonger = try entry.order.part.size() != entry.order.length
                if isLonger { try entry.order.part.truncate(to: entry.order.length) }
                if !sharesSync { try entry.order.part.synchronize() }
                return Published(name: entry.order.name, sha256: entry.sha256)
            }
        }
        if sharesSync, let first = batch.first {
            let synced = Self.attempt { () throws(FileError) in try first.order.part.synchronizeFileSystem() }
            outcomes = outcomes.map { outcome in outcome.flatMap { value in synced.map { value } } }
        }
        for (index, entry) in batch.enumerated() {
            guard case .success = outcomes[index] else { continue }
            outcomes[index] = Self.attempt { () throws(FileError) in
                Published(name: try link(entry.order), sha256: entry.sha256)
            }
        }
        let synced = Self.attempt { () throws(FileError) in try FileSystem.synchronize(directory.filesPath) }
        return outcomes.map { outcome in outcome.flatMap { value in synced.map { value } } }
    }

    private static func attempt<Value>(_ body: () throws(FileError) -> Value) -> Result<Value, Failure> {
        do throws(FileError) {
            return .success(try body())
        } catch {
            return .failure(.file(error))
        }
    }

    private func link(_ order: Order) throws(FileError) -> String {
        // Not the path that the file was opened by: a replacement has been renamed since.
        let part = directory.part(order.id)
        var name = order.name
        var number = 2
        while try !FileSystem.publish(part, as: directory.file(name)) {
            // Already published by a run that ended before it could say so.
            if FileSystem.status(of: directory.file(name)) == FileSystem.status(of: part) { break }
            name = FileNaming.numbered(order.name, number)
            number += 1
        }
        return name
    }
}
