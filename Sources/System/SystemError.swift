internal import Glibc

/// The error number of a failed system call (errno(3)), with its kind and its text.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The error number.
    public let number: Int32

    /// Creates the error of a number.
    public init(_ number: Int32) {
        self.number = number
    }

    /// The error of the last failed call on this thread.
    public static var last: SystemError { SystemError(errno) }

    /// A class of errors that callers handle in the same way.
    public enum Kind: Sendable, Equatable {
        /// The file system has no space left, the quota is used up, or the file may not grow.
        case outOfSpace
        /// No entry has that name.
        case notFound
        /// An entry has that name already.
        case alreadyExists
        /// The name belongs to a symbolic link, a directory or another entry that is not a regular file.
        case notRegular
        /// The system or the file system lacks the operation.
        case unsupported
        /// The process or the system has reached a limit of descriptors or memory. A later attempt may succeed.
        case transient
        /// The device, or the process or server behind the file system, has failed or is gone; or nothing may be written.
        case device
        /// Anything else.
        case other
    }

    /// The kind of the error.
    public var kind: Kind {
        switch number {
        case ENOSPC, EDQUOT, EFBIG: .outOfSpace
        case ENOENT, ENOTDIR: .notFound
        case EEXIST: .alreadyExists
        case ELOOP, EISDIR, ENXIO: .notRegular
        case EOPNOTSUPP, ENOSYS: .unsupported
        // EBADF: a directory is closed while its volume is away.
        case EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN, EBADF: .transient
        case EIO, EROFS, ENODEV, ENOTCONN, ECONNABORTED, ESTALE, ESHUTDOWN, EHOSTDOWN, EREMOTEIO, ENOMEDIUM, EUCLEAN: .device
        default: .other
        }
    }

    /// Whether a file may get its name in another way than the one that failed. File systems report any error for a way
    /// that they lack: rclone EIO, CryFS ERANGE. No way remains if the name is taken or too long, its directory is gone,
    /// or nothing can be written.
    public var leavesOtherWays: Bool {
        ![.alreadyExists, .outOfSpace, .notFound].contains(kind) && number != EROFS && number != ENAMETOOLONG
    }

    /// Whether the file system is full, or its disk or server has failed. Any other error of an optional call only means
    /// that the file system lacks it.
    public var meansFailure: Bool {
        [.outOfSpace, .transient, .device].contains(kind) || number == ENXIO || number == ETIMEDOUT
    }

    /// Whether the two directories of a call are on different file systems or mounts.
    public var meansOtherFileSystem: Bool { number == EXDEV }

    /// Whether the device, or the process or server behind the file system, has failed or is gone.
    public var meansFailedDevice: Bool { kind == .device && number != EROFS && number != ENODEV }

    /// Whether the file system has failed, and works only after a new mount of the same disk.
    public var isFinal: Bool { [EIO, ESHUTDOWN, EUCLEAN].contains(number) }

    /// Whether the file system is mounted for reading only.
    public var meansReadOnly: Bool { number == EROFS }

    /// Whether the name is too long for the file system.
    public var meansNameTooLong: Bool { number == ENAMETOOLONG }

    /// Whether a shorter name may be accepted. SFTP, and so sshfs, reports EBADMSG for a name that is too long.
    public var mayMeanNameTooLong: Bool { meansNameTooLong || number == EBADMSG }

    /// The system's text of the error.
    public var description: String {
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }

    /// The error for a name that is taken.
    public static let alreadyExists = SystemError(EEXIST)

    /// The error for text that cannot be the name of an entry.
    static let invalidName = SystemError(EINVAL)

    /// Repeats a call until no signal interrupts it (EINTR). Negative results are thrown as errors.
    @discardableResult
    static func retrying<Result: SignedInteger>(_ call: () -> Result) throws(SystemError) -> Result {
        while true {
            let result = call()
            if result >= 0 { return result }
            if errno != EINTR { throw .last }
        }
    }
}
