internal import DownloadCore
internal import System

/// The directory of finished files on this machine, and the folders in it.
struct FinishedFolders: Sendable {
    private let directory: DataDirectory
    /// The path of the directory, for messages.
    let path: String
    let permissions: FilePermissions
    var top: Directory { directory.files }
    private let made = Locked(Made())
    private let run = UInt64.random(in: .min ... .max)

    /// The extended attribute of folders that Pawl has made, with ``Proof/text``. No other folder is removed.
    private static let mark = "user.pawl.made"
    /// The maximum number of folders that are remembered without the attribute. Others stay when they are empty.
    private static let maximumMade = 10_000

    init(_ directory: DataDirectory) {
        self.directory = directory
        path = directory.filesPath
        permissions = directory.permissions
    }

    /// Returns the path of a file, for messages.
    func describe(_ path: FilePath) -> String { "\(self.path)/\(path)" }

    /// An open folder.
    struct Folder {
        /// The directories from `files` to the folder.
        let chain: [Directory]
        /// The path of the folder. Names that are too long for the file system are shortened.
        let path: String
    }

    /// The maximum number of times that a folder is created again after its removal by another operation.
    static let maximumLosses = 4

    /// Opens the directories from `files` to a folder. Each is opened in its parent, and never through a link, so that
    /// nothing outside is reached.
    func open(_ folder: String) throws(SystemError) -> [Directory] {
        var chain = [top]
        for name in FileNaming.names(ofFolder: folder) { chain.append(try chain[chain.count - 1].openDirectory(name)) }
        return chain
    }

    /// Opens the directories from `files` to a folder, and creates the missing ones.
    func make(_ folder: String) throws(FileError) -> Folder {
        var losses = 0
        while true {
            var chain = [top]
            var names: [String] = []
            do throws(SystemError) {
                for name in FileNaming.names(ofFolder: folder) {
                    let parent = chain[chain.count - 1]
                    let (made, isNew) = try Self.makeDirectory(name, in: parent)
                    let directory = try parent.openDirectory(made)
                    chain.append(directory)
                    names.append(made)
                    guard isNew else { continue }
                    noteMade(directory, names.joined(separator: "/"))
                    if let permissions = permissions.directory { try directory.setPermissions(permissions) }
                }
                return Folder(chain: chain, path: names.joined(separator: "/"))
            } catch {
                // A directory was removed between the calls, together with its last file.
                losses += 1
                if error.kind == .notFound, losses <= Self.maximumLosses { continue }
                let found = FileError("make", "\(path)/\(folder)", error)
                // An obstacle to the folder does not mean that bytes are missing.
                throw found.meansNoBytes ? FileError(.other, found.message) : found
            }
        }
    }

    /// Creates a directory if it is missing. A name that is too long for the file system is shortened.
    private static func makeDirectory(
        _ name: String, in parent: Directory
    ) throws(SystemError) -> (name: String, isNew: Bool) {
        var name = name
        while true {
            do throws(SystemError) {
                return (name, try parent.makeDirectory(name))
            } catch {
                guard error.mayMeanNameTooLong, let limit = FileNaming.limit(below: name.utf8.count) else { throw error }
                name = FileNaming.shortened(name, to: limit)
            }
        }
    }

    /// The difference between a folder that Pawl has made and any other one at its path, or with its attributes.
    private struct Proof: Equatable {
        let device: UInt64
        /// The digest of the path, the number and the time of birth. Copied, renamed and restored folders have others.
        let text: String
    }

    /// The folders that this run has made where directories have no extended attributes.
    private struct Made {
        /// The directory of finished files. After a new mount, other folders may have the same numbers.
        weak var top: Directory?
        /// The proofs, by the paths of the folders.
        var proofs: [String: Proof] = [:]
    }

    /// Returns the proof that a folder had if Pawl has made it.
    ///
    /// A file system in FUSE has no time of birth, and may number paths and not files. Without that time, the proof holds
    /// for this run only.
    private func proof(of directory: Directory, _ folder: String) -> Proof? {
        guard let identity = try? directory.status().identity else { return nil }
        let birth = directory.birthTime().map { "\($0)" } ?? "run \(run)"
        var digest = FileDigest()
        unsafe digest.update(Array("\(identity.inode) \(birth) \(folder)".utf8).span.bytes)
        return Proof(device: identity.device, text: Hexadecimal.encode(digest.sha256))
    }

    private func noteMade(_ directory: Directory, _ folder: String) {
        guard let proof = proof(of: directory, folder), !directory.mark(Self.mark, as: proof.text) else { return }
        made.withLock { [top] made in
            if made.top !== top { made = Made(top: top) }
            if made.proofs.count < Self.maximumMade { made.proofs[folder] = proof }
        }
    }

