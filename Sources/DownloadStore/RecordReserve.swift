internal import CSystem
internal import Glibc
internal import System

/// Disk space that only the records can use. On a disk filled by downloads, a removal or cancellation has to be
/// recorded before it can free space.
///
/// Blocks beyond the ends of the record file and of its log are reserved. SQLite does not see them, and fills them when
/// it writes there. The log needs space for all pages until a checkpoint; the file needs space for the new ones among
/// them. When the reserve cannot be refilled, changes that add records are refused, so that changes to existing records
/// still fit.
///
/// Belongs to one thread at a time, and must outlive the connection. Closing any descriptor of the file would drop the
/// locks that SQLite holds on it (<https://www.sqlite.org/howtocorrupt.html>, section 2.2).
final class RecordReserve {
    private static let pageSize: Int64 = 4_096
    /// Bytes of the log's index for a log of up to 8,000 pages.
    private static let indexSize: Int64 = 64 << 10

    /// Bytes reserved beyond the end of the file, and from the beginning of the log.
    private let size: Int64
    private let file: File?
    private var log: File?
    /// The log's index, which processes share as mapped memory. Its file has holes where blocks are smaller than pages.
    /// Writing to a hole while the disk is full kills the process.
    private var index: File?
    private var isLogReserved = false
    /// Whether the file system can reserve blocks.
    private var isPossible = true
    /// The extent of the file when blocks were last reserved. A checkpoint lengthens the file and releases the
    /// remaining blocks.
    private var reserved: File.Extent?

    /// Opens the files, which exist once a connection has read from the record file.
    /// - Parameters:
    ///   - name: The record file. Its log is in the same directory.
    ///   - directory: The directory of both.
    ///   - capacity: The size of the file system in bytes; 0 or less if it is unknown.
    init(_ name: String, in directory: Directory, capacity: Int64) {
        size = Self.size(capacity: capacity)
        file = File(name, directory)
        log = File(name + "-wal", directory)
        index = File(name + "-shm", directory)
    }

    /// Returns the bytes to reserve for each of file and log on a file system of this capacity.
    static func size(capacity: Int64) -> Int64 {
        capacity > 0 ? min(4 << 20, max(64 << 10, capacity / 32)) : 4 << 20
    }

    /// Returns the number of log pages that causes a checkpoint: three quarters of the reserve, which leaves room for a
    /// transaction.
    static func checkpointPages(capacity: Int64) -> Int64 {
        size(capacity: capacity) * 3 / 4 / pageSize
    }

    /// Reserves the missing blocks, or as many as there is room for.
    /// - Returns: False if there is too little room; true otherwise, or if that cannot be determined.
    func refill() -> Bool {
        guard isPossible, let file, let log else { return true }
        if !isLogReserved {
            guard isReserved(index?.reserve(from: 0, count: Self.indexSize) ?? 0) else { return false }
            guard isReserved(log.reserve(from: 0, count: size)) else { return false }
            isLogReserved = true
        }
        guard let extent = file.extent() else { return true }
        if extent == reserved { return true }
        guard isReserved(file.reserve(from: extent.size, count: size)) else { return false }
        reserved = file.extent()
        return true
    }

    /// Moves the whole reserve to the end of the record file, for the log and the index of the next start. Called after
    /// the connection has closed and both are removed.
    func keepForNextStart() {
        (log, index) = (nil, nil)
        guard isPossible, let file, let extent = file.extent() else { return }
        _ = file.reserve(from: extent.size, count: 2 * size + Self.indexSize)
    }

    /// Returns whether a reservation succeeded or failed only because the file system cannot reserve. Disables the
    /// reserve in the second case.
    private func isReserved(_ error: Int32) -> Bool {
        switch error {
        case 0: break
        case ENOSPC, EDQUOT: return false
        default: isPossible = false
        }
        return true
    }
}

extension RecordReserve {
    /// An open file whose blocks are reserved.
    private final class File {
        struct Extent: Equatable {
            /// Its size in bytes.
            let size: Int64
            /// Bytes of its blocks, including those beyond its end.
            let allocated: Int64
        }

        private let descriptor: FileDescriptor

        init?(_ name: String, _ directory: Directory) {
            guard let opened = try? directory.open(name, .writing) else { return nil }
            descriptor = opened
        }

        func extent() -> Extent? {
            guard let status = try? descriptor.status() else { return nil }
            return Extent(size: status.identity.size, allocated: status.allocated)
        }

        /// Reserves blocks in steps, so that a part of the range is reserved if there is no room for all.
        /// - Returns: 0, or the `errno` of the failure.
        func reserve(from offset: Int64, count: Int64) -> Int32 {
            var done: Int64 = 0
            while done < count {
                let step = min(count - done, max(count / 8, 64 << 10))
                if pawl_reserve_beyond(descriptor.number, offset + done, step) == 0 {
                    done += step
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }
}
