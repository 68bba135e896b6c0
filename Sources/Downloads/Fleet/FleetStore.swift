internal import Postgres
internal import Synchronization
internal import System

/// The records of a fleet, as one of its replicas has them: a store like any other, and what replicas ask of each other besides.
///
/// A thread of its own listens to the database; what has to be asked because of that goes through the store's thread, in order with
/// everything else.
final class FleetStore: RecordStore {
    /// This process's life.
    let run: Int64
    private let replicas: Locked<Int>
    /// Whether a standby may be promoted without the last commits.
    let mayLoseCommits: Bool
    /// Why the connection to the database is not safe from other machines, as a sentence; `nil`: it is.
    let exposure: String?
    /// The counters of transfers, this replica's own and what others tell of theirs.
    let transfers = FleetTransfers()
    let store: GroupCommitStore
    private let listener: PostgresListener
    private let heard: Locked<ContinuousClock.Instant>
    private let renewed: Locked<ContinuousClock.Instant>
    private let lease: Duration
    private let session: Locked<Int32>
    private let follower: Follower
    private let queuedErrands = Locked<Set<Errand>>([])
    /// Held so that no other process works on it.
    private let directory: DataDirectory?

    /// The longest that anything is waited for that goes through the database.
    static let patience: Duration = .milliseconds(4_500)
    /// The pause before the database is asked again that has cut something off.
    private static let repeatPause: Duration = .milliseconds(100)

    /// What the service wants to be told, from any thread.
    struct Callbacks: Sendable {
        /// Changes, in their order, before whoever made them is answered.
        var changed: @Sendable ([FleetChange]) -> Void
        /// A second has passed.
        var ticked: @Sendable () -> Void = {}
        /// A letter has come, from that run.
        var received: @Sendable (FleetLetter, Int64) -> Void = { _, _ in }
        /// Messages to webhooks have been taken over from a replica that is gone; the least of their identities.
        var adopted: @Sendable (DownloadID) -> Void = { _ in }
        /// This replica has lost its lease.
        var fenced: @Sendable () -> Void
        /// Downloads were taken that nobody waited for any more.
        var leftOver: @Sendable ([DownloadID]) -> Void = { _ in }
        /// Settings have been changed by another replica.
        var settingsChanged: @Sendable () -> Void
    }

    /// Calls whoever has been named since.
    private final class Follower: Sendable {
        let callbacks = Locked<Callbacks?>(nil)
        /// The last change that was followed.
        let followed = Atomic<UInt64>(0)

        func tell(_ body: (Callbacks) -> Void) {
            if let callbacks = callbacks.withLock({ $0 }) { body(callbacks) }
        }
    }

    /// Connects twice, for the records and to listen, and registers this run.
    /// - Throws: `StoreError.unavailable`, `.newerSchema`, `.foreign`, and what PostgreSQL has to say.
    init(
        _ options: PostgresRecordWriter.Options, in directory: DataDirectory? = nil,
        committer: GroupCommitter.Options = GroupCommitter.Options(),
        log: @escaping @Sendable (DownloadLogEvent) -> Void = { _ in }
    ) throws(StoreError) {
        self.directory = directory
        let follower = Follower()
        let writer = try PostgresRecordWriter(options)
        run = writer.run
        mayLoseCommits = writer.mayLoseCommits
        exposure = writer.exposure
        heard = writer.heard
        renewed = writer.renewed
        lease = options.lease
        session = writer.session
        writer.log = log
        replicas = writer.replicas
        writer.follower = { changes in
            if let last = changes.last { follower.followed.store(last.sequence, ordering: .relaxed) }
            follower.tell { $0.changed(changes) }
        }
        writer.adopted = { first in follower.tell { $0.adopted(first) } }
        writer.fenced = { follower.tell { $0.fenced() } }
        listener = try PostgresListener(options.database, run: run, within: options.limit)
        store = try GroupCommitStore(writer, options: committer)
        self.follower = follower
    }

    deinit {
        listener.stop()
    }

    func load() throws(StoreError) -> StoredContents { try store.load() }

    /// Begins to tell of what happens.
    func start(_ callbacks: Callbacks) throws(StoreError) {
        follower.callbacks.withLock { $0 = callbacks }
        do throws(SystemError) {
            try listener.start { [weak self] in self?.receive($0) }
        } catch {
            throw .unavailable(path: "the store", reason: "no thread can be started: \(error)")
        }
    }