    private func hasMade(_ directory: Directory, _ folder: String) -> Bool {
        guard let proof = proof(of: directory, folder) else { return false }
        return directory.isMarked(Self.mark, as: proof.text)
            || made.withLock { [top] made in made.top === top && made.proofs[folder] == proof }
    }

    /// Removes a folder and its parents as far as they are empty, and Pawl has made them.
    /// - Returns: The directories that have lost an entry, and whether an empty folder stays because of its readers: some
    ///   file systems keep a removed file under a hidden name until it is closed.
    @discardableResult
    func removeEmpty(_ folder: String, _ chain: [Directory]) -> (changed: [Directory], isHeld: Bool) {
        var changed: [Directory] = []
        var names = FileNaming.names(ofFolder: folder)
        for (parent, directory) in zip(chain, chain.dropFirst()).reversed() {
            let folder = names.joined(separator: "/")
            let name = names.removeLast()
            guard hasMade(directory, folder) else { break }
            guard (try? parent.removeDirectory(name)) != nil else {
                let left = (try? directory.entries()) ?? []
                return (changed, !left.isEmpty && left.allSatisfy { $0.hasPrefix(".fuse_hidden") || $0.hasPrefix(".nfs") })
            }
            made.withLock { $0.proofs[folder] = nil }
            changed.append(parent)
        }
        return (changed, false)
    }

    /// Opens a folder; returns `nil` if it does not exist or is not a directory.
    func find(_ folder: String) throws(SystemError) -> Directory? {
        if folder.isEmpty { return top }
        do throws(SystemError) {
            return try open(folder).last
        } catch {
            guard error.kind == .notFound || error.kind == .notRegular || error.meansNameTooLong else { throw error }
            return nil
        }
    }

    /// Returns the identity of the regular file at a path; `nil` if there is none.
    func identify(_ path: FilePath) throws(FileError) -> FileIdentity? {
        let status = try describing("examine", describe(path)) { () throws(SystemError) in
            do throws(SystemError) { return try find(path.folder)?.status(of: path.name) } catch {
                // No entry can have a name that is too long for the file system.
                guard error.meansNameTooLong else { throw error }
                return nil
            }
        }
        return status?.kind == .regular ? status?.identity : nil
    }

    /// Opens a finished file of this length in bytes for reading.
    /// - Returns: The file, and its identity as the open file has it.
    /// - Throws: `.missing` if the file is missing or has another length.
    func open(_ path: FilePath, length: Int64) throws(FileError) -> (FileDescriptor, FileIdentity) {
        let directory = try describing("open", describe(path)) { () throws(SystemError) in try find(path.folder) }
        guard let directory else { throw FileError(.missing, "\(describe(path)) is not there") }
        let (descriptor, status) = try directory.open(path.name, .reading, describedAs: describe(path))
        guard status.identity.size == length else { throw FileError(.missing, "\(describe(path)) is another file") }
        return (descriptor, status.identity)
    }

    /// Returns the path of a finished file; `nil` if there is none. It may differ from the path in the record if
    /// another name was free when the file was published.
    func path(of identity: FileIdentity, likely: FilePath?) throws(FileError) -> FilePath? {
        if let likely, try identify(likely) == identity { return likely }
        return try search(for: identity, in: top, "", depth: 0)
    }

    /// Searches a folder for a file, and then the folders inside it. Links are not followed, and folders that cannot be
    /// opened are skipped.
    private func search(
        for identity: FileIdentity, in directory: Directory, _ folder: String, depth: Int
    ) throws(FileError) -> FilePath? {
        var folders: [String] = []
        for name in try directory.entries(describedAs: "\(path)/\(folder)") where FileNaming.isSafe(name) {
            guard let status = try? directory.status(of: name) else { continue }
            if status.kind == .regular, status.identity == identity { return FilePath(name, in: folder) }
            if status.kind == .directory, depth < FileNaming.deepestFolder { folders.append(name) }
        }
        for name in folders {
            guard let inner = try? directory.openDirectory(name) else { continue }
            let path = FilePath(name, in: folder).description
            if let found = try search(for: identity, in: inner, path, depth: depth + 1) { return found }
        }
        return nil
    }
}

extension Directory {
    /// Returns the names of all entries.
    /// - Parameter path: The path of the directory, for messages.
    func entries(describedAs path: String) throws(FileError) -> [String] {
        try describing("list", path) { () throws(SystemError) in try entries() }
    }

    /// Opens an entry that must be a regular file.
    /// - Parameter path: The path of the entry, for messages.
    func open(
        _ name: String, _ access: FileAccess, describedAs path: String
    ) throws(FileError) -> (FileDescriptor, FileStatus) {
        let (descriptor, status) = try describing("open", path) { () throws(SystemError) in
            let descriptor = try open(name, access)
            return (descriptor, try descriptor.status())
        }
        guard status.kind == .regular else { throw FileError(.notRegular, "\(path) is no regular file") }
        return (descriptor, status)
    }
}
