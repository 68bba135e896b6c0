internal import System

/// Part files and finished files in two directories of this machine.
///
/// A finished file gets its name by a hard link, which is made in one step and never over another file. Until the record tells of it
/// the part file keeps its own name, too, so that a crash in between is recognised by both names leading to one file. Where there
/// are no hard links, it is renamed, and a note beside it tells of that.
final class LocalFileDepot: FileDepot {
    /// From so many files on, one flush of the file system costs less than one for each.
    static let sharedFlushThreshold = 5

    /// Gives a file a second name in another directory: `Directory.link`, but for tests.
    typealias Linking = @Sendable (Directory, String, Directory, String) throws(SystemError) -> Void

    private struct Waiting {
        var publications: [Publication] = []
        var isRunning = false
    }

    private let incomplete: Directory
    private let files: Directory
    private let permissions: FilePermissions
    /// Where they are, for messages.
    private let incompletePath: String
    private let filesPath: String
    private let link: Linking
    private let waiting = Locked(Waiting())
    /// Downloads that may have a note.
    private let notes = Locked<Set<DownloadID>>([])
    /// What finished files that were not recognised at once hash to: whoever asks for one again does not have it read again.
    private let hashes = Locked<[FileIdentity: [UInt8]]>([:])
    private static let mostHashes = 1000

    init(
        _ directory: DataDirectory,
        link: @escaping Linking = { (from, name, to, newName) throws(SystemError) in try from.link(name, to: to, as: newName) }
    ) {
        incomplete = directory.incomplete
        files = directory.files
        permissions = directory.permissions
        incompletePath = directory.incompletePath
        filesPath = directory.filesPath
        self.link = link
    }

    private static func part(_ id: DownloadID) -> String { "\(id).part" }
    private static func replacement(_ id: DownloadID) -> String { "\(id).part.next" }
    private static func note(_ id: DownloadID) -> String { "\(id).publishing" }

    private func path(_ part: String) -> String { "\(incompletePath)/\(part)" }
    private func file(_ path: FilePath) -> String { "\(filesPath)/\(path)" }

    func freeBytes() throws(FileError) -> Int64 {
        try describing("examine the file system of", incompletePath) { () throws(SystemError) in try incomplete.space().free }
    }

    // MARK: - Part files

    func openPart(_ id: DownloadID, holding length: Int64) throws(FileError) -> PartFile {
        let path = path(Self.part(id))
        let (descriptor, status) = try open(Self.part(id), in: incomplete, .writing, path)
        guard status.identity.size >= length else {
            throw FileError(.short, "\(path) has \(status.identity.size) bytes, and should have \(length)")
        }
        return PartFile(descriptor, in: incomplete, path: path)
    }

    func createPart(_ id: DownloadID, replacement: Bool) throws(FileError) -> PartFile {
        let name = replacement ? Self.replacement(id) : Self.part(id)
        let path = path(name)
        func create() throws(SystemError) -> PartFile {
            let file = try incomplete.open(name, .creating)
            // Nobody else gets to it here. Its first flush has this last, so that publishing need not.
            if let permissions = permissions.file { try file.setPermissions(permissions) }
            return PartFile(file, in: incomplete, path: path)
        }
        do throws(SystemError) {
            do throws(SystemError) { return try create() } catch { guard error.kind == .alreadyExists else { throw error } }
            var removed = RemovedFiles()
            try removed.remove(name, from: incomplete)
            return try create()
        } catch {
            // To start over would not help against a directory of that name.
            throw error.kind == .notRegular ? FileError(.other, "create \(path): \(error)") : FileError("create", path, error)
        }
    }

    func promoteReplacement(_ id: DownloadID) async throws(FileError) {
        try await BlockingExecutor.disk.run { () throws(FileError) in
            try describing("rename", self.path(Self.replacement(id))) { () throws(SystemError) in
                try self.incomplete.rename(Self.replacement(id), to: Self.part(id))
                // Before the new name is on the disk, power loss would bring back the old bytes.
                try self.incomplete.synchronize()
            }
        }
    }

    func removeReplacement(_ id: DownloadID) throws(FileError) -> RemovedFiles {
        try remove([Self.replacement(id)])
    }

