internal import HTTPCore
internal import ObjectStorage
internal import System

/// Part files on this machine, and finished files in object storage.
///
/// What a record names counts as there: nothing that the actor or an event loop asks waits for the network. An object that a record
/// gives up goes by way of the database, which notes it in the transaction that does so; see ``ObjectCollector``.
final class ObjectDepot: FileDepot {
    /// How many files are sent at a time: of a large one, a few parts at once. For small ones what counts is how long the storage takes to
    /// answer.
    static let mostUploads = 8
    static let mostSmallUploads = 32
    /// Up to so many bytes a file is small.
    static let smallLength: Int64 = 1 << 20
    /// How often bytes may arrive with another digest before they are taken for spoilt on this machine's disk.
    static let mostMismatches = 3
    /// The longest pause between two attempts to store a file.
    static let longestPause: Duration = .seconds(30)
    /// For how many seconds a URL is valid. Whoever has begun to read by then may go on.
    static let addressLifetime = 60

    let storage: ObjectStorage
    let place: ObjectPlace
    private let local: LocalFileDepot
    private let pauses: (first: Duration, longest: Duration)
    private let noteGarbage: @Sendable (String) async -> Void
    private let log: @Sendable (DownloadLogEvent) -> Void
    private let uploads = Turnstile(places: ObjectDepot.mostUploads)
    private let smallUploads = Turnstile(places: ObjectDepot.mostSmallUploads)
    private let condition = Locked(Condition())
    private let publishing = Locked(Publishing())

    /// The publications under way.
    private struct Publishing {
        var last: UInt64 = 0
        var tasks: [UInt64: Task<Void, Never>] = [:]
    }

    /// Whether files can be stored, as far as is known.
    private struct Condition {
        /// Whether the storage did not answer as it should when it was last tried.
        var isSilent = false
        /// How many files have been sent in vain, and wait.
        var waitingFiles = 0
        /// What the log was told last.
        var told: String?

        var isAway: Bool { isSilent || waitingFiles > 0 }
    }

    /// - Parameters:
    ///   - pauses: the first pause before a file is sent again, and the longest; each doubles the one before.
    ///   - noteGarbage: has an object be removed in a while that may be stored only then.
    init(
        _ local: LocalFileDepot, _ storage: ObjectStorage, _ place: ObjectPlace, pauses: (first: Duration, longest: Duration),
        noteGarbage: @escaping @Sendable (String) async -> Void, log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) {
        self.local = local
        self.storage = storage
        self.place = place
        self.pauses = pauses
        self.noteGarbage = noteGarbage
        self.log = log
    }

    var objects: ObjectDepot? { self }

    func freeBytes() throws(FileError) -> Int64 { try local.freeBytes() }

    /// None that no record tells of.
    func finishedBytes() throws(FileError) -> Int128 { 0 }

    // MARK: - Part files

    func openPart(_ id: DownloadID, _ generation: UInt64?, holding length: Int64) throws(FileError) -> PartFile {
        try local.openPart(id, generation, holding: length)
    }

    func createPart(_ id: DownloadID, keepsOthers: Bool) throws(FileError) -> PartFile {
        try local.createPart(id, keepsOthers: keepsOthers)
    }

    func removePart(_ id: DownloadID, _ generation: UInt64?) throws(FileError) -> RemovedFiles {
        try local.removePart(id, generation)
    }

    func removeOtherParts(_ id: DownloadID, than generation: UInt64?) throws(FileError) -> RemovedFiles {
        try local.removeOtherParts(id, than: generation)
    }

    func removeParts(_ id: DownloadID) throws(FileError) -> RemovedFiles { try local.removeParts(id) }

    func begin(_ verification: Verification) { local.begin(verification) }

    // MARK: - Publishing

    /// Stores a verified file, however long that takes: while the storage is away the bytes wait in the part file.
    func begin(_ publication: Publication) {
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
        // Giving it up does not wait for the network.
        publication.outcome.whenDone { if case .failure(.abandoned) = $0 { storing.cancel() } }
    }

    /// Waits until the objects of publications that were given up are discarded.
    func settle() async {
        for storing in publishing.withLock({ Array($0.tasks.values) }) { await storing.value }
    }

    private func store(_ publication: Publication) async {
        let (file, outcome) = (publication.file, publication.outcome)
        // Nothing names it before the outcome is known, so all attempts may share it.
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
        while true {
            let turnstile = file.length <= Self.smallLength ? smallUploads : uploads
            await turnstile.enter()
            let failure = await upload(file, to: key)
            turnstile.leave()
            if Task.isCancelled {
                outcome.resolve(.failure(.abandoned))
                // What was sent may have arrived, even if that was not answered.
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
                if mismatches == Self.mostMismatches {
                    let reason = "\(file.part.path) does not have the bytes any more that were verified"
                    return outcome.resolve(.failure(.file(FileError(.short, reason))))
                }
            case let failure?: note(failure)
            }
            if !isSecured, let failure = await secure(publication) { return outcome.resolve(.failure(.file(failure))) }
            isSecured = true
            let chance = Double.random(in: 0.5...1)
            // Cancelling ends the pause; what follows finds that out.
            try? await Task.sleep(for: pause * chance)
            pause = min(pause * 2, pauses.longest, Self.longestPause)
        }
    }

