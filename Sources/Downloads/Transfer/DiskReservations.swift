internal import System

/// Keeps downloads that run at the same time from promising the same room twice.
///
/// Where the file system can, the room for a whole file is taken at once, and is gone for everybody. Where it cannot, what running
/// downloads have not written yet is counted here. Either way a download that would not fit does not begin.
final class DiskReservations: Sendable {
    /// Room that is left to others, in bytes: the records need some, too.
    private static let margin: Int64 = 4 << 20
    /// Files up to this many bytes are written at once, so that taking their room before would only cost time.
    private static let unclaimed: Int64 = 64 << 10

    private struct Claim {
        let total: Int64
        let counters: TransferCounters
    }

    private let claims = Locked<[DownloadID: Claim]>([:])

    /// Takes the room for a whole file.
    /// - Throws: `.full`, saying how much is wanted and how much there is.
    func reserve(_ total: Int64, in part: PartFile, for id: DownloadID, counters: TransferCounters) throws(FileError) {
        let space = try part.space()
        let failure = claims.withLock { claims -> FileError? in
            claims[id] = nil
            let wanted = max(0, total - space.allocated)
            let free = Int128(space.fileSystem.free) - Self.unwritten(claims)
            guard Self.suffices(free: free, wanted: wanted, size: space.fileSystem.size) else {
                return FileError(.full, "\(part.path) needs \(wanted) bytes, and \(max(0, free)) are free")
            }
            if total > Self.unclaimed { claims[id] = Claim(total: total, counters: counters) }
            return nil
        }
        if let failure { throw failure }
        guard total > Self.unclaimed else { return }
        do throws(FileError) {
            // What the file system keeps needs no claim.
            if try part.preallocate(total) { release(id) }
        } catch {
            release(id)
            throw error
        }
    }

    /// Whether there would be room for a whole file if so many bytes were freed.
    func fits(_ total: Int64, in part: PartFile, for id: DownloadID, freeing bytes: Int64) throws(FileError) -> Bool {
        let space = try part.space()
        let claimed = claims.withLock { Self.unwritten($0.filter { $0.key != id }) }
        return Self.suffices(
            free: Int128(space.fileSystem.free) - claimed + Int128(bytes), wanted: max(0, total - space.allocated),
            size: space.fileSystem.size)
    }

    /// Bytes that downloads have claimed, and not written yet.
    private static func unwritten(_ claims: [DownloadID: Claim]) -> Int128 {
        claims.values.reduce(0) { $0 + Int128(max(0, $1.total - $1.counters.received)) }
    }

    /// A download does not write any more.
    func release(_ id: DownloadID) {
        claims.withLock { $0[id] = nil }
    }

    /// Whether there is room for anything at all where a path is; true if the system does not say.
    static func hasRoom(at path: String) -> Bool {
        guard let space = try? FileSystemSpace(at: path) else { return true }
        return suffices(free: Int128(space.free), wanted: 1, size: space.size)
    }

    /// Whether so many bytes may be taken of those that are free on a file system of that size.
    static func suffices(free: Int128, wanted: Int64, size: Int64) -> Bool {
        // Some file systems have no size; what they have room for only writing will tell.
        wanted == 0 || size <= 0 || free - Int128(min(margin, size / 64)) >= wanted
    }
}
