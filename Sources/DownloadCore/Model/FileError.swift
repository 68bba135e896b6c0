package import System

/// A failed operation on a file.
package struct FileError: Error, Sendable, Equatable {
    /// The kind of a failure, which decides how the file's download goes on.
    package enum Kind: Sendable, Equatable {
        /// The file system is full.
        case full
        /// The process or the system has too many open files or too little memory. A later attempt may succeed.
        case transient
        /// No file has the name, or another file than the expected one.
        case missing
        /// The file is shorter than required.
        case short
        /// The file has other bytes than those that were written to it.
        case altered
        /// The entry is not a regular file, but a link, a pipe or a directory, for example.
        case notRegular
        /// The name is too long for the file system.
        case nameTooLong
        /// Any other failure.
        case other
    }

    package let kind: Kind
    /// The operation, the file and the reason, for users.
    package let message: String
    /// Whether bytes that seemed written may not be on the disk. The system reports this only once; a later flush would
    /// seem to succeed.
    package let losesBytes: Bool

    package init(_ kind: Kind, _ message: String, losesBytes: Bool = false) {
        self.kind = kind
        self.message = message
        self.losesBytes = losesBytes
    }

    /// Creates the error of a failed system call.
    /// - Parameter action: The operation, as a verb that precedes the path, such as "write" or "open".
    package init(_ action: String, _ path: String, _ error: SystemError, losesBytes: Bool = false) {
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

    /// Whether there are no bytes from which a download could be continued.
    package var meansNoBytes: Bool { [.missing, .short, .altered, .notRegular].contains(kind) }
}

/// Adds the operation and the path to the error of a failed system call.
package func describing<Value: ~Copyable>(
    _ action: String, _ path: @autoclosure () -> String, losesBytes: Bool = false, _ body: () throws(SystemError) -> Value
) throws(FileError) -> Value {
    do throws(SystemError) {
        return try body()
    } catch {
        throw FileError(action, path(), error, losesBytes: losesBytes)
    }
}
