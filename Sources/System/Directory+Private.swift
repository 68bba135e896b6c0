internal import CSystem
internal import Glibc

/// A failure to open a private directory.
public struct PrivateDirectoryError: Error, Sendable, CustomStringConvertible {
    /// One sentence that names the directory.
    public let description: String
    /// Whether the directory was refused: it is not a directory, or other users could exchange its files. If false, the
    /// system failed to open it.
    public let isRefusal: Bool

    /// Creates an error with a sentence.
    public init(_ description: String, isRefusal: Bool = false) {
        self.description = description
        self.isRefusal = isRefusal
    }
}

extension Directory {
    /// Opens the parent of a private directory.
    public convenience init(parentOfPrivate path: String) throws(PrivateDirectoryError) {
        do throws(SystemError) {
            try self.init(reaching: path)
        } catch {
            throw PrivateDirectoryError("cannot use \(path): \(error)")
        }
    }

    /// Opens a directory in this one that no other user can write to, since other users could exchange the files in it.
    ///
    /// A symbolic link is followed if this user or root owns it. The checks use open descriptors, so renames during them
    /// have no effect.
    /// - Parameters:
    ///   - name: The directory's name.
    ///   - path: The directory's path, for messages.
    ///   - makes: Whether a missing directory is created, with access for its owner only.
    public func openPrivateDirectory(_ name: String, at path: String, makes: Bool = true) throws(PrivateDirectoryError)
        -> Directory
    {
        do {
            let isNew = makes ? try makeDirectory(name) : false
            var entry = try hold(name)
            try Self.checkOwner(entry, path)
            if let target = Self.target(of: entry) {
                entry = try openDirectory(at: target, from: descriptor)
                try Self.checkOwner(entry, path)
            }
            let status = try entry.status()
            guard status.kind == .directory else { throw PrivateDirectoryError("\(path) is not a directory", isRefusal: true) }
            // A new directory may have any mode: file systems without permissions show the mode that the operator chose
            // for all.
            guard isNew || status.permissions & 0o022 == 0 else {
                throw PrivateDirectoryError(
                    "other users may write to \(path), and could replace its files; chmod go-w \(path) prevents it",
                    isRefusal: true)
            }
            return Directory(try openDirectory(at: ".", from: entry))
        } catch let error as PrivateDirectoryError {
            throw error
        } catch {
            throw PrivateDirectoryError("cannot use \(path): \(error)")
        }
    }

    private static func checkOwner(_ entry: FileDescriptor, _ path: String) throws {
        let status = try entry.status()
        guard !status.isOwn else { return }
        throw PrivateDirectoryError(
            "\(path) belongs to another user (\(status.owner)), who could replace its files; use a directory of your own",
            isRefusal: true)
    }

    /// Opens the directory of a path. Links are followed.
    private func openDirectory(at path: String, from start: FileDescriptor) throws(SystemError) -> FileDescriptor {
        let number = start.number
        return FileDescriptor(
            owning: try SystemError.retrying { unsafe pawl_open_at(number, path, O_RDONLY | O_DIRECTORY, 0) })
    }

    /// The path that a symbolic link contains; `nil` for everything else.
    private static func target(of entry: FileDescriptor) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlinkat(entry.number, "", &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
}
