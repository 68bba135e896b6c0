package import DownloadCore
package import DownloadFiles
internal import Postgres
internal import Synchronization
internal import System

/// The store of a fleet, as one of its replicas uses it. Besides the functions of any store, it has the requests that
/// only replicas make.
///
/// A thread of its own listens to the database. The requests that follow from a notification run on the store's thread,
/// in order with all others.
package final class FleetStore: RecordStore {
    /// The id of this instance.
    package let instance: Int64
    private let replicas: Locked<Int>
    /// Whether a standby may be promoted without the last commits.
    package let mayLoseCommits: Bool
    /// The reason that other machines may read or change the traffic to the database, as a sentence; `nil` if it is
    /// protected.
    package let exposure: String?
    /// The counters of transfers of this replica and of all others.
    package let transfers = FleetTransfers()
    package let store: GroupCommitStore<PostgresRecordWriter>
    private let listener: PostgresListener
    private let heard: Locked<ContinuousClock.Instant>
    private let renewed: Locked<ContinuousClock.Instant>
    private let lease: Duration
    private let session: Locked<Int32>
    private let follower: Follower
    private let queuedErrands = Locked<Set<Errand>>([])
    /// Keeps the data directory locked, so that no other process uses it.
    private let directory: DataDirectory?

    /// The maximum wait for a request to the database.
    package static let patience: Duration = .milliseconds(4_500)
    /// The pause before a request is repeated that the database has interrupted.
    private static let repeatPause: Duration = .milliseconds(100)

    /// The callbacks of the service, which are called on any thread.
    package struct Callbacks: Sendable {
        /// Receives changes in order. Called before the commit that made them is acknowledged.
        package var changed: @Sendable ([FleetChange]) -> Void
        /// Called once a second.
        package var ticked: @Sendable () -> Void = {}
        /// Receives a message and the instance that sent it.
        package var received: @Sendable (RemoteMessage, Int64) -> Void = { _, _ in }
        /// Called when webhook deliveries of an ended replica were taken over, with the smallest of their ids.
        package var adopted: @Sendable (RecordID) -> Void = { _ in }
        /// Called when this replica has lost its lease.
        package var fenced: @Sendable () -> Void
        /// Receives downloads that were acquired after their requester had stopped waiting.
        package var leftOver: @Sendable ([RecordID]) -> Void = { _ in }
        /// Called when another replica has changed settings.
        package var settingsChanged: @Sendable () -> Void

        package init(
            changed: @escaping @Sendable ([FleetChange]) -> Void, ticked: @escaping @Sendable () -> Void = {},
            received: @escaping @Sendable (RemoteMessage, Int64) -> Void = { _, _ in },
            adopted: @escaping @Sendable (RecordID) -> Void = { _ in }, fenced: @escaping @Sendable () -> Void,
            leftOver: @escaping @Sendable ([RecordID]) -> Void = { _ in }, settingsChanged: @escaping @Sendable () -> Void
        ) {
            self.changed = changed
            self.ticked = ticked
            self.received = received
            self.adopted = adopted
            self.fenced = fenced
            self.leftOver = leftOver
            self.settingsChanged = settingsChanged
        }
    }

    /// Calls the callbacks, once they are set.
    private final class Follower: Sendable {
        let callbacks = Locked<Callbacks?>(nil)
        /// The sequence number of the last change that was followed.
        let followed = Atomic<UInt64>(0)

        func tell(_ body: (Callbacks) -> Void) {
            if let callbacks = callbacks.withLock({ $0 }) { body(callbacks) }
        }
    }

    /// Makes two connections, one for the records and one to listen, and registers this instance.
    /// - Throws: `StoreError.unavailable`, `.newerSchema`, `.foreign`, or an error of PostgreSQL.
    package init(
        _ options: PostgresRecordWriter.Options, in directory: DataDirectory? = nil,
        committer: GroupCommitOptions = GroupCommitOptions(),
        log: @escaping @Sendable (DownloadLogEvent) -> Void = { _ in }
    ) throws(StoreError) {
        self.directory = directory
        let follower = Follower()
        var options = options
        options.log = log
        let writer = try PostgresRecordWriter(options)
        let current = writer.instance
        instance = current.id
        mayLoseCommits = current.mayLoseCommits
        exposure = current.exposure
        heard = current.heard
        renewed = current.renewed
        lease = options.lease
        session = current.session
        replicas = writer.ownership.replicas
        writer.changeLog.follower = { changes in
            if let last = changes.last { follower.followed.store(last.sequence, ordering: .relaxed) }
            follower.tell { $0.changed(changes) }
        }
        writer.ownership.adopted = { first in follower.tell { $0.adopted(first) } }
        current.fenced = { follower.tell { $0.fenced() } }
        listener = try PostgresListener(options.database, instance: current.id, within: options.limit)
        store = try GroupCommitStore(writer, options: committer)
        self.follower = follower
    }

    deinit {
        listener.stop()
    }

    package func load() throws(StoreError) -> StoredContents { try store.load() }

    /// Begins to call the callbacks.
    package func start(_ callbacks: Callbacks) throws(StoreError) {
        follower.callbacks.withLock { $0 = callbacks }
        do throws(SystemError) {
            try listener.start { [weak self] in self?.receive($0) }
        } catch {
            throw .unavailable(path: "the store", reason: "no thread can be started: \(error)")
        }
    }

    package func read<Value: Sendable>(
        noting ids: [RecordID], _ body: @escaping @Sendable (any StoreReader) throws -> Value
    ) async throws(StoreError) -> Value {
        try await perform(noting: ids, repeats: true) { try body($0) }
    }

    package func submit(_ changes: [StoreChange], isAwaited: Bool) -> StoreCommit {
        store.submit(changes, isAwaited: isAwaited)
    }

    package func note(_ progress: StoredProgress) { store.note(progress) }

    package var isCongested: Bool { store.isCongested }

    package var condition: FleetCondition { FleetCondition(replicas: replicas.withLock { $0 }, silence: timeSinceResponse) }

    /// The time since the database's last response.
    package var timeSinceResponse: Duration { ContinuousClock.now - heard.withLock { $0 } }

    package var silence: Duration? { timeSinceResponse }

    /// Whether no other replica can have taken over this replica's downloads yet, if all have the same lease.
    package var holdsLease: Bool { ContinuousClock.now - renewed.withLock { $0 } < lease }

    package func close() async {
        listener.stop()
        await store.close()
        directory?.release()
        follower.callbacks.withLock { $0 = nil }
    }
}