    func records(_ ids: [DownloadID]) async throws(StoreError) -> [DownloadRecord] {
        try await perform(noting: ids, repeats: true, { writer throws(StoreError) in try writer.records(ids) })
    }

    func deliveries(
        from id: DownloadID, if isWanted: @escaping @Sendable (String) -> Bool
    ) async throws(StoreError) -> DeliveryPage {
        try await perform({ writer throws(StoreError) in try writer.deliveries(from: id, if: isWanted) })
    }

    func submit(_ changes: [StoreChange]) -> StoreCommit { store.submit(changes) }

    func note(_ progress: StoredProgress) { store.note(progress) }

    var isCongested: Bool { store.isCongested }

    var condition: FleetCondition { FleetCondition(replicas: replicas.withLock { $0 }, silence: silence) }

    /// For how long the database has not answered.
    var silence: Duration { ContinuousClock.now - heard.withLock { $0 } }

    /// Whether nobody else can have taken over yet what this replica has, as far as all have the same lease.
    var holdsLease: Bool { ContinuousClock.now - renewed.withLock { $0 } < lease }

    var fleet: FleetStore? { self }

    func close() async {
        listener.stop()
        await store.close()
        directory?.release()
        follower.callbacks.withLock { $0 = nil }
    }
}

// MARK: - Ownership

extension FleetStore {
    /// Takes the ownership of downloads, as far as no other run has it.
    func take(_ ids: [DownloadID], within limit: Duration = patience) async throws(StoreError) -> FleetTaking {
        try await perform(
            within: limit, repeats: true,
            { writer throws(StoreError) in try writer.take(ids) },
            late: { [follower] taking in
                follower.tell { $0.leftOver(taking.records.map(\.id)) }
            })
    }

    /// Takes the next downloads of the line that may start, with their turns: as everything stands with what was submitted before this
    /// call, and without what is submitted after it.
    func claim(
        free: Int, hostLimit: Int, then receive: @escaping @Sendable (Result<[DownloadRecord], StoreError>) -> Void
    ) {
        let claim = TurnClaim(free: free, hostLimit: hostLimit)
        submit([.claim(claim)]).whenDone { error in receive(error.map(Result.failure) ?? .success(claim.granted)) }
    }

    /// What became of the request with a key; `nil`: nobody has carried it out.
    func idempotencyRecord(_ key: String) async throws(StoreError) -> IdempotencyRecord? {
        try await perform(repeats: true, { writer throws(StoreError) in try writer.idempotencyRecord(key) })
    }

    /// Has everything be shown that was committed before.
    func catchUp(within limit: Duration = patience) async throws(StoreError) {
        try await perform(within: limit, repeats: true, { writer throws(StoreError) in try writer.follow() })
    }

    /// Asks for the newest changes, and waits for nothing.
    func pull() { queue(.follow) }

    /// The settings as the fleet has them.
    func settings() async throws(StoreError) -> [String: String] {
        try await perform(repeats: true, { writer throws(StoreError) in try writer.settings() })
    }

    /// Changes settings, if they are as expected.
    /// - Returns: whether they were, and the settings afterwards.
    func change(
        _ changes: [String: String], from expected: [String: String]
    ) async throws(StoreError) -> (isDone: Bool, settings: [String: String]) {
        try await perform(repeats: true, { writer throws(StoreError) in try writer.change(changes, from: expected) })
    }

    /// Frees what has no bytes here, or everything: other replicas go on with it. To be called when nothing runs any more.
    func retire(leaving: Bool) async throws(StoreError) {
        try await perform { writer throws(StoreError) in try writer.retire(leaving: leaving) }
    }

    /// Has the fleet know where its files are, if it knows no place yet, or is to know this one instead.
    /// - Returns: the place that it knows.
    func keep(place: String, replacing: Bool) async throws(StoreError) -> String {
        try await perform { writer throws(StoreError) in try writer.keep(place: place, replacing: replacing) }
    }

    /// Has an object be removed in a while that no record has named.
    func noteGarbage(_ key: String) async throws(StoreError) {
        try await perform(repeats: true, { writer throws(StoreError) in try writer.noteGarbage(key) })
    }

    /// Keys of objects that records have given up: nobody else gets them for a minute, by when they should be gone.
    func takeGarbage(atMost count: Int) async throws(StoreError) -> [String] {
        try await perform { writer throws(StoreError) in try writer.takeGarbage(atMost: count) }
    }

    /// These objects are gone.
    func dropGarbage(_ keys: [String]) async throws(StoreError) {
        try await perform { writer throws(StoreError) in try writer.dropGarbage(keys) }
    }