    func removeParts(_ id: DownloadID) throws(FileError) -> RemovedFiles {
        try remove([Self.part(id), Self.replacement(id), Self.note(id)])
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

    // MARK: - Verifying

    func verify(_ verification: Verification) async throws(FinishingFailure) -> VerifiedFile {
        try await verification.outcome.wait {
            // A task of its own: the disk may still keep it when whoever waits has been told to go on.
            Task { verification.outcome.resolve(await self.check(verification)) }
        }
    }

    private func check(_ verification: Verification) async -> Result<VerifiedFile, FinishingFailure> {
        let (part, length) = (verification.part, verification.length)
        // Large files are written back here, while they are hashed, so that those behind them do not wait for them.
        let isLarge = length > StreamingHasher.smallFile
        async let flushing = isLarge ? Self.flush(part, length) : nil
        do throws(FileError) {
            let digest = try await verification.hasher.complete(upTo: length)
            for expected in verification.expected {
                var actual = digest.checksum(expected.algorithm)
                if actual == nil { actual = try await Self.checksum(expected.algorithm, of: part, length) }
                guard actual == expected else {
                    return .failure(.checksum(expected: "\(expected)", actual: actual?.description ?? "unknown"))
                }
            }
            if let failure = await flushing { return .failure(.file(failure)) }
            return .success(VerifiedFile(part: part, length: length, sha256: digest.sha256, isFlushed: isLarge))
        } catch {
            return .failure(.file(error))
        }
    }

    private static func flush(_ part: PartFile, _ length: Int64) async -> FileError? {
        await BlockingExecutor.disk.run {
            do throws(FileError) {
                try part.cut(to: length)
                try part.synchronizeBytes()
                return nil
            } catch {
                return error
            }
        }
    }

    /// A digest that was not computed as the bytes came.
    private static func checksum(
        _ algorithm: Checksum.Algorithm, of part: PartFile, _ length: Int64
    ) async throws(FileError) -> Checksum? {
        let hasher = StreamingHasher([algorithm])
        hasher.bind(to: part, holding: length)
        return try await hasher.complete(upTo: length).checksum(algorithm)
    }

    // MARK: - Publishing

    func publish(_ publication: Publication) async throws(FinishingFailure) -> PublishedFile {
        try await publication.outcome.wait {
            let starts = waiting.withLock { waiting in
                waiting.publications.append(publication)
                defer { waiting.isRunning = true }
                return !waiting.isRunning
            }
            if starts { BlockingExecutor.publishing.submit { self.publishAllWaiting() } }
        }
    }

    /// One thread takes everything that waits, so that many small files share one flush of the file system and one of the directory.
    private func publishAllWaiting() {
        while true {
            let batch = waiting.withLock { waiting in
                defer { waiting.publications = [] }
                if waiting.publications.isEmpty { waiting.isRunning = false }
                return waiting.publications
            }
            if batch.isEmpty { return }
            publish(batch)
        }
    }

    private func publish(_ batch: [Publication]) {
        let flushed = flush(batch)
        do throws(SystemError) {
            // By the part file's own name a start recognises a file whose record does not tell of it yet.
            try incomplete.synchronize()
        } catch {
            let failure = FileError("flush", incompletePath, error)
            for publication in flushed { publication.outcome.resolve(.failure(.file(failure))) }
            return
        }
        for (folder, publications) in Dictionary(grouping: flushed, by: \.path.folder) { publish(publications, in: folder) }
    }

    /// Gives files their names in one folder, and has these last.
    private func publish(_ batch: [Publication], in folder: String) {
        var place: Place?
        var named: [(Publication, PublishedFile)] = []
        for publication in batch where publication.outcome.commit() {
            do throws(FileError) {
                named.append((publication, try name(publication, in: folder, &place)))
            } catch {
                publication.outcome.resolve(.failure(.file(error)))
            }
        }
        guard let place else { return }
        if named.isEmpty {
            removeEmpty(place.folder, place.chain)
            return
        }
        do throws(SystemError) {
            // Also those that were there: whoever made them may not have come this far.
            for directory in place.chain.reversed() { try directory.synchronize() }
            for (publication, file) in named { publication.outcome.resolve(.success(file)) }
        } catch {
            let failure = FileError("flush", folder.isEmpty ? filesPath : "\(filesPath)/\(folder)", error)
            for (publication, _) in named { publication.outcome.resolve(.failure(.file(failure))) }
        }
    }

    /// Has the bytes of all files on the disk; returns the publications that can go on.
    private func flush(_ batch: [Publication]) -> [Publication] {
        let unflushed = batch.count { !$0.file.isFlushed }
        // What it says is said of all the file system, and where something went wrong before, of nothing: so each file is asked, too.
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

    /// Gives a file the name it was promised, or the next free one.
    /// - Parameter place: its folder, once that is open.
    private func name(
        _ publication: Publication, in folder: String, _ place: inout Place?
    ) throws(FileError) -> PublishedFile {
        let identity = try publication.file.part.identity()
        func published(_ path: FilePath) -> PublishedFile {
            PublishedFile(
                path: path, length: publication.file.length, sha256: publication.file.sha256, identity: identity)
        }
        var open: Place
        if let place { open = place } else { open = try make(folder) }
        place = open
        let part = Self.part(publication.id)
        let status = try describing("examine", path(part)) { () throws(SystemError) in try incomplete.status(of: part) }
        if status?.identity != identity || status?.links != 1 {
            // Already published by a run that ended before its record said so.
            if try identify(publication.path) == identity { return published(publication.path) }
            guard status?.identity == identity else {
                throw FileError(.missing, "\(path(part)) is not the file that was written")
            }
        }
        var name = publication.path.name
        var number = 1
        var limit = FileNaming.longestName
        var losses = 0
        while true {
            let tried = number == 1 ? name : FileNaming.numbered(name, number, limit: limit)
            let path = FilePath(tried, in: open.folder)
            do throws(FileError) {
                if try give(path, to: publication, identity, in: open.chain.last ?? files) { return published(path) }
                number += 1
            } catch {
                if error.kind == .nameTooLong, let shorter = FileNaming.limit(below: tried.utf8.count) {
                    limit = shorter
                    name = FileNaming.shortened(name, to: limit)
                    number = 1
                    continue
                }
                // Its last file has just been removed, and the folder with it.
                guard error.kind == .missing, !folder.isEmpty, losses < Self.mostLosses else { throw error }
                losses += 1
                open = try make(folder)
                place = open
            }
        }
    }

    /// A folder that is open.
    private struct Place {
        /// The directories that lead to it, from `files` to itself.
        let chain: [Directory]
        /// Its path. Names that are too long for the file system are shortened.
        let folder: String
    }

    /// How often a folder is made again that goes away before a file gets its name in it.
    private static let mostLosses = 4

    /// Returns whether the name was free.
    private func give(
        _ path: FilePath, to publication: Publication, _ identity: FileIdentity, in directory: Directory
    ) throws(FileError) -> Bool {
        let part = Self.part(publication.id)
        do throws(SystemError) {
            do throws(SystemError) {
                try link(incomplete, part, directory, path.name)
            } catch {
                guard error.meansNoLinks else { throw error }
                let note = PublicationNote(path: path, identity: identity, sha256: publication.file.sha256)
                notes.withLock { _ = $0.insert(publication.id) }
                try note.write(Self.note(publication.id), in: incomplete)
                try incomplete.renameExclusively(part, to: directory, as: path.name)
            }
            return true
        } catch {
            if error.kind == .alreadyExists { return false }
            throw FileError("publish", file(path), error)
        }
    }

    /// Has the bytes of a part file last, and writes down that they are all there and verified: they wait to be published elsewhere.
    func noteWhole(_ publication: Publication) throws(FileError) {
        let (id, file) = (publication.id, publication.file)
        try file.part.cut(to: file.length)
        try file.part.synchronizeBytes()
        let note = PublicationNote(path: publication.path, identity: try file.part.identity(), sha256: file.sha256)
        notes.withLock { _ = $0.insert(id) }
        // Without it, the next run goes on from what its record counts on.
        try? note.write(Self.note(id), in: incomplete)
    }

    /// What ``noteWhole(_:)`` has written of a part file, if that has not changed since.
    func wholePart(_ id: DownloadID) -> PublicationNote? {
        guard let note = PublicationNote(reading: Self.note(id), in: incomplete),
            let status = try? incomplete.status(of: Self.part(id)), status.kind == .regular, status.identity == note.identity
        else { return nil }
        return note
    }

    func finishPublishing(_ id: DownloadID) throws(FileError) {
        let hasNote = notes.withLock { $0.remove(id) != nil }
        for name in hasNote ? [Self.part(id), Self.note(id)] : [Self.part(id)] {
            do throws(SystemError) { try incomplete.remove(name) } catch { throw FileError("remove", path(name), error) }
        }
    }

    // MARK: - Folders

    /// The directories that lead to a folder, from `files` to itself: each is opened in the one before, and none through a link, so that
    /// nothing outside is reached.
    private func open(_ folder: String) throws(SystemError) -> [Directory] {
        var chain = [files]
        for name in FileNaming.names(ofFolder: folder) { chain.append(try chain[chain.count - 1].openDirectory(name)) }
        return chain
    }

    /// The same, and makes what is missing.
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
                // One of them has gone since: whose last file has just been removed.
                losses += 1
                if error.kind == .notFound, losses <= Self.mostLosses { continue }
                let found = FileError("make", "\(filesPath)/\(folder)", error)
                // What is in the way of the folder says nothing of the bytes.
                throw found.meansNoBytes ? FileError(.other, found.message) : found
            }
        }
    }

    /// Makes a directory unless it is there. A name that is too long for the file system is shortened.
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

    /// Removes a folder and those that it is in, as far as they are empty.
    /// - Returns: the directories that have lost an entry.
    @discardableResult
    private func removeEmpty(_ folder: String, _ chain: [Directory]) -> [Directory] {
        var changed: [Directory] = []
        for (name, parent) in zip(FileNaming.names(ofFolder: folder), chain).reversed() {
            guard (try? parent.removeDirectory(name)) != nil else { break }
            changed.append(parent)
        }
        return changed
    }

    /// The directory of a folder; `nil` if it is not there, or something else than a directory is.
    private func find(_ folder: String) throws(SystemError) -> Directory? {
        if folder.isEmpty { return files }
        do throws(SystemError) {
            return try open(folder).last
        } catch {
            guard error.kind == .notFound || error.kind == .notRegular || error.meansNameTooLong else { throw error }
            return nil
        }
    }

    func obstacle(to folder: String) -> String? {
        var directory = files
        for name in FileNaming.names(ofFolder: folder) {
            do throws(SystemError) {
                guard let status = try directory.status(of: name) else { return nil }
                guard status.kind == .directory else { return "'\(name)' in the files directory is no directory" }
                directory = try directory.openDirectory(name)
            } catch {
                // Publishing finds it out, and reports it.
                return nil
            }
        }
        return nil
    }

    // MARK: - Finished files

    func isTaken(_ path: FilePath) -> Bool {
        (try? find(path.folder)?.status(of: path.name)) != nil
    }

    func has(_ file: PublishedFile) -> Bool {
        guard let identity = file.identity, let found = try? identify(file.path) else { return false }
        return found == identity
    }

    /// Which file has a path; `nil`: none, or nothing that is a regular file.
    func identify(_ path: FilePath) throws(FileError) -> FileIdentity? {
        let status = try describing("examine", file(path)) { () throws(SystemError) in
            do throws(SystemError) { return try find(path.folder)?.status(of: path.name) } catch {
                // Nothing has a name that the file system does not take.
                guard error.meansNameTooLong else { throw error }
                return nil
            }
        }
        return status?.kind == .regular ? status?.identity : nil
    }

    func open(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> FileDescriptor {
        let directory = try describing("open", file(path)) { () throws(SystemError) in try find(path.folder) }
        guard let directory else { throw FileError(.missing, "\(file(path)) is not there") }
        let (descriptor, status) = try open(path.name, in: directory, .reading, file(path))
        guard status.identity == identity else { throw FileError(.missing, "\(file(path)) is another file") }
        return descriptor
    }

    func openCached(_ path: FilePath, as identity: FileIdentity) -> FileDescriptor? {
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

    func remove(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> RemovedFiles {
        let isThere = try identify(path) == identity
        var removed = RemovedFiles()
        // Another file keeps its folder; without any, whoever took it away has left the folder for this.
        guard let chain = try? open(path.folder), let directory = chain.last else { return removed }
        if isThere {
            do throws(SystemError) {
                try removed.remove(path.name, from: directory)
            } catch {
                throw FileError("remove", file(path), error)
            }
            removed.flush(directory)
        }
        for parent in removeEmpty(path.folder, chain) { removed.flush(parent) }
        return removed
    }

    func recognise(_ published: PublishedFile, of id: DownloadID) async throws(FileError) -> FileRecognition {
        let found = try await BlockingExecutor.disk.run { () throws(FileError) in try self.identify(published.path) }
        guard let found else { return .missing }
        if found == published.identity { return .identical }
        guard found.size == published.length else { return .different }
        let sha256 = try await BlockingExecutor.hashing.run { () throws(FileError) in try self.hash(published.path, found) }
        return sha256 == published.sha256 ? .adopted(found) : .different
    }

    /// The SHA-256 of a file; `nil` if somebody has written to it meanwhile.
    private func hash(_ path: FilePath, _ identity: FileIdentity) throws(FileError) -> [UInt8]? {
        if let known = hashes.withLock({ $0[identity] }) { return known }
        var digest = FileDigest()
        let file = try openPublished(path, as: identity)
        try file.hash(upTo: identity.size, into: &digest)
        guard try file.identity() == identity else { return nil }
        hashes.withLock { hashes in
            if hashes.count >= Self.mostHashes { hashes = [:] }
            hashes[identity] = digest.sha256
        }
        return digest.sha256
    }

    // MARK: - The start

    func recover(_ id: DownloadID, likelyPath: FilePath?) throws(FileError) -> RecoveredPart {
        let part = path(Self.part(id))
        guard let status = try describing("examine", part, { () throws(SystemError) in try incomplete.status(of: Self.part(id)) })
        else {
            guard let note = PublicationNote(reading: Self.note(id), in: incomplete), let found = try identify(note.path),
                found == note.identity || found.size == note.identity.size
            else { return .missing }
            return .published(path: note.path, identity: found, sha256: note.sha256)
        }
        guard status.kind == .regular else { return .missing }
        if status.links > 1, let path = try self.path(of: status.identity, likely: likelyPath) {
            return .published(path: path, identity: status.identity, sha256: nil)
        }
        return .part(size: status.identity.size)
    }

    /// The path of a finished file. The record may be behind: another name may have been free when the file was published.
    private func path(of identity: FileIdentity, likely: FilePath?) throws(FileError) -> FilePath? {
        if let likely, try identify(likely) == identity { return likely }
        return try search(for: identity, in: files, "", depth: 0)
    }

    func finishedBytes() throws(FileError) -> Int64 {
        try finishedBytes(in: files, "", depth: 0)
    }

    private func finishedBytes(in directory: Directory, _ folder: String, depth: Int) throws(FileError) -> Int64 {
        var bytes: Int64 = 0
        for name in try entries(of: directory, "\(filesPath)/\(folder)") {
            guard let status = try? directory.status(of: name) else { continue }
            switch status.kind {
            // Of two names, one is that of a part file that is about to be finished: its record tells of it.
            case .regular: if status.links == 1 { bytes &+= status.identity.size }
            case .directory where depth < FileNaming.deepestFolder:
                guard let inner = try? directory.openDirectory(name) else { continue }
                bytes &+= try finishedBytes(in: inner, folder.isEmpty ? name : "\(folder)/\(name)", depth: depth + 1)
            case .directory, .other: break
            }
        }
        return bytes
    }

    /// Looks for a file in a folder, and then in those inside it. Links are not followed, and what cannot be opened is passed over.
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

    func openPublished(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> PartFile {
        PartFile(try open(path, as: identity), in: files, path: file(path))
    }

    func removeOrphans(keeping isKept: (DownloadID) -> Bool) throws(FileError) {
        _ = try remove(orphans(keeping: isKept))
    }

    /// The names of part files, replacements and notes that are not of a download whose own are kept.
    func orphans(keeping isKept: (DownloadID) -> Bool) throws(FileError) -> [String] {
        let names = try entries(of: incomplete, incompletePath)
        return names.filter { name in
            guard let suffix = [".part", ".publishing"].first(where: name.hasSuffix),
                let id = DownloadID(String(name.dropLast(suffix.count))), isKept(id)
            else { return true }
            if suffix == ".publishing" { notes.withLock { _ = $0.insert(id) } }
            return false
        }
    }

    private func entries(of directory: Directory, _ path: String) throws(FileError) -> [String] {
        try describing("list", path) { () throws(SystemError) in try directory.entries() }
    }
}
