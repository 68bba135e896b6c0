internal import Glibc

/// The error number of a failed system call (errno(3)), what it means to a caller, and its text.
public struct SystemError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The system's number.
    public let number: Int32

    /// The error of that number.
    public init(_ number: Int32) {
        self.number = number
    }

    /// That of the call that just failed on this thread.
    public static var last: SystemError { SystemError(errno) }

    /// What a caller can do about an error.
    public enum Kind: Sendable, Equatable {
        /// The file system has no room, the quota is used up, or the file may not grow.
        case outOfSpace
        /// Nothing has that name.
        case notFound
        /// Something has that name already.
        case alreadyExists
        /// The name is that of a link, a directory or something else that isn't a regular file.
        case notRegular
        /// The system or the file system can't do this at all.
        case unsupported
        /// The process or the system has too much open or allocated at the moment; another time there may be enough.
        case transient
        /// Anything else.
        case other
    }

    /// What it means.
    public var kind: Kind {
        switch number {
        case ENOSPC, EDQUOT, EFBIG: .outOfSpace
        case ENOENT, ENOTDIR: .notFound
        case EEXIST: .alreadyExists
        case ELOOP, EISDIR, ENXIO: .notRegular
        case EOPNOTSUPP, ENOSYS: .unsupported
        // EBADF: a directory that is closed while its volume is away.
        case EMFILE, ENFILE, ENOMEM, ENOBUFS, EAGAIN, EBADF: .transient
        default: .other
        }
    }

    /// Whether a file can't get a second name here, or not exclusively another one: the errors of file systems that don't know how differ.
    public var meansNoLinks: Bool {
        isUnsupported || [EPERM, EACCES, EMLINK, EXDEV, ENOTTY].contains(number)
    }

    /// Whether the file system doesn't know the call, or doesn't know it in this form.
    public var isUnsupported: Bool { kind == .unsupported || number == EINVAL || number == ENOTSUP }

    /// Whether the two directories of a call aren't on one file system, or not in one mount.
    public var meansOtherFileSystem: Bool { number == EXDEV }

    /// Whether the file system does not take a name that is so long.
    public var meansNameTooLong: Bool { number == ENAMETOOLONG }

    /// What the system says of it.
    public var description: String {
        unsafe strerror(number).map { unsafe String(cString: $0) } ?? "error \(number)"
    }

    /// Something has the name already.
    public static let alreadyExists = SystemError(EEXIST)

    /// What is not a name of an entry in a directory.
    static let invalidName = SystemError(EINVAL)

    /// Calls until no signal interrupts (EINTR); negative results are errors.
    @discardableResult
    static func retrying<Result: SignedInteger>(_ call: () -> Result) throws(SystemError) -> Result {
        while true {
            let result = call()
            if result >= 0 { return result }
            if errno != EINTR { throw .last }
        }
    }
}
