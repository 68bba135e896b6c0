internal import System

/// A failed operation on a file.
struct FileError: Error, Sendable, Equatable {
    /// What a failure means for the download whose file it is.
    enum Kind: Sendable, Equatable {
        /// There is no room.
        case full
        /// The process or the system has too much open or allocated; another time there may be enough.
        case transient
        /// Nothing bears the name, or another file than the one that was meant.
        case missing
        /// The file is shorter than it has to be.
        case short
        /// What bears the name is no regular file: a link, a pipe, a directory.
        case notRegular
        /// The file system does not take a name that is so long.
        case nameTooLong
        /// Anything else.
        case other
    }

    let kind: Kind
    /// What was done, to which file, and why it failed, for people.
    let message: String
    /// Whether bytes that seemed written may not be on the disk. The system says so once; a later flush would seem to succeed.
    let losesBytes: Bool

    init(_ kind: Kind, _ message: String, losesBytes: Bool = false) {
        self.kind = kind
        self.message = message
        self.losesBytes = losesBytes
    }

    /// A system call that failed.
    /// - Parameter action: what was done, as one would say it before the path: "write", "open".
    init(_ action: String, _ path: String, _ error: SystemError, losesBytes: Bool = false) {
        let kind: Kind =
            switch error.kind {
            case .outOfSpace: .full
            case .transient: .transient
            case .notFound: .missing
            case .notRegular: .notRegular
            case .other where error.meansNameTooLong: .nameTooLong
            case .alreadyExists, .unsupported, .other: .other
            }
        self.init(kind, "\(action) \(path): \(error)", losesBytes: losesBytes)
    }

    /// Whether there are no bytes that a download could be continued from.
    var meansNoBytes: Bool { kind == .missing || kind == .short || kind == .notRegular }
}

/// Says of a failed system call what was done to which file.
func describing<Value: ~Copyable>(
    _ action: String, _ path: String, losesBytes: Bool = false, _ body: () throws(SystemError) -> Value
) throws(FileError) -> Value {
    do throws(SystemError) {
        return try body()
    } catch {
        throw FileError(action, path, error, losesBytes: losesBytes)
    }
}
