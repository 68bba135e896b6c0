package import System

/// A failed operation on a file.
package struct FileError: Error, Sendable, Equatable {
    /// The kind of a failure, which decides how the file's download goes on.
    package enum Kind: Sendable, Equatable {
        /// The file system is full, and it is unknown whether it will have room for the file.
        case full
        /// The file system has too few free bytes at present. Only an examination finds this.
        case noRoom
        /// The file system or its device has failed, or this file alone.
        case device
        /// The volume, or the file system of the folder, is away or takes no writes. Only an examination finds this.
        case away
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
    /// The bytes that the file system must have free for the file; 0 if they are unknown.
    package let neededBytes: Int64
    /// The folder in which the operation failed, which may be on another file system than part files; empty: none.
    package var folder = ""

    package init(_ kind: Kind, _ message: String, losesBytes: Bool = false, neededBytes: Int64 = 0) {
        self.kind = kind
        self.message = message
        self.losesBytes = losesBytes
        self.neededBytes = neededBytes
    }

    /// The same error with another kind, as an examination has found it.
    package func found(_ kind: Kind) -> FileError {
        FileError(kind, message, losesBytes: losesBytes, neededBytes: neededBytes).of(folder)
    }

    /// The same error in this folder.
    package func of(_ folder: String) -> FileError {
        var error = self
        error.folder = folder
        return error
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
            case .device: .device
            case .other where error.mayMeanNameTooLong: .nameTooLong
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
