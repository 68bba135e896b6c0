package import DownloadCore
package import ObjectStorage
package import System

/// Finished files in object storage.
///
/// An object that a record names is assumed to exist. So no call of the actor or an event loop waits for the network.
/// When a record no longer names an object, the database notes that in the same transaction. ``ObjectCollector`` then
/// removes the object.
package final class ObjectFinishedFiles: FinishedFiles {
    /// The maximum number of concurrent uploads of large files. A few parts of each are sent at once. The limit for
    /// small files is higher, because they mostly wait for the storage's response.
    static let maximumUploads = 8
    static let maximumSmallUploads = 32
    /// The maximum length of a small file in bytes.
    package static let smallLength: Int64 = 1 << 20
    /// The number of uploads with a wrong digest after which the part file counts as damaged.
    static let maximumMismatches = 3
    /// The maximum pause between two attempts to store a file.
    package static let longestPause: Duration = .seconds(30)

    package let storage: ObjectStorage
    package let place: ObjectPlace
    private let partFiles: PartFiles
    private let pauses: (first: Duration, longest: Duration)
    private let noteUnusedObject: @Sendable (String) async -> Void
    private let log: @Sendable (DownloadLogEvent) -> Void
    private let uploads = Lane(width: ObjectFinishedFiles.maximumUploads, maximumWaiting: .max)
    private let smallUploads = Lane(width: ObjectFinishedFiles.maximumSmallUploads, maximumWaiting: .max)
    private let condition = Locked(Condition())
    private let publishing = Locked(Publishing())

    /// The publications in progress.
    private struct Publishing {
        var last: UInt64 = 0
        var tasks: [UInt64: Task<Void, Never>] = [:]
    }

    /// The last known condition of the storage.
    private struct Condition {
        /// Whether the last test of the storage failed.
        var isSilent = false
        /// The number of files that wait after a failed upload.
        var waitingFiles = 0
        /// The clock's difference that was last logged, in seconds.
        var loggedLead: Int64 = 0
        /// The problem that was last logged; `nil` if the storage was last reported as available.
        var logged: String?

        var isAway: Bool { isSilent || waitingFiles > 0 }
    }

    /// Creates access to the finished files at a location.
    /// - Parameters:
    ///   - pauses: The first and the maximum pause before a file is sent again. Each pause is twice as long as the one
    ///     before.
    ///   - noteUnusedObject: Schedules the removal of a discarded object whose upload may end only later.
    package init(
        _ partFiles: PartFiles, _ storage: ObjectStorage, _ place: ObjectPlace, pauses: (first: Duration, longest: Duration),
        noteUnusedObject: @escaping @Sendable (String) async -> Void, log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) {
        self.partFiles = partFiles
        self.storage = storage
        self.place = place
        self.pauses = pauses
        self.noteUnusedObject = noteUnusedObject
        self.log = log
    }

    // MARK: - Publishing

    /// Begins to store a verified file, however long that takes. Its bytes wait in the part file while the storage is
    /// unavailable.
    package func begin(_ publication: Publication) {
        let storing = publishing.withLock { state in
            state.last += 1
            let number = state.last
            let storing = Task {
                await store(publication)
                publishing.withLock { $0.tasks[number] = nil }
            }
            state.tasks[number] = storing
            return storing
        }
        // Abandoning it does not wait for the network.
        publication.outcome.whenDone { if case .failure(.abandoned) = $0 { storing.cancel() } }
    }

    package func settle() async {
        for storing in publishing.withLock({ Array($0.tasks.values) }) { await storing.value }
    }

    private func store(_ publication: Publication) async {
        let (file, outcome) = (publication.file, publication.outcome)
        // No record names the object before the outcome is known, so that all attempts can share a key.
        let key = ObjectKey(id: publication.id, upload: .random(in: 0...Int64.max))
        var pause = pauses.first
        var mismatches = 0
        var isSecured = false
        var isWaiting = false
        func note(_ failure: ObjectStorageError?) {
            if isWaiting != (failure != nil) { update(failure?.message) { $0.waitingFiles += failure == nil ? -1 : 1 } }
            isWaiting = failure != nil
        }
        defer { note(nil) }
        // After a crash during the upload, the next run then stores the file again, and does not fetch it.
        _ = await onDisk { (parts) throws(FileError) in try parts.markWhole(publication) }
        while true {
            let lane = file.length <= Self.smallLength ? smallUploads : uploads
            let failure = await lane.run(within: nil) { await upload(file, to: key) } ?? .cancelled
            if Task.isCancelled {
                outcome.resolve(.failure(.abandoned))
                // The object may have been stored although the response was lost.
                return await discard(key)
            }
            switch failure {
            case nil:
                note(nil)
                guard outcome.commit() else { return await discard(key) }
                let identity = key.identity(size: file.length, modified: SystemTime.sinceEpoch)
                return outcome.resolve(
                    .success(
                        PublishedFile(path: publication.path, length: file.length, sha256: file.sha256, identity: identity)))
            case .unreadableFile(let reason)?:
                return outcome.resolve(.failure(.file(FileError(.other, "read \(file.part.path): \(reason)"))))
            case .contentMismatch?:
                mismatches += 1
                place.doubt()
                if mismatches == Self.maximumMismatches {
                    let reason = "\(file.part.path) does not have the bytes any more that were verified"
                    return outcome.resolve(.failure(.file(FileError(.short, reason))))
                }
            case let failure?: note(failure)
            }
            if !isSecured, let failure = await onDisk({ (parts) throws(FileError) in try parts.keepWhole(publication) }) {
                return outcome.resolve(.failure(.file(failure)))
            }
            isSecured = true
            let chance = Double.random(in: 0.5...1)
            // Cancellation ends the pause, and the next pass detects it.
            try? await Task.sleep(for: pause * chance)
            pause = min(pause * 2, pauses.longest, Self.longestPause)
        }
    }

    /// Returns the reason that no file can ever be stored with this configuration; `nil` if there is none. If the
    /// storage is unavailable, that is unknown, and the problem is logged.
    package func problem() async -> String? {
        defer { noteClock() }
        do throws(ObjectStorageError) {
            return try await place.settle().map { "--files: \($0)" }
        } catch .unavailable(let reason) {
            update(reason) { $0.isSilent = true }
            return nil
        } catch {
            return "--files: \(error.message)"
        }
    }

    /// Tests the storage every few seconds until the task is cancelled.
    package func watch() async {
        while true {
            do { try await Task.sleep(for: Self.probeInterval) } catch { return }
            var (problem, isObjection): (String?, Bool)
            do throws(ObjectStorageError) {
                problem = try await place.probe()
                isObjection = problem != nil
            } catch {
                (problem, isObjection) = (error.message, false)
            }
            if Task.isCancelled { return }
            noteClock()
            update(problem, insists: isObjection) { [problem] in $0.isSilent = problem != nil }
        }
    }

    private static let probeInterval: Duration = .seconds(5)

    /// Logs a change of the difference between this machine's clock and the storage's.
    private func noteClock() {
        let lead = storage.clockLead
        let isNews = condition.withLock { condition in
            if abs(lead - condition.loggedLead) <= Self.clockTolerance { return false }
            condition.loggedLead = lead
            return lead != 0
        }
        guard isNews else { return }
        log(
            .warning(
                "the clock of this machine is \(abs(lead)) s \(lead > 0 ? "behind" : "ahead of") the storage's: "
                    + "set one of them; until then, requests and links are signed by the storage's clock"))
    }

    /// The change of the clock's difference in seconds that is not logged.
    private static let clockTolerance: Int64 = 5

    package var isStorageAway: Bool { condition.withLock { $0.isAway } }

    private func upload(_ file: VerifiedFile, to key: ObjectKey) async -> ObjectStorageError? {
        if Task.isCancelled { return .cancelled }
        let begun = ContinuousClock.now
        do throws(ObjectStorageError) {
            if let problem = try await place.settle() { return .unavailable(problem) }
            try await storage.upload(
                file.part.descriptor, length: file.length, sha256: file.sha256, parts: file.parts, to: key.description,
                mediaType: nil)
            log(.stored(took: .now - begun, bytes: file.length))
            return nil
        } catch {
            return error
        }
    }

    private func onDisk(_ body: @escaping @Sendable (PartFiles) throws(FileError) -> Void) async -> FileError? {
        await BlockingExecutor.disk.run { [partFiles] in
            do throws(FileError) {
                try body(partFiles)
                return nil
            } catch {
                return error
            }
        }
    }

    /// Removes an object that no record names or will name.
    ///
    /// This is best effort, and also done after the task is cancelled; the sweep removes what is left. An abandoned
    /// upload may still be carried out after the removal, so a second removal is scheduled.
    package func discard(_ key: ObjectKey) async {
        await Task { [storage, noteUnusedObject] in
            await noteUnusedObject(key.description)
            try? await storage.remove(key.description)
        }.value
    }

    /// Logs a change of whether files have to wait.
    /// - Parameter insists: Whether the problem stays until the operator acts. It is then logged even if another problem was
    ///   logged before.
    private func update(_ problem: String?, insists: Bool = false, _ change: (inout Condition) -> Void) {
        let news: String?? = condition.withLock { condition in
            let wasAway = condition.isAway
            change(&condition)
            if wasAway == condition.isAway, !insists || condition.logged == problem { return nil }
            condition.logged = condition.isAway ? problem ?? "" : nil
            return .some(condition.logged)
        }
        if let news { log(.objectStorage(news)) }
    }

    package func finishPublishing(_ id: RecordID, then handler: @escaping @Sendable (FileError?) -> Void) {
        BlockingExecutor.publishing.submit { [partFiles] in partFiles.finishPublishing(id, then: handler) }
    }

    /// Tests only part files, because finished files are not kept on this machine.
    package func tryPublishing(isHidden: Bool) throws(FileError) { try partFiles.tryPublishing(isHidden: true) }

    // MARK: - Finished files

    package var keepsObjects: Bool { true }

    /// Always 0: object storage has no unrecorded files.
    package func finishedBytes() throws(FileError) -> Int128 { 0 }

    /// Always false: a name belongs to its download, so it cannot be taken by another file.
    package func isTaken(_ path: FilePath) -> Bool { false }

    package func obstacle(to folder: String) -> FileError? { nil }

    package func has(_ file: PublishedFile) -> Bool { file.identity?.device == 0 }

    /// Always false: the storage is not asked for each object.
    package func isGone(_ file: PublishedFile) -> Bool { false }

    package func open(_ file: PublishedFile) throws(FileError) -> FileDescriptor {
        throw FileError(.missing, "\(file.path) is in object storage")
    }

    package func openCached(_ path: FilePath, as identity: FileIdentity) -> FileDescriptor? { nil }

    /// Removes nothing: the object is removed with its record.
    package func remove(_ file: PublishedFile) throws(FileError) -> RemovedFiles { RemovedFiles() }

    package func recognise(
        _ file: PublishedFile, of id: RecordID, isHashed: Bool
    ) async throws(FileError) -> FileRecognition {
        guard let key = file.identity.flatMap({ ObjectKey(id, $0) }) else { return .missing }
        do throws(ObjectStorageError) {
            guard let object = try await storage.head(key.description) else { return .missing }
            return object.length == file.length ? .identical : .different
        } catch {
            throw FileError(.transient, error.message)
        }
    }

    /// Returns a signed URL of a finished file; `nil` if the file is not in the storage.
    package func address(
        of id: RecordID, as identity: FileIdentity, isHead: Bool, disposition: String?, mediaType: String, validFor seconds: Int
    ) -> String? {
        guard let key = ObjectKey(id, identity) else { return nil }
        return storage.signedURL(
            key.description, method: isHead ? "HEAD" : "GET", disposition: disposition, mediaType: mediaType,
            validFor: seconds, now: storage.now)
    }
}
