internal import Dispatch
internal import Threading

/// Turns complete part files into published files: hash, check, sync, link, sync the directory.
///
/// One thread takes everything that waits, so that many small files share one sync of the file system and one of the directory.
final class Finisher: Sendable {
    /// What is to be published.
    struct Order: Sendable {
        let id: DownloadID
        let part: PartFile
        /// The hash of the bytes so far, from the first on; what it lacks is read back.
        var digest: SHA256
        /// Bytes of the whole file.
        let length: Int64
        /// The name that was reserved.
        let name: String
        /// What the SHA-256 must be, if the client said so.
        let expected: Checksum?
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

    private struct Waiting {
        var orders: [(order: Order, reply: CheckedContinuation<Result<Published, Failure>, Never>)] = []
        var isRunning = false
    }

    private let directory: DataDirectory
    private let queue = DispatchQueue(label: "pawl.finisher")
    private let waiting = Locked(Waiting())

    init(directory: DataDirectory) {
        self.directory = directory
    }

    /// Publishes a file; durable when it returns.
    func finish(_ order: Order) async -> Result<Published, Failure> {
        await withCheckedContinuation { reply in
            let starts = waiting.withLock { waiting in
                waiting.orders.append((order, reply))
                defer { waiting.isRunning = true }
                return !waiting.isRunning
            }
            if starts { queue.async { self.run() } }
        }
    }

    private func run() {
        while true {
            let batch = waiting.withLock { waiting in
                defer { waiting.orders = [] }
                if waiting.orders.isEmpty { waiting.isRunning = false }
                return waiting.orders
            }
            if batch.isEmpty { return }
            for (outcome, entry) in zip(publish(batch.map(\.order)), batch) { entry.reply.resume(returning: outcome) }
        }
    }

    private func publish(_ orders: [Order]) -> [Result<Published, Failure>] {
        var outcomes = orders.map { order in verified(order) }
        if orders.count >= Finisher.sharedSyncThreshold, let first = orders.first {
            do throws(FileError) {
                try first.part.synchronizeFileSystem()
            } catch {
                outcomes = outcomes.map { $0.flatMap { _ in .failure(.file(error)) } }
            }
        } else {
            for (index, order) in orders.enumerated() where (try? outcomes[index].get()) != nil {
                do throws(FileError) {
                    try order.part.synchronize()
                } catch {
                    outcomes[index] = .failure(.file(error))
                }
            }
        }
        for (index, order) in orders.enumerated() {
            guard case .success(let published) = outcomes[index] else { continue }
            do throws(FileError) {
                outcomes[index] = .success(Published(name: try link(order), sha256: published.sha256))
            } catch {
                outcomes[index] = .failure(.file(error))
            }
        }
        do throws(FileError) {
            try FileSystem.synchronize(directory.filesPath)
        } catch {
            outcomes = outcomes.map { $0.flatMap { _ in .failure(.file(error)) } }
        }
        return outcomes
    }

    private func verified(_ order: Order) -> Result<Published, Failure> {
        var digest = order.digest
        do throws(FileError) {
            try order.part.truncate(to: order.length)
            try order.part.hash(upTo: order.length, into: &digest)
        } catch {
            return .failure(.file(error))
        }
        let actual = digest.hexadecimal()
        if let expected = order.expected, expected != (try? Checksum(parsing: "sha-256:" + actual)) {
            return .failure(.checksum(expected: expected.description, actual: "sha-256:" + actual))
        }
        return .success(Published(name: order.name, sha256: actual))
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