    /// Why nothing can ever be stored as it is configured. While the storage is away, that is not known: then the log is told.
    func problem() async -> String? {
        do throws(ObjectStorageError) {
            return try await place.settle().map { "--files: \($0)" }
        } catch .unavailable(let reason) {
            update(reason) { $0.isSilent = true }
            return nil
        } catch {
            return "--files: \(error.message)"
        }
    }

    /// Tries every few seconds whether the storage answers, until the task is cancelled.
    func watch() async {
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
            update(problem, insists: isObjection) { [problem] in $0.isSilent = problem != nil }
        }
    }

    private static let probeInterval: Duration = .seconds(5)

    /// Whether files have to wait, as far as is known.
    var isStorageAway: Bool { condition.withLock { $0.isAway } }

    private func upload(_ file: VerifiedFile, to key: ObjectKey) async -> ObjectStorageError? {
        if Task.isCancelled { return .cancelled }
        let begun = ContinuousClock.now
        do throws(ObjectStorageError) {
            if let problem = try await place.settle() { return .unavailable(problem) }
            try await storage.upload(
                file.part.descriptor, length: file.length, sha256: file.sha256, to: key.description, mediaType: nil)
            log(.stored(took: .now - begun, bytes: file.length))
            return nil
        } catch {
            return error
        }
    }

    /// Has the bytes last over a crash while they wait, and the next run know that they are whole.
    private func secure(_ publication: Publication) async -> FileError? {
        await BlockingExecutor.disk.run { [local] in
            do throws(FileError) {
                try local.keepWhole(publication)
                return nil
            } catch {
                return error
            }
        }
    }

    /// Removes an object that no record names, and will name.
    ///
    /// Best effort, and also when the task has been cancelled: the sweep removes what is left. A request that was given up may be carried
    /// out behind the removal, so there is another one later.
    func discard(_ key: ObjectKey) async {
        await Task { [storage, noteGarbage] in
            await noteGarbage(key.description)
            try? await storage.remove(key.description)
        }.value
    }

    /// Tells the log if files have to wait from now on, or need not wait any more.
    /// - Parameter insists: whether the problem does not pass by itself, so that it is told though another was before.
    private func update(_ problem: String?, insists: Bool = false, _ change: (inout Condition) -> Void) {
        let news: String?? = condition.withLock { condition in
            let wasAway = condition.isAway
            change(&condition)
            if wasAway == condition.isAway, !insists || condition.told == problem { return nil }
            condition.told = condition.isAway ? problem ?? "" : nil
            return .some(condition.told)
        }
        if let news { log(.objectStorage(news)) }
    }

    func finishPublishing(_ id: DownloadID, then handler: @escaping @Sendable (FileError?) -> Void) {
        local.finishPublishing(id, then: handler)
    }

    // MARK: - Finished files

    /// A name belongs to its download: nobody else's file is in its way.
    func isTaken(_ path: FilePath) -> Bool { false }

    func obstacle(to folder: String) -> String? { nil }

    func has(_ file: PublishedFile) -> Bool { file.identity?.device == 0 }

    func open(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> FileDescriptor {
        throw FileError(.missing, "\(path) is in object storage")
    }

    func openCached(_ path: FilePath, as identity: FileIdentity) -> FileDescriptor? { nil }

    /// The object goes with its record.
    func remove(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> RemovedFiles { RemovedFiles() }

    /// Asks the storage.
    func recognise(_ file: PublishedFile, of id: DownloadID) async throws(FileError) -> FileRecognition {
        guard let key = file.identity.flatMap({ ObjectKey(id, $0) }) else { return .missing }
        do throws(ObjectStorageError) {
            guard let object = try await storage.head(key.description) else { return .missing }
            return object.length == file.length ? .identical : .different
        } catch {
            throw FileError(.transient, error.message)
        }
    }

    /// A URL at which a finished file can be had for a while; `nil` if it is none of the storage's.
    func address(
        of id: DownloadID, as identity: FileIdentity, isHead: Bool, disposition: String?, mediaType: String
    ) -> String? {
        guard let key = ObjectKey(id, identity) else { return nil }
        return storage.signedURL(
            key.description, method: isHead ? "HEAD" : "GET", disposition: disposition, mediaType: mediaType,
            validFor: Self.addressLifetime, now: .now())
    }

    // MARK: - The start

    func recover(_ id: DownloadID, _ generation: UInt64?, likelyPath: FilePath?) throws(FileError) -> RecoveredPart {
        let found = try local.recover(id, generation, likelyPath: likelyPath)
        // The storage may be away for long: a small file that waits for it is not fetched again.
        return found == .missing && generation == nil ? try local.recoverWhole(id) : found
    }

    func openPublished(_ path: FilePath, as identity: FileIdentity) throws(FileError) -> PartFile {
        try local.openPublished(path, as: identity)
    }

    func forgetParts() { local.forgetParts() }

    /// Finished files are not kept here.
    func tryPublishing(isHidden: Bool) throws(FileError) { try local.tryPublishing(isHidden: true) }

    func removeOrphans(keeping isKept: (DownloadID, UInt64?) -> Bool) throws(FileError) {
        try local.removeOrphans(keeping: isKept)
    }
}
