internal import CSystem
internal import Glibc
public import HTTPCore
internal import Synchronization
public import System

/// A regular file that is open for reading; closed when the last reference goes.
public final class FileHandle: Sendable {
    private let file: FileDescriptor
    /// Which file it is, how long, and when it was last modified, as of its opening.
    public let identity: FileIdentity

    var descriptor: Int32 { file.number }

    /// How many there are in the process: each is a descriptor.
    public static var count: Int { open.load(ordering: .relaxed) }

    private static let open = Atomic<Int>(0)

    /// Takes over a regular file whose identity is known.
    public init(_ file: FileDescriptor, identity: FileIdentity) {
        self.file = file
        self.identity = identity
        Self.open.add(1, ordering: .relaxed)
    }

    deinit {
        Self.open.subtract(1, ordering: .relaxed)
    }

    /// Bytes, when it was opened.
    public var size: Int64 { identity.size }

    /// Whether the byte there is in memory, as far as the kernel knows.
    func isCached(_ offset: Int64) -> Bool { pawl_is_cached(descriptor, offset) == 1 }

    /// Of what it is asked for at once the kernel reads no more than a disk takes at a time, and forgets the rest.
    private static let advicePiece: Int64 = 128 * 1024

    /// Has the kernel read what is asked for next, without waiting for it. What is in memory, judging by its ends, isn't asked for: the kernel
    /// would look at each of its pages.
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

    /// The time of the last modification as HTTP shows it.
    public var lastModified: HTTPDate { HTTPDate(secondsSinceEpoch: identity.modified / 1_000_000_000) }
}