// MARK: - Ownership

extension FleetStore {
    /// Acquires the downloads that no other instance owns.
    package func take(_ ids: [RecordID], within limit: Duration = patience) async throws(StoreError) -> AcquiredDownloads {
        try await perform(within: limit, repeats: true) {
            try $0.ownership.take(ids)
        } late: { [follower] taking in
            follower.tell { $0.leftOver(taking.records.map(\.id)) }
        }
    }

    /// Acquires slots for the next downloads of the queue that may start. The database decides with the changes that
    /// were submitted before this call, and without those submitted after it.
    package func requestSlots(
        free: Int, hostLimit: Int, then receive: @escaping @Sendable (Result<[DownloadRecord], StoreError>) -> Void
    ) {
        let request = SlotRequest(free: free, hostLimit: hostLimit)
        submit([.fleet(.requestSlots(request))]).whenDone { error in
            receive(error.map(Result.failure) ?? .success(request.granted))
        }
    }

    /// Waits until all changes that are committed by now have been followed.
    package func catchUp(within limit: Duration = patience) async throws(StoreError) {
        try await perform(within: limit, repeats: true) { try $0.changeLog.follow() }
    }

    /// Requests the newest changes without waiting for them.
    package func pull() { queue(.follow) }

    /// Changes settings if the present settings are as expected.
    /// - Returns: Whether they were, and the settings afterwards.
    package func change(
        _ changes: [String: String], from expected: [String: String]
    ) async throws(StoreError) -> (isDone: Bool, settings: [String: String]) {
        let values = [expected, changes].flatMap { values in
            let values = Array(values)
            return [values.map(\.key), values.map(\.value)].map { PostgresValue.text(PostgresGroup.array($0)) }
        }
        return try await perform(repeats: true) { writer in
            let results = try writer.instance.transact([
                PostgresCommand(Statements.lockSettings), PostgresCommand(Statements.changeSettings, values),
                PostgresCommand(PostgresGroup.Statements.notifySettings), PostgresCommand(Statements.settings),
            ])
            var settings: [String: String] = [:]
            for row in results.last?.rows.map(PostgresRowDecoder.init) ?? [] { settings.add(row) }
            return (results.dropFirst().first?.rows.isEmpty == false, settings)
        }
    }

    /// Releases the downloads that have no bytes here, or all of them if `leaving`, so that other replicas go on with
    /// them. Called when no download is in progress any more.
    package func retire(leaving: Bool) async throws(StoreError) {
        try await perform { try $0.ownership.retire(leaving: leaving) }
    }

