internal import CSystem
internal import Glibc

/// Small files that are read or written as a whole.
public enum SmallFile {
    /// The failure of an operation, with the system's reason.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The path and the system's reason.
        public let description: String
        /// Whether the file does not exist.
        public let isMissing: Bool
    }

    /// Reads the first `limit` bytes of a file.
    /// - Parameter patience: The maximum time until a pipe has been written and closed; anything but a pipe or a
    ///   regular file is refused. `nil`: any kind of file is read, without a time limit.
    /// - Parameter refusesOthers: Whether a file is refused that other users than the owner and the group can read.
    public static func read(
        _ path: String, limit: Int = 64 * 1024, within patience: Duration? = nil, refusingOthers refusesOthers: Bool = false
    ) throws(Failure) -> [UInt8] {
        let start = ContinuousClock.now
        // O_NONBLOCK: the open must not wait for a pipe's writer.
        let descriptor = unsafe pawl_open(path, patience == nil ? O_RDONLY : O_RDONLY | O_NONBLOCK | O_NOCTTY, 0)
        guard descriptor >= 0 else { throw failure("cannot read \(path)") }
        defer { close(descriptor) }
        if refusesOthers { try refuseOthers(descriptor, path) }
        var pipePatience: Duration?
        if let patience, try isPipe(descriptor, path) { pipePatience = patience }
        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < limit {
            if let pipePatience, !waitForInput(of: descriptor, until: start + pipePatience) {
                let lack = count == 0 ? "no byte arrived" : "it did not end"
                throw Failure(
                    description: "cannot read \(path): \(lack) within \(pipePatience.components.seconds) s", isMissing: false)
            }
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe Glibc.read(descriptor, buffer.baseAddress?.advanced(by: count), limit - count)
            }
            if got == 0 {
                guard count == 0, pipePatience != nil else { break }
                // The pipe seems to have no writer yet, but may be ready for reading. The pause keeps this from
                // spinning.
                _ = poll(nil, 0, 20)
                continue
            }
            if got < 0 {
                if errno == EINTR || errno == EAGAIN && pipePatience != nil { continue }
                throw failure("cannot read \(path)")
            }
            count += got
        }
        bytes.removeLast(limit - count)
        return bytes
    }

    /// Whether the descriptor is a pipe. Throws an error if it is neither a pipe nor a regular file.
    private static func isPipe(_ descriptor: Int32, _ path: String) throws(Failure) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("cannot read \(path)") }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return false
        case S_IFIFO: return true
        default: throw Failure(description: "cannot read \(path): it is not a regular file", isMissing: false)
        }
    }

    /// Refuses a file that other users than the owner and the group can read.
    private static func refuseOthers(_ descriptor: Int32, _ path: String) throws(Failure) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw failure("cannot read \(path)") }
        guard status.st_mode & S_IROTH == 0 else {
            throw Failure(
                description: "\(path) has secrets, and all users can read it: make it private with chmod 0600", isMissing: false)
        }
    }

    /// Waits for bytes, an end of file or a signal; `false` after the deadline.
    private static func waitForInput(of descriptor: Int32, until deadline: ContinuousClock.Instant) -> Bool {
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { return false }
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&poller, 1, Int32(clamping: Int(left / .milliseconds(1)) + 1))
        return true
    }

    /// Creates or replaces a file that only its owner can read. The previous file remains until all bytes are written.
    public static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        let (folder, name) = parts(of: path)
        do throws(SystemError) {
            try Directory(reaching: folder).write(bytes, to: name)
        } catch {
            throw Failure(description: "cannot write \(path): \(error)", isMissing: false)
        }
    }

    /// The directory and the name of a path.
    public static func parts(of path: String) -> (folder: String, name: String) {
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    /// The path of a name in a directory; just the name in the current one.
    public static func path(of name: String, in folder: String) -> String {
        folder == "." ? name : folder == "/" ? "/" + name : folder + "/" + name
    }

    /// The permissions of a new file by the user's umask. Reading the umask changes it for a moment, so call this
    /// before other threads create files.
    public static func defaultMode() -> UInt32 {
        let mask = umask(0)
        umask(mask)
        return 0o666 & ~mask
    }

    /// Creates a directory and its missing ancestors.
    public static func makeDirectory(_ path: String) throws(Failure) {
        var end = path.startIndex
        while end != path.endIndex {
            end = path[path.index(after: end)...].firstIndex(of: "/") ?? path.endIndex
            let prefix = String(path[..<end])
            if unsafe mkdir(prefix, 0o777) != 0, errno != EEXIST, end == path.endIndex {
                throw failure("cannot make \(path)")
            }
        }
    }

    private static func failure(_ action: String) -> Failure {
        let error = SystemError.last
        return Failure(description: "\(action): \(error)", isMissing: error.number == ENOENT)
    }
}
