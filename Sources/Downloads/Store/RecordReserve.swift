internal import CSystem
internal import Glibc
internal import System

/// Room on the disk that only the records can take: on a disk that downloads have filled, what makes room again (a removal, a
/// cancellation) has to be recorded first.
///
/// Blocks behind the end of the record file and of its log are reserved, where SQLite does not see them and finds them when it
/// writes there. The log needs room for as many pages as gather until a checkpoint, the file for those of them that are new. Once
/// that cannot be had again, what would make the records more is refused, so that changes to those that are there go on fitting.
///
/// It belongs to one thread at a time. It has to outlast the connection: to close any descriptor of the file would drop the locks that
/// SQLite has on it (<https://www.sqlite.org/howtocorrupt.html>, section 2.2).
final class RecordReserve {
    private static let pageSize: Int64 = 4_096
    /// Bytes of the log's index, while the log has up to 8,000 pages.
    private static let indexSize: Int64 = 64 << 10

    /// Bytes reserved behind the end of the file, and from the beginning of the log.
    private let size: Int64
    private let file: File?
    private var log: File?
    /// The index is memory that the processes share, and its file has holes where blocks are smaller than pages: whoever writes there
    /// while there is no room dies of it.
    private var index: File?
    private var isLogReserved = false
    /// Whether the file system can reserve at all.
    private var isPossible = true
    /// The file as it was when room was last reserved: a checkpoint lengthens it, and gives the rest back.
    private var reserved: File.Extent?

    /// Opens the files, which are there once a connection has read from the record file.
    /// - Parameters:
    ///   - name: the record file, whose log is there too.
    ///   - directory: the directory that both are in.
    ///   - capacity: bytes that the file system has; 0 or less where it has no size.
    init(_ name: String, in directory: Directory, capacity: Int64) {
        size = Self.size(capacity: capacity)
        file = File(name, directory)
        log = File(name + "-wal", directory)
        index = File(name + "-shm", directory)
    }

    /// Bytes to reserve for each of file and log on a file system of this capacity.
    static func size(capacity: Int64) -> Int64 {
        capacity > 0 ? min(4 << 20, max(64 << 10, capacity / 32)) : 4 << 20
    }

    /// Pages in the log from which on they are to be moved into the file: three quarters of what is reserved, so that there is room left
    /// for a transaction.
    static func checkpointPages(capacity: Int64) -> Int64 {
        size(capacity: capacity) * 3 / 4 / pageSize
    }

    /// Reserves what is missing, or as much of it as there is room for.
    /// - Returns: false if there is no room for all; true if there is, or if it cannot be known.
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

    /// Keeps the room of all behind the file's end for the next start, which makes the log and its index anew. To be called when the
    /// connection has been closed, and they are gone.
    func keepForNextStart() {
        (log, index) = (nil, nil)
        guard isPossible, let file, let extent = file.extent() else { return }
        _ = file.reserve(from: extent.size, count: 2 * size + Self.indexSize)
    }

    /// What the outcome of a reservation means: only want of room counts. Where it fails for another reason, there is none.
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
    /// An open file of which only the blocks matter.
    private final class File {
        struct Extent: Equatable {
            /// Bytes up to its end.
            let size: Int64
            /// Bytes of its blocks, those behind its end included.
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

        /// Reserves in steps, so that what there is room for is had.
        /// - Returns: 0, or why it failed.
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
