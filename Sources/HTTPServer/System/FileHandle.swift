internal import CSystem
internal import Glibc
public import HTTPCore
internal import Synchronization
public import System

/// A regular file that is open for reading. It is closed when the last reference is released.
public final class FileHandle: Sendable {
    private let file: FileDescriptor
    /// The identity, length and time of modification of the file when it was opened.
    public let identity: FileIdentity

    var descriptor: Int32 { file.number }

    /// The number of handles in the process. Each has a descriptor.
    public static var count: Int { open.load(ordering: .relaxed) }

    private static let open = Atomic<Int>(0)

    /// Takes ownership of a regular file whose identity is known.
    public init(_ file: FileDescriptor, identity: FileIdentity) {
        self.file = file
        self.identity = identity
        Self.open.add(1, ordering: .relaxed)
    }

    deinit {
        Self.open.subtract(1, ordering: .relaxed)
    }

    /// The size of the file in bytes when it was opened.
    public var size: Int64 { identity.size }

    /// Whether the byte at the offset is in memory, as far as the kernel reports.
    func isCached(_ offset: Int64) -> Bool { pawl_is_cached(descriptor, offset) == 1 }

    /// The maximum bytes per advice. The kernel reads no more than a disk's maximum request at once, and ignores the
    /// rest.
    private static let advicePiece: Int64 = 128 * 1024

    /// Asks the kernel to read a range, without waiting. A range whose first and last bytes are in memory is skipped,
    /// since the kernel would check each of its pages.
    func prefetch(offset: Int64, count: Int) {
        if isCached(offset), isCached(offset + Int64(count) - 1) { return }
        var start = offset
        let end = offset + Int64(count)
        while start < end {
            let length = min(Self.advicePiece, end - start)
            _ = posix_fadvise(descriptor, off_t(start), off_t(length), Int32(POSIX_FADV_WILLNEED))
            start += length
        }
    }

    /// The time of the last modification in HTTP's resolution.
    public var lastModified: HTTPDate { HTTPDate(secondsSinceEpoch: identity.modified / 1_000_000_000) }
}
