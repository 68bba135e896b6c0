package import DownloadCore
package import System

/// Finished files in a directory of this machine.
package final class LocalFinishedFiles: FinishedFiles {
    /// The number of files from which one flush of the file system costs less than a flush of each file.
    static let sharedFlushThreshold = 5

    private struct Waiting {
        var publications: [Publication] = []
        /// Downloads whose records include their publications.
        var finished: [(RecordID, @Sendable (FileError?) -> Void)] = []
        var isRunning = false

        var isEmpty: Bool { publications.isEmpty && finished.isEmpty }
    }

    private let partFiles: PartFiles
    private let folders: FinishedFolders
    private let waiting = Locked(Waiting())
    /// Digests of finished files whose identities have changed, so that they are not read again for each request.
    private let hashes = Locked<[FileIdentity: [UInt8]]>([:])
    private static let maximumHashes = 1000
    /// Empty folders that go once their last readers have ended.
    private let held = Locked<Set<String>>([])
    private static let maximumHeld = 100
    private static let heldInterval: Duration = .seconds(1)

    package init(_ partFiles: PartFiles) {
        self.partFiles = partFiles
        folders = partFiles.folders
    }

    // MARK: - Publishing

    package func begin(_ publication: Publication) {
        enqueue { $0.publications.append(publication) }
    }

    package func finishPublishing(_ id: RecordID, then handler: @escaping @Sendable (FileError?) -> Void) {
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
            for (id, handler) in batch.finished { partFiles.finishPublishing(id, then: handler) }
            if !batch.publications.isEmpty { publish(batch.publications) }
        }
    }

    private func publish(_ batch: [Publication]) {
        var whole: [(Publication, PartFiles.Found?)] = []
        for publication in flush(batch) {
            do throws(FileError) {
                whole.append((publication, try partFiles.markWhole(publication)))
            } catch {
                publication.outcome.resolve(.failure(.file(error)))
            }
        }
        do throws(FileError) {
            try partFiles.synchronize()
        } catch {
            for (publication, _) in whole { publication.outcome.resolve(.failure(.file(error))) }
            return
        }
        for (folder, group) in Dictionary(grouping: whole, by: \.0.path.folder) { publish(group, in: folder) }
    }

    /// Gives files their names in one folder, and makes the names durable.
    private func publish(_ batch: [(Publication, PartFiles.Found?)], in folder: String) {
        var open: FinishedFolders.Folder?
        var named: [(Publication, PublishedFile)] = []
        var toCopy: [Publication] = []
        // Failures are reported last, after folders that were created in vain have been removed.
        var failed: [(Publication, FileError)] = []
        defer { for (publication, error) in failed { publication.outcome.resolve(.failure(.file(error.of(folder)))) } }
        for (publication, found) in batch {
            guard publication.outcome.commit() else {
                discardCopy(of: publication, in: folder)
                continue
            }
            do throws(FileError) {
                if let file = try name(publication, found, in: folder, &open) {
                    named.append((publication, file))
                } else {
                    toCopy.append(publication)
                }
            } catch {
                failed.append((publication, error))
                discardCopy(of: publication, in: folder)
            }
        }
        guard let open else { return }
        for publication in toCopy {
            publication.outcome.reopen()
            BlockingExecutor.copying.submit { self.copy(publication, to: open) }
        }
        if named.isEmpty {
            if toCopy.isEmpty { removeEmpty(open.path, open.chain) }
            return
        }
        do throws(SystemError) {
            // Existing folders are flushed as well: a publication that created them may not have reached this point.
            for directory in open.chain.reversed() { try directory.synchronize() }
            for (publication, file) in named { publication.outcome.resolve(.success(file)) }
        } catch {
            let failure = FileError("flush", folder.isEmpty ? folders.path : "\(folders.path)/\(folder)", error).of(folder)
            for (publication, _) in named { publication.outcome.resolve(.failure(.file(failure))) }
        }
    }

    /// Copies a file into its folder, which is on another file system, and publishes the copy.
    private func copy(_ publication: Publication, to folder: FinishedFolders.Folder) {
        do throws(FileError) {
            if let copy = try partFiles.copy(publication, to: folder) {
                publication.copy.withLock { $0 = copy }
                return begin(publication)
            }
            removeEmpty(folder.path, folder.chain)
        } catch {
            removeEmpty(folder.path, folder.chain)
            publication.outcome.resolve(.failure(.file(error.of(publication.path.folder))))
        }
    }

    /// Removes the copy of a publication that has ended, and its folder if that is empty.
    private func discardCopy(of publication: Publication, in folder: String) {
        guard let copy = publication.copy.withLock(\.self) else { return }
        copy.discard()
        if let chain = try? folders.open(folder) { removeEmpty(folder, chain) }
    }

    /// Flushes the bytes of all files. Returns the publications that can go on.
    private func flush(_ batch: [Publication]) -> [Publication] {
        let unflushed = batch.count { !$0.file.isFlushed }
        // A flush of the file system reports an error of any file, and none that was reported before. So each file is
        // also asked for its errors.
        let sharesFlush = unflushed >= Self.sharedFlushThreshold && (try? folders.top.synchronizeFileSystem()) != nil
        return batch.filter { publication in
            let file = publication.file
            do throws(FileError) {
                if let permissions = folders.permissions.file { try file.part.setPermissions(permissions) }
                try file.part.cut(to: file.length)
                // Before the identity is read, which has the time.
                if let modified = publication.modified { try file.part.setModified(modified) }
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
    ///   - open: The folder, once it is open.
    /// - Returns: `nil` if the file must be copied into the folder.
    private func name(
        _ publication: Publication, _ found: PartFiles.Found?, in folder: String, _ open: inout FinishedFolders.Folder?
    ) throws(FileError) -> PublishedFile? {
        let identity: FileIdentity
        if let found { identity = found.identity } else { identity = try publication.file.part.identity() }
        func published(_ path: FilePath, _ identity: FileIdentity) -> PublishedFile {
            PublishedFile(
                path: path, length: publication.file.length, sha256: publication.file.sha256, identity: identity)
        }
        var opened: FinishedFolders.Folder
        if let open { opened = open } else { opened = try folders.make(folder) }
        defer { open = opened }
        // The file was published by a run that ended before its record included that.
        if found?.links != 1, let present = try folders.identify(publication.path), present.isLikely(identity) {
            return published(publication.path, present)
        }
        guard let found else {
            throw FileError(.missing, "the part file of \(publication.id) is not the file that was written")
        }
        return try name(publication, found.name, identity, in: folder, &opened).map(published)
    }

    /// Gives a part file the first free name, beginning with the reserved one.
    private func name(
        _ publication: Publication, _ part: PartName, _ identity: FileIdentity, in folder: String,
        _ open: inout FinishedFolders.Folder
    ) throws(FileError) -> (FilePath, FileIdentity)? {
        var name = publication.path.name
        var number = 1
        var limit = FileNaming.longestName
        var losses = 0
        while true {
            let tried = number == 1 ? name : FileNaming.numbered(name, number, limit: limit)
            let path = FilePath(tried, in: open.path)
            do throws(FileError) {
                switch try partFiles.give(path, to: publication, part, identity, in: open.chain.last ?? folders.top) {
                case .given(let identity): return (path, identity)
                case .elsewhere: return nil
                case .taken: number += 1
                }
                if number > Self.maximumNames {
                    throw FileError(.other, "publish \(folders.describe(publication.path)): no name is free up to \(tried)")
                }
            } catch {
                if error.kind == .nameTooLong, let shorter = FileNaming.limit(below: tried.utf8.count) {
                    limit = shorter
                    name = FileNaming.shortened(name, to: limit)
                    number = 1
                    continue
                }
                // The last file of the folder has just been removed, and the folder with it.
                guard error.kind == .missing, !folder.isEmpty, losses < FinishedFolders.maximumLosses else { throw error }
                losses += 1
                open = try folders.make(folder)
            }
        }
    }

    /// The maximum number of names that are tried. The reserved name was free when the transfer began, so more taken
    /// names mean a fault of the file system.
    private static let maximumNames = 1000

    package func tryPublishing(isHidden: Bool) throws(FileError) { try partFiles.tryPublishing(isHidden: isHidden) }

    // MARK: - Finished files

    package func isTaken(_ path: FilePath) -> Bool {
        (try? folders.find(path.folder)?.status(of: path.name)) != nil
    }

    package func has(_ file: PublishedFile) -> Bool {
        guard let identity = file.identity, let found = try? identify(file.path) else { return false }
        return found == identity
    }

    package func isGone(_ file: PublishedFile) -> Bool {
        // A path that cannot be examined proves nothing.
        do throws(FileError) { return try identify(file.path)?.size != file.length } catch { return false }
    }

    /// Returns the identity of the regular file at a path; `nil` if there is none.
    package func identify(_ path: FilePath) throws(FileError) -> FileIdentity? { try folders.identify(path) }

    package func open(_ file: PublishedFile) throws(FileError) -> FileDescriptor {
        let (descriptor, identity) = try folders.open(file.path, length: file.length)
        if file.identity?.isLikely(identity) == true { return descriptor }
        // Until rclone 1.60 has uploaded a file, each opening changes its time.
        guard try hash(descriptor, file.path, identity) == file.sha256 else {
            throw FileError(.missing, "\(folders.describe(file.path)) is another file")
        }
        return descriptor
    }

    package func obstacle(to folder: String) -> FileError? {
        func obstacle(_ kind: FileError.Kind, _ reason: String) -> FileError {
            FileError(kind, "folder '\(folder)' cannot be used: \(reason)").of(folder)
        }
        var directory = folders.top
        do throws(SystemError) {
            for name in FileNaming.names(ofFolder: folder) {
                guard let status = try directory.status(of: name) else { break }
                guard status.kind == .directory else {
                    return obstacle(.other, "'\(name)' in the files directory is no directory")
                }
                directory = try directory.openDirectory(name)
            }
            try directory.checkWritable()
            guard try directory.status().identity.device != folders.top.status().identity.device else { return nil }
            return try directory.space().hasRoom(for: 0) ? nil : obstacle(.noRoom, "its file system is full")
        } catch {
            // Publishing will find any other error and report it.
            return error.kind == .device ? obstacle(.away, "\(error)") : nil
        }
    }

    package func openCached(_ path: FilePath, as identity: FileIdentity) -> FileDescriptor? {
        var directory = folders.top
        for name in FileNaming.names(ofFolder: path.folder) {
            guard let next = directory.openCachedDirectory(name) else { return nil }
            directory = next
        }
        guard let descriptor = directory.openCached(path.name), let status = try? descriptor.status(), status.kind == .regular,
            status.identity == identity
        else { return nil }
        return descriptor
    }

    package func remove(_ file: PublishedFile) throws(FileError) -> RemovedFiles {
        do throws(FileError) { return try remove(file, file.path) } catch { throw error.of(file.path.folder) }
    }

    private func remove(_ file: PublishedFile, _ path: FilePath) throws(FileError) -> RemovedFiles {
        let isThere = try isThere(file)
        var removed = RemovedFiles()
        let chain: [Directory]
        do throws(SystemError) {
            chain = try folders.open(path.folder)
            if isThere, let directory = chain.last {
                try removed.remove(path.name, from: directory)
                removed.noteUnflushed(directory)
            }
        } catch {
            if isThere { throw FileError("remove", folders.describe(path), error) }
            return removed
        }
        // A folder with another file is not empty, and stays. If the file is already gone, its empty folder is still
        // removed.
        for parent in removeEmpty(path.folder, chain) { removed.noteUnflushed(parent) }
        return removed
    }

    /// Whether the file at the path of a finished file is this one.
    private func isThere(_ file: PublishedFile) throws(FileError) -> Bool {
        guard let found = try identify(file.path) else { return false }
        if found == file.identity { return true }
        do throws(FileError) {
            _ = try open(file)
            return true
        } catch {
            if error.meansNoBytes { return false }
            throw error
        }
    }

    /// Removes a folder and its parents as far as they are empty, now or once its last reader has ended.
    /// - Returns: The directories that have lost an entry.
    @discardableResult
    private func removeEmpty(_ folder: String, _ chain: [Directory]) -> [Directory] {
        let (changed, isHeld) = folders.removeEmpty(folder, chain)
        guard isHeld, held.withLock({ $0.count < Self.maximumHeld && $0.insert(folder).inserted }) else { return changed }
        Task { [weak self] in
            while let self {
                try? await Task.sleep(for: Self.heldInterval)
                let isHeld = await BlockingExecutor.disk.run {
                    (try? self.folders.open(folder)).map { self.folders.removeEmpty(folder, $0).isHeld } ?? false
                }
                if isHeld { continue }
                held.withLock { _ = $0.remove(folder) }
                return
            }
        }
        return changed
    }

    package func recognise(
        _ published: PublishedFile, of id: RecordID, isHashed: Bool
    ) async throws(FileError) -> FileRecognition {
        let found = try await BlockingExecutor.disk.run { () throws(FileError) in try self.identify(published.path) }
        guard let found else { return .missing }
        if found == published.identity { return .identical }
        guard found.size == published.length else { return .different }
        if !isHashed, published.identity?.isLikely(found) == true, hashes.withLock({ $0[found] == nil }) {
            return .likely(found)
        }
        let sha256 = try await BlockingExecutor.hashing.run { () throws(FileError) in
            try self.hash(try self.folders.open(published.path, length: found.size).0, published.path, found)
        }
        return sha256 == published.sha256 ? .adopted(found) : .different
    }

    /// Returns the SHA-256 of an open file.
    private func hash(
        _ descriptor: FileDescriptor, _ path: FilePath, _ identity: FileIdentity
    ) throws(FileError) -> [UInt8] {
        if let known = hashes.withLock({ $0[identity] }) { return known }
        var digest = FileDigest()
        let file = PartFile(descriptor, in: folders.top, path: folders.describe(path))
        try file.hash(upTo: identity.size, into: &digest)
        // The file may have been changed while it was hashed.
        guard try file.identity() == identity else { return digest.sha256 }
        hashes.withLock { hashes in
            if hashes.count >= Self.maximumHashes { hashes = [:] }
            hashes[identity] = digest.sha256
        }
        return digest.sha256
    }

    package func finishedBytes() throws(FileError) -> Int128 {
        // A part file that is being published has a second name in `files`. It is already counted by its record.
        var seen = Set(try partFiles.identities().map(Node.init))
        return try finishedBytes(in: folders.top, "", depth: 0, &seen)
    }

    /// The identity of a file under any name.
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
        for name in try directory.entries(describedAs: "\(folders.path)/\(folder)") {
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

    // MARK: - Object storage

    package var keepsObjects: Bool { false }

    package var isStorageAway: Bool { false }

    package func address(
        of id: RecordID, as identity: FileIdentity, isHead: Bool, disposition: String?, mediaType: String, validFor seconds: Int
    ) -> String? { nil }

    package func settle() async {}
}
