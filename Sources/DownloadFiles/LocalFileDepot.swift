package import DownloadCore
package import System

/// Part files and finished files in two directories of this machine.
///
/// A verified part file gets the name of a whole one (``PartName``), and then its final name by a hard link. Linking is
/// one step and never replaces another file. The first name is removed once the record includes the second. After a
/// crash in between, a whole file with another name under `files` has been published. A part file with a link elsewhere
/// has not.
///
/// Without hard links, the part file is renamed, beside a note about it. If it cannot be renamed exclusively, an empty
/// file first reserves the name (O_EXCL). The part file is renamed over the reservation if that is still the same empty
/// file. If it cannot be renamed over a file, the reservation is removed. The part file is then renamed if the name is
/// still free.
package final class LocalFileDepot: FileDepot {
    /// The number of files from which one flush of the file system costs less than a flush of each file.
    static let sharedFlushThreshold = 5

    /// The system calls that give a file its name in another directory. Tests replace them.
    package struct Naming: Sendable {
        typealias Call = @Sendable (Directory, String, Directory, String) throws(SystemError) -> Void

        /// Gives the file a second name, which must be free.
        var link: Call = { (from, name, to, newName) throws(SystemError) in try from.link(name, to: to, as: newName) }
        /// Renames the file to a name that must be free.
        var rename: Call = { (from, name, to, newName) throws(SystemError) in
            try from.renameExclusively(name, to: to, as: newName)
        }
        /// Renames the file, and replaces the file with the new name.
        var replace: Call = { (from, name, to, newName) throws(SystemError) in
            try from.rename(name, to: to, as: newName)
        }
    }

    private struct Waiting {
        var publications: [Publication] = []
        /// Downloads whose records include their publications.
        var finished: [(DownloadID, @Sendable (FileError?) -> Void)] = []
        var isRunning = false

        var isEmpty: Bool { publications.isEmpty && finished.isEmpty }
    }

    /// The known part files by download.
    private struct Parts {
        /// Whether the directory has been listed, so that the part files of earlier runs are known.
        var isListed = false
        var names: [DownloadID: [PartName]] = [:]

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
    private var files: Directory { directory.files }
    private let permissions: FilePermissions
    /// The paths of the directories, for messages.
    private let incompletePath: String
    private let filesPath: String
    private let naming: Naming
    private let waiting = Locked(Waiting())
    private let parts = Locked(Parts())
    /// The reason that no file can be moved from `incomplete` to `files`; `nil` unless a trial has found one.
    private let division = Locked<FileError?>(nil)
    /// Downloads that may have a note.
    private let notes = Locked<Set<DownloadID>>([])
    /// Digests of finished files whose identities have changed, so that they are not read again for each request.
    private let hashes = Locked<[FileIdentity: [UInt8]]>([:])
    private static let maximumHashes = 1000

    package init(_ directory: DataDirectory, naming: Naming = Naming()) {
        self.directory = directory
        permissions = directory.permissions
        incompletePath = directory.incompletePath
        filesPath = directory.filesPath
        self.naming = naming
    }

    private static func note(_ id: DownloadID) -> String { "\(id).publishing" }

    private func path(_ part: String) -> String { "\(incompletePath)/\(part)" }
    private func file(_ path: FilePath) -> String { "\(filesPath)/\(path)" }

    package func freeBytes() throws(FileError) -> Int64 {
        try describing("examine the file system of", incompletePath) { () throws(SystemError) in try incomplete.space().free }
    }

    // MARK: - Part files

    package func openPart(_ id: DownloadID, _ generation: UInt64?, holding length: Int64) throws(FileError) -> PartFile {
        let known = try names(of: id).first { $0.generation == generation }
        guard let name = (known ?? generation.map { PartName(id, $0) })?.text else {
            throw FileError(.missing, "download \(id) has no part file")
        }
        let path = path(name)
        let (descriptor, status) = try open(name, in: incomplete, .writing, path)
        guard status.identity.size >= length else {
            throw FileError(.short, "\(path) has \(status.identity.size) bytes, and should have \(length)")
        }
        return PartFile(descriptor, in: incomplete, path: path, generation: generation)
    }

    package func createPart(_ id: DownloadID, keepsOthers: Bool) throws(FileError) -> PartFile {
        if let division = division.withLock(\.self) { throw division }
        // A part file that cannot be removed does no harm. The next start tries again.
        let others = try names(of: id)
        if !keepsOthers { _ = try? remove(others) }
        let generation = UInt64.random(in: .min ... .max)
        let name = PartName(id, generation)
        let path = path(name.text)
        let file = try describing("create", path) { () throws(SystemError) in try incomplete.open(name.text, .creating) }
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

    package func removePart(_ id: DownloadID, _ generation: UInt64?) throws(FileError) -> RemovedFiles {
        try remove(names(of: id).filter { $0.generation == generation })
    }

    package func removeOtherParts(_ id: DownloadID, than generation: UInt64?) throws(FileError) -> RemovedFiles {
        try remove(names(of: id).filter { $0.generation != generation })
    }

    package func removeParts(_ id: DownloadID) throws(FileError) -> RemovedFiles {
        if notes.withLock({ $0.contains(id) }), let (_, note) = readNote(Self.note(id)) { removeReservation(of: note) }
        var removed = try remove(names(of: id))
        removed.add(try remove([Self.note(id)]))
        return removed
    }

    package func forgetParts() {
        parts.withLock { $0 = Parts() }
    }

    /// Returns the names of a download's part files.
    private func names(of id: DownloadID) throws(FileError) -> [PartName] {
        if !parts.withLock({ $0.isListed }) {
            let found = try entries(of: incomplete, incompletePath)
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

    /// Opens an entry that must be a regular file.
    private func open(
        _ name: String, in directory: Directory, _ access: FileAccess, _ path: String
    ) throws(FileError) -> (FileDescriptor, FileStatus) {
        let (descriptor, status) = try describing("open", path) { () throws(SystemError) in
            let descriptor = try directory.open(name, access)
            return (descriptor, try descriptor.status())
        }
        guard status.kind == .regular else { throw FileError(.notRegular, "\(path) is no regular file") }
        return (descriptor, status)
    }

    // MARK: - Publishing

    package func begin(_ publication: Publication) {
        enqueue { $0.publications.append(publication) }
    }

    package func finishPublishing(_ id: DownloadID, then handler: @escaping @Sendable (FileError?) -> Void) {
        enqueue { $0.finished.append((id, handler)) }
    }

    private func enqueue(_ add: (inout Waiting) -> Void) {
        let starts = waiting.withLock { waiting in
            add(&waiting)
            defer { waiting.isRunning = true }
            return !waiting.isRunning
        }
        if starts { BlockingExecutor.publishing.submit { self.publishAllWaiting() } }
    }

    /// Publishes all waiting files on one thread. Many small files share one flush of the file system and one of the
    /// directory.
    private func publishAllWaiting() {
        while true {
            let batch = waiting.withLock { waiting in
                defer { waiting = Waiting(isRunning: !waiting.isEmpty) }
                return waiting
            }
            if batch.isEmpty { return }
            for (id, handler) in batch.finished {
                do throws(FileError) {
                    try finishPublishing(id)
                    handler(nil)
                } catch {
                    handler(error)
                }
            }
            if !batch.publications.isEmpty { publish(batch.publications) }
        }
    }

    private func publish(_ batch: [Publication]) {
        var whole: [(Publication, Found?)] = []
        for publication in flush(batch) {
            do throws(FileError) {
                whole.append((publication, try markWhole(publication)))
            } catch {
                publication.outcome.resolve(.failure(.file(error)))
            }
        }
        do throws(SystemError) {
            // At a start, these names identify published files whose records do not include them yet.
            try incomplete.synchronize()
        } catch {
            let failure = FileError("flush", incompletePath, error)
            for (publication, _) in whole { publication.outcome.resolve(.failure(.file(failure))) }
            return
        }
        for (folder, group) in Dictionary(grouping: whole, by: \.0.path.folder) { publish(group, in: folder) }
    }

    /// Gives files their names in one folder, and makes the names durable.
    private func publish(_ batch: [(Publication, Found?)], in folder: String) {
        var place: Place?
        var named: [(Publication, PublishedFile)] = []
        // Failures are reported last, after folders that were created in vain have been removed.
        var failed: [(Publication, FileError)] = []
        defer { for (publication, error) in failed { publication.outcome.resolve(.failure(.file(error))) } }
        for (publication, found) in batch where publication.outcome.commit() {
            do throws(FileError) {
                named.append((publication, try name(publication, found, in: folder, &place)))
            } catch {
                failed.append((publication, error))
            }
        }
        guard let place else { return }
        if named.isEmpty {
            removeEmpty(place.folder, place.chain)
            return
        }
        do throws(SystemError) {
            // Existing folders are flushed as well: a publication that created them may not have reached this point.
            for directory in place.chain.reversed() { try directory.synchronize() }
            for (publication, file) in named { publication.outcome.resolve(.success(file)) }
        } catch {
            let failure = FileError("flush", folder.isEmpty ? filesPath : "\(filesPath)/\(folder)", error)
            for (publication, _) in named { publication.outcome.resolve(.failure(.file(failure))) }
        }
    }

    /// Flushes the bytes of all files. Returns the publications that can go on.
    private func flush(_ batch: [Publication]) -> [Publication] {
        let unflushed = batch.count { !$0.file.isFlushed }
        // A flush of the file system reports an error of any file, and none that was reported before. So each file is
        // also asked for its errors.
        let sharesFlush = unflushed >= Self.sharedFlushThreshold && (try? files.synchronizeFileSystem()) != nil
        return batch.filter { publication in
            let file = publication.file
            do throws(FileError) {
                if let permissions = permissions.file { try file.part.setPermissions(permissions) }
                try file.part.cut(to: file.length)
                if sharesFlush {
                    try file.part.awaitWriteBack()
                } else if !file.isFlushed {
                    try file.part.synchronizeBytes()
                }
                return true
            } catch {
                publication.outcome.resolve(.failure(.file(error)))
                return false
            }
        }
    }

    /// Gives a file its reserved name, or the next free one.
    /// - Parameters:
    ///   - found: The part file.
    ///   - place: The folder, once it is open.
    private func name(
        _ publication: Publication, _ found: Found?, in folder: String, _ place: inout Place?
    ) throws(FileError) -> PublishedFile {
        let identity: FileIdentity
        if let found { identity = found.identity } else { identity = try publication.file.part.identity() }
        func published(_ path: FilePath) -> PublishedFile {
            PublishedFile(
                path: path, length: publication.file.length, sha256: publication.file.sha256, identity: identity)
        }
        let open: Place
        if let place { open = place } else { open = try make(folder) }
        place = open
        // The file was published by a run that ended before its record included that.
        if found?.links != 1, try identify(publication.path) == identity { return published(publication.path) }
        guard let found else {
            throw FileError(.missing, "the part file of \(publication.id) is not the file that was written")
        }
        return published(try name(publication, found.name, identity, in: folder, open, &place))
    }

    /// The part file of a publication, as found by its name.
    private struct Found {
        var name: PartName
        let identity: FileIdentity
        let links: UInt64
    }

    /// Finds the name of the part file that was written; `nil` if no part file of the download is that file.
    private func find(_ publication: Publication) throws(FileError) -> Found? {
        let identity = try publication.file.part.identity()
        for name in try names(of: publication.id) {
            if let status = try status(of: name), status.identity == identity {
                return Found(name: name, identity: identity, links: UInt64(status.links))
            }
        }
        return nil
    }

    /// Gives a part file the first free name, beginning with the reserved one.
    private func name(
        _ publication: Publication, _ part: PartName, _ identity: FileIdentity, in folder: String, _ opened: Place,
        _ place: inout Place?
    ) throws(FileError) -> FilePath {
        var open = opened
        var name = publication.path.name
        var number = 1
        var limit = FileNaming.longestName
        var losses = 0
        while true {
            let tried = number == 1 ? name : FileNaming.numbered(name, number, limit: limit)
            let path = FilePath(tried, in: open.folder)
            do throws(FileError) {
                if try give(path, to: publication, part, identity, in: open.chain.last ?? files) { return path }
                number += 1
                if number > Self.maximumNames {
                    throw FileError(.other, "publish \(file(publication.path)): no name is free up to \(tried)")
                }
            } catch {
                if error.kind == .nameTooLong, let shorter = FileNaming.limit(below: tried.utf8.count) {
                    limit = shorter
                    name = FileNaming.shortened(name, to: limit)
                    number = 1
                    continue
                }
                // The last file of the folder has just been removed, and the folder with it.
                guard error.kind == .missing, !folder.isEmpty, losses < Self.maximumLosses else { throw error }
                losses += 1
                open = try make(folder)
                place = open
            }
        }
    }

    /// An open folder.
    private struct Place {
        /// The directories from `files` to the folder.
        let chain: [Directory]
        /// The path of the folder. Names that are too long for the file system are shortened.
        let folder: String
    }

    /// The maximum number of times that a folder is created again after its removal by another operation.
    private static let maximumLosses = 4

    /// The maximum number of names that are tried. The reserved name was free when the transfer began, so more taken
    /// names mean a fault of the file system.
    private static let maximumNames = 1000

    /// Links or moves a part file to a path. Returns whether the name was free.
    private func give(
        _ path: FilePath, to publication: Publication, _ part: PartName, _ identity: FileIdentity, in directory: Directory
    ) throws(FileError) -> Bool {
        do throws(SystemError) {
            do throws(SystemError) {
                try naming.link(incomplete, part.text, directory, path.name)
            } catch {
                guard error.meansNoLinks else { throw error }
                return try move(part, to: path, publication.file.sha256, identity, directory)
            }
            return true
        } catch {
            if error.kind == .alreadyExists { return false }
            throw FileError("publish", file(path), error)
        }
    }

    /// Renames a part file to its final name, beside a note. Returns whether the name was free.
    private func move(
        _ part: PartName, to path: FilePath, _ sha256: [UInt8], _ identity: FileIdentity, _ directory: Directory
    ) throws(SystemError) -> Bool {
        // Checked before the note is written: the next start removes an empty file at the note's path, as an abandoned
        // reservation.
        if try directory.status(of: path.name) != nil { return false }
        let note = PublicationNote(path: path, identity: identity, sha256: sha256, generation: part.generation)
        notes.withLock { _ = $0.insert(part.id) }
        try note.write(Self.note(part.id), in: incomplete)
        try move(part.text, to: directory, as: path.name)
        parts.withLock { $0.remove(part) }
        return true
    }

    /// Renames a file to a name that must be free.
    private func move(_ name: String, to directory: Directory, as newName: String) throws(SystemError) {
        do throws(SystemError) {
            try naming.rename(incomplete, name, directory, newName)
        } catch {
            guard error.meansNoLinks else { throw error }
            try moveOverReservation(name, directory, newName)
        }
    }

    /// Creates an empty file with a name that must be free, and renames a file over it.
    private func moveOverReservation(_ name: String, _ directory: Directory, _ newName: String) throws(SystemError) {
        _ = try directory.open(newName, .creating)
        // Looked up by name, because on some file systems a descriptor has another inode.
        let reserved = try directory.status(of: newName)?.identity
        func isReserved() throws(SystemError) -> Bool {
            guard let status = try directory.status(of: newName), status.kind == .regular, status.links <= 1,
                status.identity.size == 0
            else { return false }
            return status.identity.device == reserved?.device && status.identity.inode == reserved?.inode
        }
        // Another program has replaced the reservation with its own file.
        guard try isReserved() else { throw SystemError.alreadyExists }
        do throws(SystemError) {
            return try naming.replace(incomplete, name, directory, newName)
        } catch {
            guard try isReserved() else { throw error }
        }
        // Some file systems cannot rename over a file.
        try directory.remove(newName)
        if try directory.status(of: newName) != nil { throw SystemError.alreadyExists }
        try naming.replace(incomplete, name, directory, newName)
    }

    /// Removes the empty file of an earlier run that reserved a name and ended before it renamed the part file.
    private func removeReservation(of note: PublicationNote) {
        guard note.identity.size > 0, let directory = try? find(note.path.folder),
            let status = try? directory.status(of: note.path.name), status.kind == .regular, status.identity.size == 0
        else { return }
        _ = try? directory.remove(note.path.name)
    }

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
        let target = isHidden ? incomplete : files
        let targetPath = isHidden ? incompletePath : filesPath
        let newName = Self.newTrialName
        func clear() throws(FileError) {
            try describing("write to", incompletePath) { () throws(SystemError) in _ = try incomplete.remove(name) }
            try describing("write to", targetPath) { () throws(SystemError) in _ = try target.remove(newName) }
        }
        try describing("write to", filesPath) { () throws(SystemError) in try files.checkWritable() }
        try clear()
        defer { try? clear() }
        let file = try describing("write to", incompletePath) { () throws(SystemError) in
            let file = try incomplete.open(name, .creating)
            try unsafe file.write(([1] as [UInt8]).span.bytes, at: 0)
            return file
        }
        try setMode(of: file, "files in \(incompletePath)")
        do throws(SystemError) {
            do throws(SystemError) {
                try naming.link(incomplete, name, target, newName)
            } catch {
                guard error.meansNoLinks else { throw error }
                try move(name, to: target, as: newName)
            }
        } catch {
            guard error.meansOtherFileSystem else { throw FileError("publish in", targetPath, error) }
            let failure = FileError(
                .other, "\(incompletePath) and \(filesPath) are not on one file system, or not in one mount: they have to be")
            division.withLock { $0 = failure }
            throw failure
        }
        if !isHidden { division.withLock { $0 = nil } }
        try clear()
        // Otherwise the trial's file could be among finished files after a power loss.
        guard !isHidden else { return }
        try describing("write to", targetPath) { () throws(SystemError) in try target.synchronize() }
    }

    /// Renames a verified and flushed part file to the name of a whole one. The new name is durable once the directory
    /// is flushed.
    /// - Returns: The part file with its new name; `nil` if no part file of the download is that file.
    @discardableResult
    private func markWhole(_ publication: Publication) throws(FileError) -> Found? {
        guard var found = try find(publication) else { return nil }
        if found.name.sha256 != nil { return found }
        let name = found.name
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

    private func finishPublishing(_ id: DownloadID) throws(FileError) {
        for name in try names(of: id) {
            try describing("remove", path(name.text)) { () throws(SystemError) in _ = try incomplete.remove(name.text) }
            parts.withLock { $0.remove(name) }
        }
        guard notes.withLock({ $0.remove(id) != nil }) else { return }
        let note = Self.note(id)
        try describing("remove", path(note)) { () throws(SystemError) in _ = try incomplete.remove(note) }
    }

    // MARK: - Folders

    /// Opens the directories from `files` to a folder. Each is opened in its parent, and never through a link, so that
    /// nothing outside is reached.
    private func open(_ folder: String) throws(SystemError) -> [Directory] {
        var chain = [files]
        for name in FileNaming.names(ofFolder: folder) { chain.append(try chain[chain.count - 1].openDirectory(name)) }
        return chain
    }

    /// Opens the directories from `files` to a folder, and creates the missing ones.
    private func make(_ folder: String) throws(FileError) -> Place {
        var losses = 0
        while true {
            var chain = [files]
            var names: [String] = []
            do throws(SystemError) {
                for name in FileNaming.names(ofFolder: folder) {
                    let parent = chain[chain.count - 1]
                    let (made, isNew) = try Self.makeDirectory(name, in: parent)
                    let directory = try parent.openDirectory(made)
                    if isNew, let permissions = permissions.directory { try directory.setPermissions(permissions) }
                    chain.append(directory)
                    names.append(made)
                }
                return Place(chain: chain, folder: names.joined(separator: "/"))
            } catch {
                // A directory has been removed meanwhile, together with its last file.
                losses += 1
                if error.kind == .notFound, losses <= Self.maximumLosses { continue }
                let found = FileError("make", "\(filesPath)/\(folder)", error)
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
                guard error.meansNameTooLong, let limit = FileNaming.limit(below: name.utf8.count) else { throw error }
                name = FileNaming.shortened(name, to: limit)
            }
        }
    }

    /// Removes a folder and its parents as far as they are empty.
    /// - Returns: The directories that have lost an entry.
    @discardableResult
    private func removeEmpty(_ folder: String, _ chain: [Directory]) -> [Directory] {
        var changed: [Directory] = []
        for (name, parent) in zip(FileNaming.names(ofFolder: folder), chain).reversed() {
            guard (try? parent.removeDirectory(name)) != nil else { break }
            changed.append(parent)
        }
        return changed
    }

    /// Opens a folder; returns `nil` if it does not exist or is not a directory.
    private func find(_ folder: String) throws(SystemError) -> Directory? {
        if folder.isEmpty { return files }
        do throws(SystemError) {
            return try open(folder).last
        } catch {
            guard error.kind == .notFound || error.kind == .notRegular || error.meansNameTooLong else { throw error }
            return nil
        }
    }

    package func obstacle(to folder: String) -> String? {
        var directory = files
        for name in FileNaming.names(ofFolder: folder) {
            do throws(SystemError) {
                guard let status = try directory.status(of: name) else { return nil }
                guard status.kind == .directory else { return "'\(name)' in the files directory is no directory" }
                directory = try directory.openDirectory(name)
            } catch {
                // Publishing will find the error and report it.
                return nil
            }
        }
        return nil
    }

    // MARK: - Finished files

    package func isTaken(_ path: FilePath) -> Bool {
        (try? find(path.folder)?.status(of: path.name)) != nil
    }

    package func has(_ file: PublishedFile) -> Bool {
        guard let identity = file.identity, let found = try? identify(file.path) else { return false }
        return found == identity
    }

    /// Returns the identity of the regular file at a path; `nil` if there is none.
    package func identify(_ path: FilePath) throws(FileError) -> FileIdentity? {
        let status = try describing("examine", file(path)) { () throws(SystemError) in
            do throws(SystemError) { return try find(path.folder)?.status(of: path.name) } catch {
                // No entry can have a name that is too long for the file system.
                guard error.meansNameTooLong else { throw error }
                return nil
            }
        }
        return status?.kind == .regular ? status?.identity : nil
    }

    package func open(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> FileDescriptor {
        let directory = try describing("open", file(path)) { () throws(SystemError) in try find(path.folder) }
        guard let directory else { throw FileError(.missing, "\(file(path)) is not there") }
        let (descriptor, status) = try open(path.name, in: directory, .reading, file(path))
        guard status.identity == identity else { throw FileError(.missing, "\(file(path)) is another file") }
        return descriptor
    }

    package func openCached(_ path: FilePath, as identity: FileIdentity) -> FileDescriptor? {
        var directory = files
        for name in FileNaming.names(ofFolder: path.folder) {
            guard let next = directory.openCachedDirectory(name) else { return nil }
            directory = next
        }
        guard let descriptor = directory.openCached(path.name), let status = try? descriptor.status(), status.kind == .regular,
            status.identity == identity
        else { return nil }
        return descriptor
    }

    package func remove(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> RemovedFiles {
        let isThere = try identify(path) == identity
        var removed = RemovedFiles()
        // A folder with another file is not empty, and stays. If the file is already gone, its empty folder is still
        // removed.
        guard let chain = try? open(path.folder), let directory = chain.last else { return removed }
        if isThere {
            do throws(SystemError) {
                try removed.remove(path.name, from: directory)
            } catch {
                throw FileError("remove", file(path), error)
            }
            removed.noteUnflushed(directory)
        }
        for parent in removeEmpty(path.folder, chain) { removed.noteUnflushed(parent) }
        return removed
    }

    package func recognise(_ published: PublishedFile, of id: DownloadID) async throws(FileError) -> FileRecognition {
        let found = try await BlockingExecutor.disk.run { () throws(FileError) in try self.identify(published.path) }
        guard let found else { return .missing }
        if found == published.identity { return .identical }
        guard found.size == published.length else { return .different }
        let sha256 = try await BlockingExecutor.hashing.run { () throws(FileError) in try self.hash(published.path, found) }
        return sha256 == published.sha256 ? .adopted(found) : .different
    }

    /// Returns the SHA-256 of a file; `nil` if the file has changed meanwhile.
    private func hash(_ path: FilePath, _ identity: FileIdentity) throws(FileError) -> [UInt8]? {
        if let known = hashes.withLock({ $0[identity] }) { return known }
        var digest = FileDigest()
        let file = try openPublished(path, as: identity)
        try file.hash(upTo: identity.size, into: &digest)
        guard try file.identity() == identity else { return nil }
        hashes.withLock { hashes in
            if hashes.count >= Self.maximumHashes { hashes = [:] }
            hashes[identity] = digest.sha256
        }
        return digest.sha256
    }

    // MARK: - Recovery

    package func recover(_ id: DownloadID, _ generation: UInt64?, likelyPath: FilePath?) throws(FileError) -> RecoveredPart {
        let names = try names(of: id)
        for name in names {
            guard let sha256 = name.sha256, let status = try status(of: name), status.kind == .regular, status.links > 1,
                let path = try path(of: status.identity, likely: likelyPath)
            else { continue }
            return .published(path: path, identity: status.identity, sha256: sha256, generation: name.generation)
        }
        guard let name = names.first(where: { $0.generation == generation }), let status = try status(of: name) else {
            guard let note = PublicationNote(reading: Self.note(id), in: incomplete), let found = try identify(note.path),
                found == note.identity || found.size == note.identity.size
            else { return .missing }
            return .published(path: note.path, identity: found, sha256: note.sha256, generation: note.generation)
        }
        guard status.kind == .regular else { return .missing }
        if let sha256 = name.sha256 { return .whole(size: status.identity.size, sha256: sha256, generation: name.generation) }
        return .part(size: status.identity.size)
    }

    /// Finds the whole part file of a download whose record has no generation. The generation of a small file is not
    /// recorded before it is published.
    func recoverWhole(_ id: DownloadID) throws(FileError) -> RecoveredPart {
        for name in try names(of: id) {
            guard let sha256 = name.sha256, let status = try status(of: name), status.kind == .regular else { continue }
            return .whole(size: status.identity.size, sha256: sha256, generation: name.generation)
        }
        return .missing
    }

    private func status(of name: PartName) throws(FileError) -> FileStatus? {
        try describing("examine", path(name.text)) { () throws(SystemError) in try incomplete.status(of: name.text) }
    }

    /// Returns the path of a finished file; `nil` if there is none. It may differ from the path in the record if
    /// another name was free when the file was published.
    private func path(of identity: FileIdentity, likely: FilePath?) throws(FileError) -> FilePath? {
        if let likely, try identify(likely) == identity { return likely }
        return try search(for: identity, in: files, "", depth: 0)
    }

    package func finishedBytes() throws(FileError) -> Int128 {
        // A part file that is being published has a second name in `files`. It is already counted by its record.
        var seen: Set<Node> = []
        for name in try entries(of: incomplete, incompletePath) {
            if let status = try? incomplete.status(of: name) { seen.insert(Node(status.identity)) }
        }
        return try finishedBytes(in: files, "", depth: 0, &seen)
    }

    /// The identity of a file, whatever its name.
    private struct Node: Hashable {
        let device: UInt64
        let inode: UInt64

        init(_ identity: FileIdentity) { (device, inode) = (identity.device, identity.inode) }
    }

    /// Returns the bytes of the files in a directory and those inside it.
    /// - Parameter seen: Files that are not counted again.
    private func finishedBytes(
        in directory: Directory, _ folder: String, depth: Int, _ seen: inout Set<Node>
    ) throws(FileError) -> Int128 {
        var bytes: Int128 = 0
        for name in try entries(of: directory, "\(filesPath)/\(folder)") {
            guard let status = try? directory.status(of: name) else { continue }
            switch status.kind {
            case .regular:
                if status.links == 1 || seen.insert(Node(status.identity)).inserted { bytes += Int128(status.identity.size) }
            case .directory where depth < FileNaming.deepestFolder:
                guard let inner = try? directory.openDirectory(name) else { continue }
                bytes += try finishedBytes(in: inner, folder.isEmpty ? name : "\(folder)/\(name)", depth: depth + 1, &seen)
            case .directory, .link, .other: break
            }
        }
        return bytes
    }

    /// Searches a folder for a file, and then the folders inside it. Links are not followed, and folders that cannot be
    /// opened are skipped.
    private func search(
        for identity: FileIdentity, in directory: Directory, _ folder: String, depth: Int
    ) throws(FileError) -> FilePath? {
        var folders: [String] = []
        for name in try entries(of: directory, "\(filesPath)/\(folder)") where FileNaming.isSafe(name) {
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

    package func openPublished(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> PartFile {
        PartFile(try open(path, as: identity), in: files, path: file(path))
    }

    package func removeOrphans(keeping isKept: (DownloadID, UInt64?) -> Bool) throws(FileError) {
        for name in try entries(of: incomplete, incompletePath) {
            if let (_, note) = readNote(name) { removeReservation(of: note) }
        }
        for name in try orphans(keeping: isKept) {
            _ = try remove([name])
            if let part = PartName(name) { parts.withLock { $0.remove(part) } }
        }
    }

    /// Returns the names of all files in `incomplete`, except part files and notes that are kept.
    package func orphans(keeping isKept: (DownloadID, UInt64?) -> Bool) throws(FileError) -> [String] {
        let names = try entries(of: incomplete, incompletePath)
        return names.filter { name in
            // A trial may be in progress.
            if name == Self.trialName || name == Self.newTrialName { return false }
            if let part = PartName(name) {
                if isKept(part.id, part.generation) { return false }
                return true
            }
            guard let (id, note) = readNote(name), isKept(id, note.generation) else { return true }
            notes.withLock { _ = $0.insert(id) }
            return false
        }
    }

    /// Reads the note with a name, and returns it with its download; `nil` if it is not a valid note.
    private func readNote(_ name: String) -> (DownloadID, PublicationNote)? {
        let suffix = ".publishing"
        guard name.hasSuffix(suffix), let id = DownloadID(String(name.dropLast(suffix.count))),
            let note = PublicationNote(reading: name, in: incomplete)
        else { return nil }
        return (id, note)
    }

    private func entries(of directory: Directory, _ path: String) throws(FileError) -> [String] {
        try describing("list", path) { () throws(SystemError) in try directory.entries() }
    }
}
