internal import CSystem
internal import Glibc
internal import System

/// The file of a Unix socket.
struct UnixSocketFile: Sendable {
    private let path: String
    /// The identity of the file, since another process may have replaced it.
    private let device: dev_t
    private let number: ino_t

    /// The maximum length of the path, in bytes. `sockaddr_un` also has room for the terminating NUL.
    static let longestPath = 107

    /// Listens on a socket of the path, with mode 0660. A file without a listening process is replaced. A file with
    /// one, and any file that is not a socket, is an error.
    static func listen(_ path: String, backlog: Int32) throws(ServerError) -> (Int32, UnixSocketFile) {
        guard var address = Address(path) else {
            throw .cannotListenOnPath(path, reason: "its path must have 1 to \(longestPath) bytes")
        }
        let descriptor = try open(path)
        do throws(ServerError) {
            if unsafe address.call(bind, descriptor) != 0 {
                guard errno == EADDRINUSE else { throw failure(path) }
                try removeStale(path, &address)
                guard unsafe address.call(bind, descriptor) == 0 else { throw failure(path) }
            }
            // No client can connect before `listen`. A link in place of the file is not followed.
            var status = stat()
            guard unsafe fchmodat(AT_FDCWD, path, 0o660, AT_SYMLINK_NOFOLLOW) == 0, unsafe lstat(path, &status) == 0,
                Glibc.listen(descriptor, backlog) == 0
            else { throw failure(path) }
            return (descriptor, UnixSocketFile(path: path, device: status.st_dev, number: status.st_ino))
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Removes the file, unless another one has replaced it.
    func remove() {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_dev == device, status.st_ino == number else { return }
        _ = unsafe unlink(path)
    }

    /// Removes the socket of a process that has ended.
    private static func removeStale(_ path: String, _ address: inout Address) throws(ServerError) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { throw failure(path) }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw .cannotListenOnPath(path, reason: "the path names a file that is not a socket")
        }
        let probe = try open(path)
        defer { close(probe) }
        guard unsafe address.call(connect, probe) != 0, errno == ECONNREFUSED else {
            throw .cannotListenOnPath(path, reason: "another process listens on it")
        }
        guard unsafe unlink(path) == 0 else { throw failure(path) }
    }

    private static func open(_ path: String) throws(ServerError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw failure(path) }
        return descriptor
    }

    private static func failure(_ path: String) -> ServerError {
        .cannotListenOnPath(path, reason: SystemError.last.description)
    }

    /// The path in the form of system calls.
    private struct Address {
        private var address = sockaddr_un()

        init?(_ path: String) {
            let bytes = Array(path.utf8)
            guard (1...UnixSocketFile.longestPath).contains(bytes.count), !bytes.contains(0) else { return nil }
            address.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        }

        /// Calls `bind` or `connect`.
        mutating func call(_ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ descriptor: Int32) -> Int32 {
            unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe function(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }
}
