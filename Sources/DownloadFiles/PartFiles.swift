package import DownloadCore
package import System

/// The part files of unfinished downloads, in a directory of this machine.
///
/// A verified part file gets the name of a whole one (``PartName``). A small file that arrived in one piece has it already.
/// The file then gets its final name by a hard link. Linking is one step and never replaces another file. The first name
/// is removed once the record includes the second. After a crash in between, a whole file with another name under `files`
/// has been published. A part file with a link elsewhere has not. Some file systems number names instead of files. There, a
/// note about the publication tells.
///
/// Without hard links, the part file is renamed, beside a note about it. If it cannot be renamed exclusively, an empty
/// file first reserves the name (O_EXCL). The part file is renamed over the reservation if that is still the same empty
/// file. If it cannot be renamed over a file, the reservation is removed. The part file is then renamed if the name is
/// still free.
///
/// If the folder is on another file system, the file is copied into it (``FolderCopy``), beside a note.
package final class PartFiles: Sendable {
    /// The known part files by download.
    private struct Parts {
        /// Whether the directory has been listed, so that the part files of earlier runs are known.
        var isListed = false
        var names: [RecordID: [PartName]] = [:]

        mutating func add(_ name: PartName) {
            if names[name.id]?.contains(name) != true { names[name.id, default: []].append(name) }
        }

        mutating func remove(_ name: PartName) {
            let others = names[name.id]?.filter { $0 != name } ?? []
            names[name.id] = others.isEmpty ? nil : others
        }
    }

    private let directory: DataDirectory
    private var incomplete: Directory { directory.incomplete }
    private let permissions: FilePermissions
    /// The path of the directory, for messages.
    private let incompletePath: String
    private let operations: Operations
    private let parts = Locked(Parts())
    /// The reason that no file can be written to `incomplete` or moved to `files`; `nil` unless a trial has found one.
    private let refusal = Locked<FileError?>(nil)
    /// Whether both names of a linked file have its number and its number of links, as a trial has found.
    private let numbersFiles = Locked(false)
    /// Downloads that may have a note. Notes of earlier runs are known once the directory has been listed.
    private let notes = Locked<Set<RecordID>>([])
    /// The directory of finished files, into which part files are published.
    let folders: FinishedFolders

    package init(_ directory: DataDirectory, operations: Operations = Operations()) {
        self.directory = directory
        permissions = directory.permissions
        incompletePath = directory.incompletePath
        folders = FinishedFolders(directory)
        self.operations = operations
    }

    private static func note(_ id: RecordID) -> String { "\(id).publishing" }

    private func path(_ part: String) -> String { "\(incompletePath)/\(part)" }

    /// Returns the space of the file system of part files and finished files. May wait for the disk.
    package func space() throws(FileError) -> FileSystemSpace {
        try describing("examine the file system of", incompletePath) { () throws(SystemError) in
            try operations.space(incomplete)
        }
    }

    /// Waits until the file system has freed the space of removed files. Some free it seconds later otherwise.
    package func settleSpace() { try? incomplete.synchronizeFileSystem() }

    // MARK: - Opening and removing

    /// Opens an existing part file, to continue a download. Never creates one.
    /// - Parameters:
    ///   - generation: The generation in the download's record.
    ///   - length: The minimum number of bytes that the file must have.
    ///   - durable: The durable bytes of the download's record, which the file should have.
    /// - Throws: `.missing`, `.short` or `.notRegular` if the download cannot be continued from it.
    package func openPart(
        _ id: RecordID, _ generation: UInt64?, holding length: Int64, durable: [SyncedSegment] = []
    ) throws(FileError) -> PartFile {
        let known = try names(of: id).first { $0.generation == generation }
        guard let name = (known ?? generation.map { PartName(id, $0) })?.text else {
            throw FileError(.missing, "download \(id) has no part file")
        }
        let path = path(name)
        let (descriptor, status) = try incomplete.open(name, .writing, describedAs: path)
        guard status.identity.size >= length else {
            throw FileError(.short, "\(path) has \(status.identity.size) bytes, and should have \(length)")
        }
        return PartFile(
            descriptor, in: incomplete, path: path, generation: generation, known: FingerprintedBytes(durable))
    }

    /// Returns the generation of a part file to create.
    package static func newGeneration() -> UInt64 { .random(in: .min ... .max) }

    /// Creates an empty part file of a new generation.
    /// - Parameters:
    ///   - generation: The generation; `nil` for a random one.
    ///   - keepsOthers: Whether the record may still count on bytes of an earlier generation. Otherwise those part files
    ///     are removed.
    ///   - sha256: The SHA-256 of the bytes that will be written at once, if they are a whole small file.
    package func createPart(
        _ id: RecordID, _ generation: UInt64? = nil, keepsOthers: Bool, whole sha256: [UInt8]? = nil
    ) throws(FileError) -> PartFile {
        if let refusal = refusal.withLock(\.self) { throw refusal }
        // A part file that cannot be removed does no harm. The next start tries again.
        let others = try names(of: id)
        if !keepsOthers { _ = try? remove(others) }
        let generation = generation ?? Self.newGeneration()
        let name = PartName(id, generation, whole: sha256)
        let path = path(name.text)
        let file = try describing("create", path) { () throws(SystemError) in
            do throws(SystemError) { return try incomplete.open(name.text, .creating) } catch {
                throw incomplete.cause(of: error)
            }
        }
        parts.withLock { $0.add(name) }
        do throws(FileError) {
            // Other users have no access to `incomplete`. The first flush of the file makes the mode durable, so that
            // publishing need not.
            try setMode(of: file, path)
        } catch {
            _ = try? remove([name])
            throw error
        }
        return PartFile(file, in: incomplete, path: path, generation: generation)
    }

    /// Sets the mode of finished files on a new part file.
    private func setMode(of file: FileDescriptor, _ path: String) throws(FileError) {
        guard let mode = permissions.file else { return }
        try describing("set the mode (--file-mode) of", path) { () throws(SystemError) in try file.setPermissions(mode) }
    }

    /// Removes the part file of one generation.
    package func removePart(_ id: RecordID, _ generation: UInt64?) throws(FileError) -> RemovedFiles {
        try remove(names(of: id).filter { $0.generation == generation })
    }

    /// Removes the part files of all other generations. Called once the record no longer counts on their bytes.
    package func removeOtherParts(_ id: RecordID, than generation: UInt64?) throws(FileError) -> RemovedFiles {
        try remove(names(of: id).filter { $0.generation != generation })
    }

    /// Removes all files of an unfinished download.
    package func removeParts(_ id: RecordID) throws(FileError) -> RemovedFiles {
        let names = try names(of: id)
        let mayHaveNote = notes.withLock { $0.contains(id) }
        if mayHaveNote, let note = readNote(of: id) { removeReservation(of: id, note) }
        var removed = try remove(names)
        if mayHaveNote { removed.add(try remove([Self.note(id)])) }
        return removed
    }

    /// Forgets the known part files, because the directory may be another one.
    package func forgetParts() {
        parts.withLock { $0 = Parts() }
    }

    /// Returns the names of a download's part files.
    private func names(of id: RecordID) throws(FileError) -> [PartName] {
        if !parts.withLock({ $0.isListed }) {
            let found = try incomplete.entries(describedAs: incompletePath)
            notes.withLock { $0.formUnion(found.compactMap(Self.downloadOfNote)) }
            parts.withLock { parts in
                for name in found { if let name = PartName(name) { parts.add(name) } }
                parts.isListed = true
            }
        }
        return parts.withLock { $0.names[id] ?? [] }
    }

    private func remove(_ names: [PartName]) throws(FileError) -> RemovedFiles {
        var removed = RemovedFiles()
        for name in names {
            removed.add(try remove([name.text]))
            parts.withLock { $0.remove(name) }
        }
        return removed
    }

    private func remove(_ names: [String]) throws(FileError) -> RemovedFiles {
        var removed = RemovedFiles()
        for name in names {
            do throws(SystemError) { try removed.remove(name, from: incomplete) } catch {
                throw FileError("remove", path(name), error)
            }
        }
        return removed
    }

    // MARK: - Finishing

    /// Begins to hash a whole part file, to compare it with the expected checksums, and to flush it. The result is the
    /// verification's outcome.
    package func begin(_ verification: Verification) { operations.verify(verification) }

    /// Renames a verified and flushed part file to the name of a whole one. The new name is durable once the directory
    /// is flushed.
    /// - Returns: The part file with its new name; `nil` if no part file of the download is that file.
    @discardableResult
    func markWhole(_ publication: Publication) throws(FileError) -> Found? {
        guard var found = try find(publication) else { return nil }
        let name = found.name
        if name.sha256 == publication.file.sha256 { return found }
        let whole = PartName(name.id, name.generation, whole: publication.file.sha256)
        try describing("rename", path(name.text)) { () throws(SystemError) in
            try incomplete.rename(name.text, to: whole.text)
        }
        parts.withLock { parts in
            parts.remove(name)
            parts.add(whole)
        }
        found.name = whole
        return found
    }

    /// Makes a verified part file durable as a whole one while it waits for object storage.
    func keepWhole(_ publication: Publication) throws(FileError) {
        let file = publication.file
        try file.part.cut(to: file.length)
        try file.part.synchronizeBytes()
        try markWhole(publication)
        // If the flush fails, the next run may have to continue from the bytes in the record.
        try? incomplete.synchronize()
    }

    /// Makes the names of whole part files durable. At a start, they identify published files whose records do not
    /// include them yet.
    func synchronize() throws(FileError) {
        try describing("flush", incompletePath) { () throws(SystemError) in try incomplete.synchronize() }
    }

    /// The part file of a publication, as found by its name.
    struct Found {
        var name: PartName
        let identity: FileIdentity
        let links: UInt64
    }

    /// Finds the name of the part file that was written; `nil` if no part file of the download is that file.
    private func find(_ publication: Publication) throws(FileError) -> Found? {
        // A file that already has its name has no generation.
        let (identity, generation) = (try publication.file.part.identity(), publication.file.part.generation)
        for name in try names(of: publication.id) where name.generation == generation {
            if let status = try status(of: name), status.identity.isLikely(identity) {
                return Found(name: name, identity: status.identity, links: UInt64(status.links))
            }
        }
        return nil
    }

    /// The outcome of an attempt to give a part file a name.
    enum Naming {
        /// It has the name, with this identity.
        case given(FileIdentity)
        case taken
        /// The folder is on another file system, so the file must be copied.
        case elsewhere
    }

    /// Links or moves a part file, or its copy, to a path.
    func give(
        _ path: FilePath, to publication: Publication, _ part: PartName, _ identity: FileIdentity, in directory: Directory
    ) throws(FileError) -> Naming {
        let copy = publication.copy.withLock(\.self)
        do throws(SystemError) {
            if numbersFiles.withLock(\.self), copy == nil {
                do throws(SystemError) {
                    try operations.link(incomplete, part.text, directory, path.name)
                    return .given(identity)
                } catch {
                    guard error.leavesOtherWays else { throw error }
                }
            }
            // Checked before the note is written: the next start removes an empty file at the note's path, as an abandoned
            // reservation.
            if try directory.status(of: path.name) != nil { return .taken }
            try note(path, publication, part, copy?.identity ?? identity)
            if let copy {
                try give(path, to: copy, in: directory)
            } else if try operations.give(path.name, to: part.text, in: incomplete, directory) {
                parts.withLock { $0.remove(part) }
            }
            // Some file systems number names, and not files.
            let found = (try? directory.status(of: path.name))?.identity
            return .given(found?.size == publication.file.length ? found ?? identity : identity)
        } catch {
            if error.kind == .alreadyExists { return .taken }
            // A copy whose folder is gone is made again.
            if copy == nil ? error.meansOtherFileSystem : error.kind == .notFound { return .elsewhere }
            throw FileError("publish", folders.describe(path), directory.cause(of: error))
        }
    }

    private func note(
        _ path: FilePath, _ publication: Publication, _ part: PartName, _ identity: FileIdentity
    ) throws(SystemError) {
        let note = PublicationNote(
            path: path, identity: identity, sha256: publication.file.sha256, generation: part.generation)
        notes.withLock { _ = $0.insert(part.id) }
        try note.write(Self.note(part.id), in: incomplete)
    }

    private func give(_ path: FilePath, to copy: FolderCopy, in directory: Directory) throws(SystemError) {
        guard let name = copy.name else { return try directory.name(copy.file, as: path.name) }
        if try !operations.give(path.name, to: name, in: directory, directory) { copy.discard() }
    }

    /// Copies a part file into the folder of its path.
    /// - Returns: `nil` if the publication was abandoned before its end.
    func copy(_ publication: Publication, to folder: FinishedFolders.Folder) throws(FileError) -> FolderCopy? {
        let path = FilePath(publication.path.name, in: folder.path)
        guard let found = try find(publication), let directory = folder.chain.last else {
            throw FileError(.missing, "the part file of \(publication.id) is not the file that was written")
        }
        // So that the next start finds what a crash leaves of the copy.
        try describing("publish", folders.describe(path)) { () throws(SystemError) in
            try note(path, publication, found.name, found.identity)
        }
        return try FolderCopy.make(
            of: publication, in: directory, path: folders.describe(path), permissions: permissions.file)
    }

    /// Removes what an earlier run has left in a folder because it ended before it gave the file its name: the empty file
    /// that reserves the name, and the copy.
    private func removeReservation(of id: RecordID, _ note: PublicationNote) {
        guard let directory = try? folders.find(note.path.folder) else { return }
        _ = try? directory.remove(FolderCopy.name(of: id))
        guard note.identity.size > 0, let status = try? directory.status(of: note.path.name), status.kind == .regular,
            status.identity.size == 0
        else { return }
        _ = try? directory.remove(note.path.name)
    }

    /// Removes files that only a crash before the record's commit would have needed.
    /// - Parameter handler: Called at the end with the error; `nil` if there was none.
    func finishPublishing(_ id: RecordID, then handler: (FileError?) -> Void) {
        do throws(FileError) {
            try finishPublishing(id)
            handler(nil)
        } catch {
            handler(error)
        }
    }

    private func finishPublishing(_ id: RecordID) throws(FileError) {
        for name in try names(of: id) {
            try describing("remove", path(name.text)) { () throws(SystemError) in _ = try incomplete.remove(name.text) }
            parts.withLock { $0.remove(name) }
        }
        guard notes.withLock({ $0.remove(id) != nil }) else { return }
        let note = Self.note(id)
        try describing("remove", path(note)) { () throws(SystemError) in _ = try incomplete.remove(note) }
    }

    // MARK: - Trial

    /// The names of the trial's file. The first is as long as the longest name of a part file, which not all file
    /// systems allow.
    private static let trialName = ".trial" + String(repeating: "-", count: PartName.longest - 6)
    private static let newTrialName = ".pawl-trial"

    /// Tests the publication of a file, with a file that is then removed.
    /// - Parameter isHidden: Whether the file receives no name among finished files. Their directory is then only
    ///   tested for write permission.
    /// - Throws: The reason that no file can be published, or no part file created.
    package func tryPublishing(isHidden: Bool) throws(FileError) {
        let name = Self.trialName
        let target = isHidden ? incomplete : folders.top
        let targetPath = isHidden ? incompletePath : folders.path
        let newName = Self.newTrialName
        func clear() throws(FileError) {
            try describing("write to", incompletePath) { () throws(SystemError) in _ = try incomplete.remove(name) }
            try describing("write to", targetPath) { () throws(SystemError) in _ = try target.remove(newName) }
        }
        try describing("write to", folders.path) { () throws(SystemError) in try folders.top.checkWritable() }
        try clear()
        defer { try? clear() }
        let file = try describing("write to", incompletePath) { () throws(SystemError) in
            do throws(SystemError) { return try incomplete.open(name, .creating) } catch { throw incomplete.cause(of: error) }
        }
        try tryWriting(to: file)
        try setMode(of: file, "files in \(incompletePath)")
        do throws(SystemError) {
            do throws(SystemError) {
                let before = try incomplete.status(of: name)
                try operations.link(incomplete, name, target, newName)
                if !isHidden { try noteNumbers(of: name, before, target, newName) }
            } catch {
                guard error.leavesOtherWays else { throw error }
                try operations.move(name, from: incomplete, to: target, as: newName)
            }
        } catch {
            guard error.meansOtherFileSystem else { throw FileError("publish in", targetPath, target.cause(of: error)) }
            let failure = FileError(
                .other, "\(incompletePath) and \(folders.path) are not on one file system, or not in one mount: they have to be")
            refusal.withLock { $0 = failure }
            throw failure
        }
        if !isHidden { refusal.withLock { $0 = nil } }
        try clear()
        // Otherwise the trial's file could be among finished files after a power loss.
        guard !isHidden else { return }
        try describing("write to", targetPath) { () throws(SystemError) in try target.synchronize() }
    }

    /// Writes two bytes, the second one first, as the segments of a transfer do.
    private func tryWriting(to file: FileDescriptor) throws(FileError) {
        for offset: Int64 in [1, 0] {
            do throws(SystemError) {
                try unsafe file.write(([1] as [UInt8]).span.bytes, at: offset)
            } catch {
                let cause = file.cause(of: error)
                if cause.meansFailure || offset == 0 { throw FileError("write to", incompletePath, cause) }
                let failure = FileError(
                    .other,
                    "write to \(incompletePath): it takes the bytes of a file only in their order (\(error)); rclone mount "
                        + "takes them in any order with --vfs-cache-mode writes")
                refusal.withLock { $0 = failure }
                throw failure
            }
        }
    }

    /// Notes whether both names of a linked file show at once that they are names of one file.
    /// - Parameter before: The status before the link, which some file systems keep in a cache for a while.
    private func noteNumbers(
        of name: String, _ before: FileStatus?, _ directory: Directory, _ newName: String
    ) throws(SystemError) {
        let (first, second) = (try incomplete.status(of: name), try directory.status(of: newName))
        numbersFiles.withLock {
            $0 = before?.links == 1 && first?.links == 2 && second?.links == 2 && first?.identity == second?.identity
        }
    }

    // MARK: - Recovery

    /// Finds the bytes that an earlier run has left of an unfinished download.
    /// - Parameters:
    ///   - generation: The generation in the download's record.
    ///   - likelyPath: The path in the download's record. The file may have received another name.
    ///   - findsWhole: Whether a whole part file counts although the record has no generation. A small file that waits
    ///     for object storage has none.
    package func recover(
        _ id: RecordID, _ generation: UInt64?, likelyPath: FilePath?, findsWhole: Bool = false
    ) throws(FileError) -> RecoveredPart {
        let names = try names(of: id)
        for name in names {
            guard let sha256 = name.sha256, let status = try status(of: name), status.kind == .regular, status.links > 1,
                let path = try folders.path(of: status.identity, likely: likelyPath)
            else { continue }
            return .published(path: path, identity: status.identity, sha256: sha256, generation: name.generation)
        }
        if notes.withLock({ $0.contains(id) }), let note = readNote(of: id), let found = try file(of: note) {
            return .published(path: note.path, identity: found, sha256: note.sha256, generation: note.generation)
        }
        guard let name = names.first(where: { $0.generation == generation }), let status = try status(of: name) else {
            return findsWhole && generation == nil ? try wholePart(among: names) : .missing
        }
        guard status.kind == .regular else { return .missing }
        return whole(name, status) ?? .part(size: status.identity.size)
    }

    /// Returns the identity of the file at a note's path, if it is the published one; `nil` otherwise. Its number does not
    /// count, because some file systems number names.
    private func file(of note: PublicationNote) throws(FileError) -> FileIdentity? {
        guard let found = try folders.identify(note.path), found.size == note.identity.size else { return nil }
        if found.isLikely(note.identity) { return found }
        var digest = FileDigest()
        try openPublished(note.path, length: found.size).hash(upTo: found.size, into: &digest)
        return digest.sha256 == note.sha256 ? found : nil
    }

    /// Finds the whole part file of a download whose record has no generation. The generation of a small file is not
    /// recorded before it is published.
    private func wholePart(among names: [PartName]) throws(FileError) -> RecoveredPart {
        for name in names {
            guard let status = try status(of: name), status.kind == .regular, let whole = whole(name, status) else { continue }
            return whole
        }
        return .missing
    }

    /// Returns the bytes of a part file that is named as a whole one, if it is whole. A small one may have got its name
    /// before its bytes were durable.
    private func whole(_ name: PartName, _ status: FileStatus) -> RecoveredPart? {
        guard let sha256 = name.sha256 else { return nil }
        let size = status.identity.size
        if size <= PublishedFile.smallLength {
            let path = path(name.text)
            var digest = FileDigest()
            guard let (descriptor, _) = try? incomplete.open(name.text, .reading, describedAs: path),
                (try? PartFile(descriptor, in: incomplete, path: path).hash(upTo: size, into: &digest)) != nil,
                digest.sha256 == sha256
            else { return nil }
        }
        return .whole(size: size, sha256: sha256, generation: name.generation)
    }

    private func status(of name: PartName) throws(FileError) -> FileStatus? {
        try describing("examine", path(name.text)) { () throws(SystemError) in try incomplete.status(of: name.text) }
    }

    /// Opens a file of this length that already has its name, to verify it.
    package func openPublished(_ path: FilePath, length: Int64) throws(FileError) -> PartFile {
        PartFile(try folders.open(path, length: length).0, in: folders.top, path: folders.describe(path))
    }

    /// Removes the part files that no record counts on.
    /// - Parameter isKept: Returns whether the part file of a download and a generation is kept.
    /// - Returns: The names of things that are not Pawl's, and stay.
    @discardableResult
    package func removeOrphans(keeping isKept: (RecordID, UInt64?) -> Bool) throws(FileError) -> [String] {
        for name in try incomplete.entries(describedAs: incompletePath) {
            if let id = Self.downloadOfNote(name), let note = readNote(of: id) { removeReservation(of: id, note) }
        }
        let found = try orphans(keeping: isKept)
        for name in found.own {
            _ = try remove([name])
            if let part = PartName(name) { parts.withLock { $0.remove(part) } }
        }
        return found.foreign
    }

    /// Returns the names of all entries of `incomplete`, except part files and notes that are kept.
    /// - Returns: The names of Pawl's files, and the names of other entries, which are left alone.
    package func orphans(
        keeping isKept: (RecordID, UInt64?) -> Bool
    ) throws(FileError) -> (own: [String], foreign: [String]) {
        var found: (own: [String], foreign: [String]) = ([], [])
        for name in try incomplete.entries(describedAs: incompletePath) {
            // A trial may be in progress.
            if [Self.trialName, Self.newTrialName, DataDirectory.probeName].contains(name) { continue }
            if let part = PartName(name), isKept(part.id, part.generation) { continue }
            if let id = Self.downloadOfNote(name), let note = readNote(of: id), isKept(id, note.generation) {
                notes.withLock { _ = $0.insert(id) }
                continue
            }
            // Part files and notes of all releases begin with the download.
            let isOwn =
                RecordID(String(name.prefix { $0 != "." })) != nil && (try? incomplete.status(of: name))?.kind != .directory
            if isOwn { found.own.append(name) } else { found.foreign.append(name) }
        }
        return found
    }

    /// Reads the note of a download; `nil` if there is no valid one.
    private func readNote(of id: RecordID) -> PublicationNote? { PublicationNote(reading: Self.note(id), in: incomplete) }

    /// Returns the download whose note has this name; `nil` if it is not the name of a note.
    private static func downloadOfNote(_ name: String) -> RecordID? {
        let suffix = ".publishing"
        return name.hasSuffix(suffix) ? RecordID(String(name.dropLast(suffix.count))) : nil
    }

    /// Returns the identities of all files in the directory.
    func identities() throws(FileError) -> [FileIdentity] {
        try incomplete.entries(describedAs: incompletePath).compactMap { try? incomplete.status(of: $0)?.identity }
    }
}
