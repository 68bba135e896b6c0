package import DownloadCore
package import DownloadFiles
internal import System

/// Prevents running downloads from reserving the same disk space twice.
///
/// If the file system can, it allocates the space of a whole file at once, so that the space is no longer free.
/// Otherwise the bytes that running downloads have not written yet are counted here. In both cases, a download that
/// would not fit does not begin.
package final class DiskReservations: Sendable {
    /// The length in bytes up to which files are written at once. A reservation of their space would only take time.
    private static let unreserved: Int64 = 64 << 10

    private struct Reservation {
        let total: Int64
        let counters: TransferCounters
    }

    private let reservations = Locked<[RecordID: Reservation]>([:])
    /// The bytes that files up to ``unreserved`` may still write before the file system is asked again, and the time until
    /// which that holds.
    private let allowance = Locked<(bytes: Int64, end: ContinuousClock.Instant)>((0, .now))
    /// The maximum allowance in bytes, which is half of what files leave to others.
    private static let largestAllowance: Int64 = 2 << 20
    private static let allowanceTime: Duration = .milliseconds(100)

    /// Creates the reservations of a service without downloads.
    package init() {}

    /// Reserves the space of a whole file.
    /// - Throws: `.noRoom` or, for a file that is too large for the file system, `.full`, with the wanted and the free
    ///   bytes; or the failure of a system call.
    package func reserve(
        _ total: Int64, in part: PartFile, of partFiles: PartFiles, for id: RecordID, counters: TransferCounters
    ) throws(FileError) {
        if total <= Self.unreserved, takeAllowance(total) { return release(id) }
        let (space, allocated) = (try partFiles.space(), try part.allocatedBytes())
        let failure = reservations.withLock { reservations -> FileError? in
            reservations[id] = nil
            let wanted = max(0, total - allocated)
            let reserved = Self.unwritten(reservations)
            guard wanted == 0 || space.hasRoom(for: wanted, besides: reserved) else {
                let free = max(0, Int128(space.free) - reserved)
                return FileError(
                    space.mayHaveRoom(for: total) ? .noRoom : .full,
                    "\(part.path) needs \(wanted) bytes, and \(free) are free", neededBytes: wanted)
            }
            if total > Self.unreserved { reservations[id] = Reservation(total: total, counters: counters) }
            let left = Int64(clamping: Int128(space.usable ?? space.free) - reserved - Int128(wanted))
            allowance.withLock { $0 = (min(left, Self.largestAllowance), .now + Self.allowanceTime) }
            return nil
        }
        if let failure { throw failure }
        guard total > Self.unreserved else { return }
        do throws(FileError) {
            // Space that the file system has allocated needs no reservation.
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
    package func fits(
        _ total: Int64, in part: PartFile, of partFiles: PartFiles, for id: RecordID, freeing bytes: Int64
    ) throws(FileError) -> Bool {
        let reserved = reservations.withLock { Self.unwritten($0.filter { $0.key != id }) }
        let wanted = try max(0, total - part.allocatedBytes())
        if wanted == 0 { return true }
        let space = try partFiles.space()
        return space.hasRoom(for: wanted, besides: reserved - Int128(bytes))
    }

    /// The free bytes that running downloads will take.
    package var reservedBytes: Int128 { reservations.withLock { Self.unwritten($0) } }

    /// Returns the bytes that downloads have reserved and not written yet.
    private static func unwritten(_ reservations: [RecordID: Reservation]) -> Int128 {
        reservations.values.reduce(0) { $0 + Int128(max(0, $1.total - $1.counters.received)) }
    }

    /// Releases the space of a download that no longer writes.
    package func release(_ id: RecordID) {
        reservations.withLock { $0[id] = nil }
    }

    /// Whether there is any space on the file system of a path; `true` if the system does not say.
    package static func hasRoom(at path: String) -> Bool {
        (try? FileSystemSpace(at: path))?.hasRoom(for: 0) ?? true
    }
}
