internal import DownloadCore
internal import System

/// A copy of a verified part file in the folder of its path, which is on another file system than part files: another
/// branch of a union, a btrfs subvolume, an XFS project or a mount.
///
/// The copy has no name until it is whole (O_TMPFILE). Without files of that kind it has a hidden name, which the
/// download's note leads to after a crash.
struct FolderCopy: Sendable {
    let file: FileDescriptor
    private let directory: Directory
    /// The hidden name; `nil` if the copy has none.
    let name: String?
    let identity: FileIdentity

    /// The number of bytes after which an abandoned copy ends at the latest.
    private static let pieceLength = 16 << 20

    /// Returns the hidden name of a download's copy.
    static func name(of id: RecordID) -> String { ".pawl-\(id)" }

    /// Copies the part file of a publication, flushes the copy, and compares its digest. The publication's note must
    /// exist.
    /// - Parameters:
    ///   - directory: The folder.
    ///   - path: The path of the finished file, for messages.
    ///   - permissions: The mode of finished files; `nil` for access by the owner only.
    /// - Returns: `nil` if the publication was abandoned before its end.
    static func make(
        of publication: Publication, in directory: Directory, path: String, permissions: UInt32?
    ) throws(FileError) -> FolderCopy? {
        let hidden = name(of: publication.id)
        let unnamed = try? directory.openUnnamed()
        let file: FileDescriptor
        do throws(SystemError) {
            if unnamed == nil { try directory.remove(hidden) }
            file = if let unnamed { unnamed } else { try directory.open(hidden, .creating) }
        } catch {
            // An obstacle in the folder does not mean that bytes are missing.
            let found = FileError("copy to", path, directory.cause(of: error))
            throw found.meansNoBytes ? FileError(.other, found.message) : found
        }
        var isWhole = false
        defer { if !isWhole, unnamed == nil { _ = try? directory.remove(hidden) } }
        let part = PartFile(file, in: directory, path: path)
        guard try fill(part, from: publication, permissions) else { return nil }
        isWhole = true
        return FolderCopy(
            file: file, directory: directory, name: unnamed == nil ? hidden : nil, identity: try part.identity())
    }

    /// Removes the hidden name.
    func discard() {
        if let name { _ = try? directory.remove(name) }
    }

    /// - Returns: False if the publication was abandoned.
    private static func fill(_ copy: PartFile, from publication: Publication, _ permissions: UInt32?) throws(FileError) -> Bool {
        let source = publication.file
        _ = try copy.preallocate(source.length)
        for start in stride(from: 0, to: source.length, by: pieceLength) {
            guard publication.outcome.isOpen else { return false }
            try source.part.read(start..<min(start + Int64(pieceLength), source.length)) { bytes, offset throws(FileError) in
                try copy.write(bytes, at: offset)
            }
        }
        if let permissions { try copy.setPermissions(permissions) }
        if let modified = publication.modified { try copy.setModified(modified) }
        try copy.synchronizeBytes()
        var digest = FileDigest()
        try copy.hash(upTo: source.length, into: &digest)
        guard digest.sha256 == source.sha256 else {
            throw FileError(.other, "the copy to \(copy.path) has other bytes than the part file")
        }
        return publication.outcome.isOpen
    }
}