    /// Begins to pass the changes of subscriptions since the start, by this and other replicas. It passes no
    /// changes when a claim has ended.
    package func followSubscriptions(_ receive: @escaping @Sendable ([ChangedSubscription]) -> Void) {
        store.begin { writer in try? writer?.subscriptions.follow(receive) }
    }

    /// Claims a subscription for this replica, with the state after all changes that were submitted before.
    /// - Parameters:
    ///   - host: The host of its work. Unless `forced`, nothing is claimed while another subscription of the host is.
    ///   - forced: Whether another replica loses its claim.
    /// - Returns: `nil` if another replica has the claim or the host, and if the subscription is gone.
    package func claimSubscription(
        _ id: RecordID, host: String, forced: Bool
    ) async throws(StoreError) -> ClaimedSubscription? {
        try await perform(repeats: true) {
            try $0.subscriptions.claim(id, host: host, forced: forced)
        } late: { [store] claimed in
            if let claimed { _ = store.submit([.subscription(.endClaim(claimed.claim))]) }
        }
    }

    /// Runs the body on the store's thread, and waits at most the limit for its result.
    /// - Parameters:
    ///   - ids: The downloads whose noted progress is written first.
    ///   - limit: The maximum wait.
    ///   - repeats: Whether the body runs again, within the limit, if the database interrupts it. It must be safe to
    ///     repeat.
    ///   - body: The operation.
    ///   - late: Receives a result that comes after the limit.
    /// - Throws: `.interrupted` after the limit. A body that has not begun by then never runs.
    func perform<Value: Sendable>(
        noting ids: [RecordID] = [], within limit: Duration = patience, repeats: Bool = false,
        _ body: @escaping @Sendable (PostgresRecordWriter) throws -> Value,
        late: @escaping @Sendable (Value) -> Void = { _ in }
    ) async throws(StoreError) -> Value {
        let deadline = ContinuousClock.now + limit
        while true {
            let outcome = Outcome<Result<Value, StoreError>>()
            store.begin(ids) { writer in
                if outcome.isKnown { return }
                do throws(StoreError) {
                    guard let writer else { throw .closed }
                    let value = try StoreError.translating { try body(writer) }
                    if !outcome.set(.success(value)) { late(value) }
                } catch {
                    outcome.set(.failure(error))
                }
            }
            let result = await outcome.value(
                within: deadline - .now, orSetting: .failure(.interrupted("it does not answer in time")))
            guard repeats, case .failure(.interrupted) = result, deadline - .now > Self.repeatPause,
                (try? await Task.sleep(for: Self.repeatPause)) != nil
            else { return try result.get() }
        }
    }
}

extension FleetStore {
    private enum Statements {
        static let settings = PostgresStatement("settings", "SELECT name, value FROM pawl.settings")
        /// Held from the comparison of settings to their change.
        static let lockSettings = PostgresStatement(
            "lock_settings", "SELECT pg_advisory_xact_lock(\(PostgresSchema.settingsLock))")
        static let changeSettings = PostgresStatement("change_settings", file: PackageResources.postgres_change_settings_sql)
    }
}

// MARK: - Notifications

extension FleetStore {
    /// Recurring work of the store's thread. Each kind is queued at most once, however long the database is
    /// unreachable.
    private enum Errand {
        /// Reads the changes of other replicas.
        case follow
        /// Reads the changes of subscriptions.
        case followSubscriptions
        case takeMessages
        case upkeep
    }

    private func receive(_ event: PostgresListener.Event) {
        switch event {
        // Most changes are this replica's own, which its commits follow already.
        case .changed(let number, let by):
            if by != session.withLock({ $0 }), number > follower.followed.load(ordering: .relaxed) { queue(.follow) }
        case .progress(let message): transfers.receive(message)
        case .messages: queue(.takeMessages)
        case .settings: follower.tell { $0.settingsChanged() }
        case .subscriptions: queue(.followSubscriptions)
        case .tick:
            queue(.follow)
            queue(.takeMessages)
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
            if let writer { carryOut(errand, writer) }
        }
    }

    /// Carries out an errand. After a failure the next tick tries again.
    private func carryOut(_ errand: Errand, _ writer: PostgresRecordWriter) {
        switch errand {
        case .follow: try? writer.changeLog.follow()
        case .followSubscriptions: try? writer.subscriptions.follow()
        case .takeMessages:
            for (sender, text) in (try? writer.changeLog.messages()) ?? [] {
                follower.tell { $0.received(RemoteMessage(text), sender) }
            }
        case .upkeep: writer.upkeep(telling: transfers.messages())
        }
    }
}