    /// Those of these keys of objects that no record names.
    func unnamed(_ keys: [String]) async throws(StoreError) -> [String] {
        try await perform(repeats: true, { writer throws(StoreError) in try writer.unnamed(keys) })
    }

    /// Whether this replica is the one to look for objects that no record names: none has for that long.
    func claimSweep(every interval: Duration) async throws(StoreError) -> Bool {
        try await perform { writer throws(StoreError) in try writer.claimSweep(every: interval) }
    }

    /// Has the store's thread do something, and waits for it as long as a client would.
    /// - Parameters:
    ///   - ids: the downloads whose noted progress is written first.
    ///   - limit: the longest wait.
    ///   - repeats: whether it is done again if the database cuts it off, for as long as the limit allows: once more must be no other.
    ///   - body: what to do.
    ///   - late: gets what comes too late.
    /// - Throws: `.interrupted` if that is too short. What has not begun by then is not done any more.
    private func perform<Value: Sendable>(
        noting ids: [DownloadID] = [], within limit: Duration = patience, repeats: Bool = false,
        _ body: @escaping @Sendable (PostgresRecordWriter) throws(StoreError) -> Value,
        late: @escaping @Sendable (Value) -> Void = { _ in }
    ) async throws(StoreError) -> Value {
        let deadline = ContinuousClock.now + limit
        while true {
            let result = await withCheckedContinuation { continuation in
                perform(noting: ids, within: deadline - .now, body, late: late) { continuation.resume(returning: $0) }
            }
            guard repeats, case .failure(.interrupted) = result, deadline - .now > Self.repeatPause,
                (try? await Task.sleep(for: Self.repeatPause)) != nil
            else { return try result.get() }
        }
    }

    private func perform<Value: Sendable>(
        noting ids: [DownloadID], within limit: Duration,
        _ body: @escaping @Sendable (PostgresRecordWriter) throws(StoreError) -> Value,
        late: @escaping @Sendable (Value) -> Void,
        then receive: @escaping @Sendable (Result<Value, StoreError>) -> Void
    ) {
        let isConcluded = Atomic(false)
        @Sendable func conclude(_ result: Result<Value, StoreError>) {
            if !isConcluded.exchange(true, ordering: .relaxed) {
                receive(result)
            } else if case .success(let value) = result {
                late(value)
            }
        }
        let expiry = Task {
            try await Task.sleep(for: limit)
            conclude(.failure(.interrupted("it does not answer in time")))
        }
        store.begin(ids) { writer in
            defer { expiry.cancel() }
            guard let writer = writer?.shared else { return conclude(.failure(.closed)) }
            if isConcluded.load(ordering: .relaxed) { return }
            do throws(StoreError) { conclude(.success(try body(writer))) } catch { conclude(.failure(error)) }
        }
    }
}

// MARK: - What comes from others

extension FleetStore {
    /// What the store's thread does again and again: each waits there once at most, however long the database is away.
    private enum Errand {
        /// Brings what others have changed.
        case follow
        case takeLetters
        case upkeep
    }

    private func receive(_ event: PostgresListener.Event) {
        switch event {
        // Mostly they are this replica's own, which whoever commits them sees to.
        case .changed(let number, let by):
            if by != session.withLock({ $0 }), number > follower.followed.load(ordering: .relaxed) { queue(.follow) }
        case .progress(let message): transfers.receive(message)
        case .mail: queue(.takeLetters)
        case .settings: follower.tell { $0.settingsChanged() }
        case .tick:
            queue(.follow)
            queue(.takeLetters)
            queue(.upkeep)
            transfers.tick()
            follower.tell { $0.ticked() }
        }
    }

    private func queue(_ errand: Errand) {
        guard queuedErrands.withLock({ $0.insert(errand).inserted }) else { return }
        store.begin { [weak self] writer in
            guard let self else { return }
            _ = queuedErrands.withLock { $0.remove(errand) }
            if let writer = writer?.shared { run(errand, writer) }
        }
    }

    /// What fails now is tried again with the next tick.
    private func run(_ errand: Errand, _ writer: PostgresRecordWriter) {
        switch errand {
        case .follow: try? writer.follow()
        case .takeLetters:
            for (sender, text) in (try? writer.letters()) ?? [] {
                follower.tell { $0.received(FleetLetter(text), sender) }
            }
        case .upkeep: writer.upkeep(telling: transfers.messages())
        }
    }
}
