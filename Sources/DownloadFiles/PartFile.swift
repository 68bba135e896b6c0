package import DownloadCore
internal import Synchronization
package import System

/// The file with a download's bytes until it is published. It is closed when the value is released.
package final class PartFile: Sendable {
    /// The path at which the file was opened, for messages. It may have been renamed since.
    package let path: String
    /// The generation of the part file; `nil` after its publication.
    package let generation: UInt64?
    private let file: FileDescriptor
    private let directory: Directory
    /// Whether the directory entry of the file is durable.
    private let isFindable = Atomic(false)
    /// Whether the file system has allocated blocks for all bytes. Fewer blocks later mean that the file was cut.
    private let isAllocated = Atomic(false)
    private let known: Locked<FingerprintedBytes>

    /// Creates a part file from a file that was opened in the directory.
    /// - Parameter known: The fingerprints of bytes that an earlier value has written.
    package init(
        _ file: FileDescriptor, in directory: Directory, path: String, generation: UInt64? = nil,
        known: FingerprintedBytes = FingerprintedBytes()
    ) {
        self.file = file
        self.known = Locked(known)
        self.generation = generation
        self.directory = directory
        self.path = path
    }

    /// The descriptor, which stays open while it is referenced.
    package var descriptor: FileDescriptor { file }

    /// Returns the identity and state of the file: any write changes its size or its time.
    package func identity() throws(FileError) -> FileIdentity { try status().identity }

    /// Returns the state of the file: any change of its bytes or status changes it.
    func status() throws(FileError) -> FileStatus {
        try describing("examine", path) { () throws(SystemError) in try file.status() }
    }

    /// Writes all bytes at an offset. Continues after a short write, so that a full disk is reported as an error.
    package func write(_ bytes: RawSpan, at offset: Int64) throws(FileError) {
        do throws(SystemError) {
            try file.write(bytes, at: offset)
        } catch {
            throw FileError("write", path, file.cause(of: error))
        }
    }

    /// Whether the file has these bytes at an offset.
    package func holds(_ bytes: RawSpan, at offset: Int64) throws(FileError) -> Bool {
        try describing("read", path) { () throws(SystemError) in try file.holds(bytes, at: offset) }
    }

    /// Sets the mode of the file. A changed mode is durable when this returns.
    package func setPermissions(_ permissions: UInt32) throws(FileError) {
        guard try status().permissions != permissions else { return }
        try describing("set the mode (--file-mode) of", path) { () throws(SystemError) in
            try file.setPermissions(permissions)
            try file.synchronize()
        }
    }

    /// Sets the time of the last write in seconds since 1970. A changed time is durable when this returns. A file system
    /// that refuses it keeps the present time.
    package func setModified(_ seconds: Int64) throws(FileError) {
        guard try status().identity.modified != seconds * 1_000_000_000, (try? file.setModified(seconds)) != nil else { return }
        try describing("flush", path, losesBytes: true) { () throws(SystemError) in try file.synchronize() }
    }

    /// Reserves blocks up to `length` bytes, so that a full disk is found before the transfer, and writes need no
    /// allocation.
    /// - Returns: Whether the blocks are reserved; false if the file system cannot.
    package func preallocate(_ length: Int64) throws(FileError) -> Bool {
        try describing("reserve space for", path) { () throws(SystemError) in
            guard try file.preallocate(length) else { return false }
            // Some file systems report success and allocate nothing.
            if try file.status().allocated >= length { isAllocated.store(true, ordering: .relaxed) }
            return true
        }
    }

    /// Checks that all written bytes are still there.
    /// - Throws: `.short` if the file was cut, even if later writes have extended it again: the missing bytes would
    ///   read as zeros.
    /// - Returns: The size of the file in bytes, including reserved ones.
    @discardableResult
    package func confirm(_ written: Coverage) throws(FileError) -> Int64 {
        let status = try status()
        let size = status.identity.size
        guard size >= written.end else { throw FileError(.short, "\(path) has \(size) bytes, and should have \(written.end)") }
        guard !isAllocated.load(ordering: .relaxed) || status.allocated >= written.byteCount else {
            throw FileError(.short, "\(path) lacks some of the \(written.byteCount) bytes that were written to it")
        }
        return size
    }

    /// Releases blocks that were reserved for missing bytes. This is best effort: some file systems cannot.
    package func release(allBut written: Coverage) {
        for gap in written.gaps(upTo: written.end) { file.punchHole(gap) }
        try? file.truncate(to: written.end)
    }

    /// Cuts off the reserved bytes after the last one.
    /// - Throws: `.short` if the file has fewer bytes. It is never extended: the missing bytes would read as zeros.
    package func cut(to length: Int64) throws(FileError) {
        let size = try confirm(Coverage(prefix: length))
        if size > length { try describing("truncate", path) { () throws(SystemError) in try file.truncate(to: length) } }
    }

    /// Waits until the written bytes are durable, and can be found under the file's name.
    package func synchronize() throws(FileError) {
        try synchronizeBytes()
        guard !isFindable.load(ordering: .relaxed) else { return }
        // The entry of a new file is durable once its directory is flushed. Until then, power loss could restore an
        // earlier file of that name.
        try describing("flush the directory of", path, losesBytes: true) { () throws(SystemError) in try directory.synchronize() }
        isFindable.store(true, ordering: .relaxed)
    }

    /// Waits until the written bytes are durable.
    func synchronizeBytes() throws(FileError) {
        do throws(SystemError) {
            try file.synchronizeData()
        } catch {
            throw FileError("flush", path, file.cause(of: error), losesBytes: true)
        }
    }

    /// Waits until the system has written the bytes whose write-back has begun.
    /// - Throws: An error in writing any of the bytes since the file was opened, unless it was reported before.
    package func awaitWriteBack() throws(FileError) {
        do throws(SystemError) {
            try file.awaitWriteBack()
        } catch {
            guard error.meansFailure else { return try synchronizeBytes() }
            throw FileError("flush", path, file.cause(of: error), losesBytes: true)
        }
    }

    /// The bytes whose fingerprints are known. They are never written again.
    package var fingerprinted: FingerprintedBytes { known.withLock(\.self) }

    /// Returns the fingerprint of each range of written bytes. Reads only bytes that have none yet.
    package func fingerprints(of written: Coverage) throws(FileError) -> [Fingerprint] {
        var bytes = fingerprinted
        for (range, gaps) in bytes.advance(to: written) {
            for gap in gaps {
                try read(gap) { bytes.add(Fingerprint(of: $0, at: $1), to: range) }
            }
        }
        known.withLock { $0 = bytes }
        return bytes.fingerprints
    }

    /// Returns the bytes that are allocated to the file.
    package func allocatedBytes() throws(FileError) -> Int64 { try status().allocated }

    /// Hashes the bytes from the length of `digest` up to `end`.
    /// - Throws: `.altered` if the bytes contradict the fingerprints that the digest compares.
    package func hash(upTo end: Int64, into digest: inout FileDigest) throws(FileError) {
        if digest.length < end { try read(digest.length..<end) { bytes, _ in digest.update(bytes) } }
        if digest.isContradicted { throw FileError(.altered, "\(path) has other bytes than those that were written to it") }
    }

    /// Reads a range in pieces that fit into the processor's cache.
    func read(_ range: Range<Int64>, _ body: (RawSpan, _ offset: Int64) throws(FileError) -> Void) throws(FileError) {
        var buffer = [UInt8](repeating: 0, count: Int(min(256 << 10, range.upperBound - range.lowerBound)))
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count: Int
            do throws(SystemError) {
                count = try file.read(into: &buffer, count: Int(min(Int64(buffer.count), range.upperBound - offset)), at: offset)
            } catch {
                throw FileError("read", path, error)
            }
            guard count > 0 else { throw FileError(.short, "\(path) ends at byte \(offset) of \(range.upperBound)") }
            unsafe try body(buffer.span.bytes.extracting(first: count), offset)
            offset += Int64(count)
        }
    }
}
