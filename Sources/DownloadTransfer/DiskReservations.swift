package import DownloadCore
package import DownloadFiles
internal import System

/// Prevents running downloads from reserving the same disk space twice.
///
/// If the file system can, it allocates the space of a whole file at once, so that the space is no longer free.
/// Otherwise the bytes that running downloads have not written yet are counted here. In both cases, a download that
/// would not fit does not begin.
package final class DiskReservations: Sendable {
    /// The number of bytes that are left to others, such as the records.
    private static let margin: Int64 = 4 << 20
    /// The length in bytes up to which files are written at once. A reservation of their space would only take time.
    private static let unclaimed: Int64 = 64 << 10

    private struct Claim {
        let total: Int64
        let counters: TransferCounters
    }

    private let claims = Locked<[DownloadID: Claim]>([:])
    /// The bytes that files up to ``unclaimed`` may still write before the file system is asked again, and the time until
    /// which that holds.
    private let allowance = Locked<(bytes: Int64, end: ContinuousClock.Instant)>((0, .now))
    /// The maximum allowance in bytes, which is half of ``margin``.
    private static let largestAllowance: Int64 = 2 << 20
    private static let allowanceTime: Duration = .milliseconds(100)

    /// Creates the reservations of a service without downloads.
    package init() {}

    /// Reserves the space of a whole file.
    /// - Throws: `.full` with the wanted and the free bytes, or the failure of a system call.
    package func reserve(_ total: Int64, in part: PartFile, for id: DownloadID, counters: TransferCounters) throws(FileError) {
        if total <= Self.unclaimed, takeAllowance(total) { return release(id) }
        let space = try part.space()
        let failure = claims.withLock { claims -> FileError? in
            claims[id] = nil
            let wanted = max(0, total - space.allocated)
            let free = Int128(space.fileSystem.free) - Self.unwritten(claims)
            guard Self.suffices(free: free, wanted: wanted, size: space.fileSystem.size) else {
                return FileError(.full, "\(part.path) needs \(wanted) bytes, and \(max(0, free)) are free")
            }
            if total > Self.unclaimed { claims[id] = Claim(total: total, counters: counters) }
            let left = Int64(clamping: free - Int128(Self.margin) - Int128(wanted))
            allowance.withLock { $0 = (min(left, Self.largestAllowance), .now + Self.allowanceTime) }
            return nil
        }
        if let failure { throw failure }
        guard total > Self.unclaimed else { return }
        do throws(FileError) {
            // Space that the file system has allocated needs no claim.
            if try part.preallocate(total) { release(id) }
        } catch {
            release(id)
            throw error
        }
    }

    /// Takes bytes from the allowance.
    /// - Returns: `false` if it has too few, or has ended. The file system must be asked then.
    private func takeAllowance(_ count: Int64) -> Bool {
        allowance.withLock { allowance in
            guard allowance.bytes >= count, .now < allowance.end else { return false }
            allowance.bytes -= count
            return true
        }
    }

    /// Whether a whole file of `total` bytes would fit if a number of bytes were freed.
    package func fits(_ total: Int64, in part: PartFile, for id: DownloadID, freeing bytes: Int64) throws(FileError) -> Bool {
        let space = try part.space()
        let claimed = claims.withLock { Self.unwritten($0.filter { $0.key != id }) }
        return Self.suffices(
            free: Int128(space.fileSystem.free) - claimed + Int128(bytes), wanted: max(0, total - space.allocated),
            size: space.fileSystem.size)
    }

    /// Returns the bytes that downloads have claimed and not written yet.
    private static func unwritten(_ claims: [DownloadID: Claim]) -> Int128 {
        claims.values.reduce(0) { $0 + Int128(max(0, $1.total - $1.counters.received)) }
    }

    /// Releases the space of a download that no longer writes.
    package func release(_ id: DownloadID) {
        claims.withLock { $0[id] = nil }
    }

    /// Whether there is any space on the file system of a path; `true` if the system does not say.
    package static func hasRoom(at path: String) -> Bool {
        guard let space = try? FileSystemSpace(at: path) else { return true }
        return suffices(free: Int128(space.free), wanted: 1, size: space.size)
    }

    /// Whether the wanted bytes may be taken from the free ones on a file system of this size.
    static func suffices(free: Int128, wanted: Int64, size: Int64) -> Bool {
        // Some file systems report no size. Only writing shows whether they have space.
        wanted == 0 || size <= 0 || free - Int128(min(margin, size / 64)) >= wanted
    }
}
