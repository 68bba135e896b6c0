internal import Synchronization
internal import System

/// The file that holds a download's bytes until it is published; closed when the value goes away.
final class PartFile: Sendable {
    /// Where it was opened, for messages: it may have been renamed since.
    let path: String
    /// The generation of the part file; `nil` if its name tells none, or it has been published.
    let generation: UInt64?
    private let file: FileDescriptor
    private let directory: Directory
    /// Whether the entry by which it is found is on the disk.
    private let isFindable = Atomic(false)
    /// Whether the file system has given it blocks for all its bytes: fewer blocks later on mean that it was cut.
    private let isAllocated = Atomic(false)

    /// A file that was opened in that directory.
    init(_ file: FileDescriptor, in directory: Directory, path: String, generation: UInt64? = nil) {
        self.file = file
        self.generation = generation
        self.directory = directory
        self.path = path
    }

    /// The same file, open for as long as anybody has this.
    var descriptor: FileDescriptor { file }

    /// Which file it is, and in which state: any write changes its size or its time.
    func identity() throws(FileError) -> FileIdentity { try status().identity }

    /// Bytes.
    func size() throws(FileError) -> Int64 { try status().identity.size }

    private func status() throws(FileError) -> FileStatus {
        try describing("examine", path) { () throws(SystemError) in try file.status() }
    }

    /// Writes all bytes at an offset. A short write goes on where it stopped, so that a full disk shows as its error.
    func write(_ bytes: RawSpan, at offset: Int64) throws(FileError) {
        do throws(SystemError) {
            try file.write(bytes, at: offset)
        } catch {
            throw FileError("write", path, error)
        }
    }

    /// Lets exactly those read it that the mode says. If that is a change, it is on the disk when this returns.
    func setPermissions(_ permissions: UInt32) throws(FileError) {
        guard try status().permissions != permissions else { return }
        try describing("set the mode (--file-mode) of", path) { () throws(SystemError) in
            try file.setPermissions(permissions)
            try file.synchronize()
        }
    }

    /// Reserves blocks up to `length` bytes, so that a full disk shows before the transfer and writes need no allocation.
    /// - Returns: whether the room is taken; false on file systems that cannot.
    func preallocate(_ length: Int64) throws(FileError) -> Bool {
        try describing("reserve space for", path) { () throws(SystemError) in
            guard try file.preallocate(length) else { return false }
            // Some file systems promise, and allocate nothing.
            if try file.status().allocated >= length { isAllocated.store(true, ordering: .relaxed) }
            return true
        }
    }

    /// Checks that bytes which were written are still there.
    /// - Throws: `.short` if somebody has cut the file, even if writing has made it grow since: what is missing would read as zeros.
    /// - Returns: the bytes of the file, reserved ones included.
    @discardableResult
    func confirm(_ written: Coverage) throws(FileError) -> Int64 {
        let status = try status()
        let size = status.identity.size
        guard size >= written.end else { throw FileError(.short, "\(path) has \(size) bytes, and should have \(written.end)") }
        guard !isAllocated.load(ordering: .relaxed) || status.allocated >= written.byteCount else {
            throw FileError(.short, "\(path) lacks some of the \(written.byteCount) bytes that were written to it")
        }
        return size
    }

    /// Gives back the room that was reserved for bytes which have not come. Best effort: some file systems cannot.
    func release(allBut written: Coverage) {
        for gap in written.gaps(upTo: written.end) { file.punchHole(gap) }
        try? file.truncate(to: written.end)
    }

    /// Cuts what was reserved beyond the last byte.
    /// - Throws: `.short` if the file does not have that many bytes. It is never extended: what is missing would read as zeros.
    func cut(to length: Int64) throws(FileError) {
        let size = try confirm(Coverage(prefix: length))
        if size > length { try describing("truncate", path) { () throws(SystemError) in try file.truncate(to: length) } }
    }

    /// Waits until the bytes written so far are on the disk, and will be found there under the file's name.
    func synchronize() throws(FileError) {
        try synchronizeBytes()
        guard !isFindable.load(ordering: .relaxed) else { return }
        // A new file's entry is on the disk once its directory is. Before, power loss could bring back the file that had the name.
        try describing("flush the directory of", path, losesBytes: true) { () throws(SystemError) in try directory.synchronize() }
        isFindable.store(true, ordering: .relaxed)
    }

    /// Waits until the bytes written so far are on the disk.
    func synchronizeBytes() throws(FileError) {
        try describing("flush", path, losesBytes: true) { () throws(SystemError) in try file.synchronizeData() }
    }

    /// Waits for the system to write what it has begun to write.
    /// - Throws: what went wrong with any of the bytes since the file was opened, unless that was said before.
    func awaitWriteBack() throws(FileError) {
        do throws(SystemError) {
            try file.awaitWriteBack()
        } catch {
            if error.kind == .unsupported { return try synchronizeBytes() }
            throw FileError("flush", path, error, losesBytes: true)
        }
    }

    /// The room of the file system, and what the file has taken of it, in bytes.
    func space() throws(FileError) -> (fileSystem: FileSystemSpace, allocated: Int64) {
        try describing("examine the file system of", path) { () throws(SystemError) in
            (try file.space(), try file.status().allocated)
        }
    }

    /// Feeds `digest` the bytes from its own length up to `end`, reading them back in pieces that stay in the processor's cache.
    func hash(upTo end: Int64, into digest: inout FileDigest) throws(FileError) {
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while digest.length < end {
            let count: Int
            do throws(SystemError) {
                count = try file.read(into: &buffer, count: Int(min(Int64(buffer.count), end - digest.length)), at: digest.length)
            } catch {
                throw FileError("read", path, error)
            }
            guard count > 0 else { throw FileError(.short, "\(path) ends at byte \(digest.length) of \(end)") }
            unsafe digest.update(buffer.span.bytes.extracting(first: count))
        }
    }
}
