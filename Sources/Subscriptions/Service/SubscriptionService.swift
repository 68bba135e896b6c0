public import Catalog
internal import DownloadCore
public import Downloads
public import HTTPClient
internal import HTTPCore
internal import System

/// The subscriptions: checks them on their schedules, and makes downloads of their new items.
///
/// The record of a taken item and its download become durable in one commit, so no crash takes an item twice.
public actor SubscriptionService {
    /// The limits of subscriptions.
    public enum Limits {
        /// The maximum number of subscriptions.
        public static let subscriptions = 10_000
        /// The maximum number of remembered items of a subscription.
        public static let items = 20_000
        /// The maximum number of items in the feed of finished files.
        static let listed = 1_000
        /// The maximum number of checks at the same time that are not slow.
        static let checks = 4
        /// The maximum number of slow checks while others wait: 64, or fewer if the process may have less than 1,024
        /// descriptors.
        static let slowChecks = max(2, min(64, ProcessEnvironment.descriptorLimit / 16))
        /// The time after which a check is slow, and another one may begin beside it.
        static let slowness: Duration = .seconds(2)
        /// The longest pause between two looks at the clock. A machine may sleep in between.
        static let clockPause: Duration = .seconds(300)
        /// The maximum number of former addresses of a feed.
        static let addresses = 16
        /// The maximum number of items that one commit takes, changes or drops.
        static let group = 250
        /// The longest wait for a check by hand.
        static let answer: Duration = .seconds(30)
        /// The longest wait of a check for the versions of files at known addresses.
        static let versions: Duration = .seconds(60)
        /// The longest wait for a subscription that another request or replica is adding.
        static let additionWait: Duration = .seconds(4)
        /// The pause between two looks at a commit under way.
        static let commitPause: Duration = .milliseconds(10)
        /// The maximum number of claims for one change.
        static let claims = 8
        /// The pause between two looks whether downloads have ended after which files make room.
        static let expiryPause: Duration = .seconds(2)
        /// The pause between two looks at a check of another replica.
        static let checkPause: Duration = .milliseconds(200)
        /// The shortest pause in milliseconds between two looks for missing files.
        static let missingPause: Int64 = 60_000
        /// The pause before a subscription is claimed again that another replica has claimed.
        static let claimPause: Duration = .seconds(1)
    }

    /// A subscription and its running check.
    final class Entry {
        var subscription: Subscription
        /// The keys of the sources by which it is found.
        var sourceKeys: Set<String> = []
        /// The last state that is known to be durable, the only one that clients see; `nil` while the first commit is under way,
        /// before whose end no check begins.
        var durable: Subscription? {
            didSet { if oldValue == nil { holds -= 1 } }
        }
        /// The number of saves in progress.
        var saves = 0
        /// Whether the commit of its removal is under way. Nothing is saved then.
        var isEnding = false
        /// The running check, whose value is false if another replica has the claim; `nil` if there is none.
        var check: Task<Bool, Never>?
        /// The request for the listing of the running check; `nil` before and after.
        var listing: Task<CheckOutcome, Never>?
        /// Whether the running check has listed the work, so that later changes of the work are for another check.
        var hasListed = false
        /// The number of requests that change it. No check begins during one.
        var holds = 0
        /// The last claim, and the number of its users.
        var claim: SubscriptionClaim?
        var claimants = 0
        /// The downloads in transfer after whose end files may make room. Without any, files make room soon; `nil` if no file
        /// has to.
        var awaited: [RecordID]?
        /// The moment before which no check begins, because another replica has the claim; `nil` for none.
        var blockedUntil: ContinuousClock.Instant?
        /// The moment of the next requests for files that were missing; `nil` for none.
        var requestsAt: ContinuousClock.Instant?
        /// Whether a user has asked for a check, which reads the whole listing.
        var isRequested = false
        /// The planned time of the next check, and the end of the wait for it. A clock that is set does not change the wait.
        private var wait: (plan: Timestamp, end: ContinuousClock.Instant)?

        init(_ subscription: Subscription, isDurable: Bool = true) {
            self.subscription = subscription
            durable = isDurable ? subscription : nil
            holds = isDurable ? 0 : 1
        }

        /// Returns the moment of the next check; `nil` if none is planned.
        func due(_ now: Timestamp) -> ContinuousClock.Instant? {
            guard let plan = subscription.nextCheckAt else { return nil }
            let length = subscription.schedule.wait(until: plan, after: subscription.checkedAt, now: now)
            let end = wait?.plan == plan ? wait?.end : nil
            let due = end ?? ContinuousClock.now + .milliseconds(length)
            wait = (plan, due)
            return max(due, blockedUntil ?? due)
        }
    }

    let downloads: DownloadService
    let catalog: Catalog
    let client: any UpstreamClient
    let destinationGuard: DestinationGuard?
    /// Returns the JSON text of a subscription for messages to webhooks.
    let resource: @Sendable (Subscription) -> [UInt8]
    let log: @Sendable (SubscriptionLogEvent) -> Void
    /// The subscriptions as clients see them.
    public nonisolated let index = SubscriptionIndex()
    var entries: [RecordID: Entry] = [:]
    /// The subscriptions by the keys of the sources that they have or had.
    private var sources: [String: Set<RecordID>] = [:]
    /// Subscriptions that something is planned for, by its time.
    private var plans = IndexedHeap<RecordID, ContinuousClock.Instant>()
    /// Subscriptions whose check is due or under way.
    private var queue = SlotQueue<CheckRank>(limits: SlotLimits(maxConcurrent: Limits.checks, maxPerHost: 1))
    /// The beginnings of the checks under way.
    private var begun: [RecordID: ContinuousClock.Instant] = [:]
    /// The checks that were not planned, and wait for a slot.
    private var waiting: [RecordID: Outcome<Bool>] = [:]
    private var timer: Task<Void, Never>?
    private var follower: Task<Void, Never>?
    /// Waits for downloads after whose end files make room; `nil` if there are none.
    var expiryWatch: Task<Void, Never>?
    private var isStopped = false

    /// Loads the subscriptions. Nothing is checked before ``start()``.
    /// - Parameters:
    ///   - downloads: The service whose store has the subscriptions, and which gets the new downloads.
    ///   - catalog: Lists the works of catalogues.
    ///   - client: Fetches feeds.
    ///   - destinationGuard: Examines the addresses of feeds; `nil` for none.
    ///   - resource: Returns the JSON text of a subscription for messages to webhooks, without secrets.
    ///   - log: Receives events. It is called on any thread and must not block.
    public init(
        downloads: DownloadService, catalog: Catalog, client: any UpstreamClient, destinationGuard: DestinationGuard?,
        resource: @escaping @Sendable (Subscription) -> [UInt8],
        log: @escaping @Sendable (SubscriptionLogEvent) -> Void = { _ in }
    ) {
        self.downloads = downloads
        self.catalog = catalog
        self.client = client
        self.destinationGuard = destinationGuard
        self.resource = resource
        self.log = log
        for stored in downloads.storedSubscriptions {
            if let subscription = Subscription(stored) {
                let entry = Entry(subscription)
                entry.sourceKeys = Set(subscription.sourceKeys)
                for key in entry.sourceKeys { sources[key, default: []].insert(stored.id) }
                entries[stored.id] = entry
                index.publish(subscription)
            } else {
                log(.warning("subscription \(stored.id) is refused: its record cannot be read"))
            }
        }
    }

    /// Begins to check subscriptions when they are due.
    public func start() {
        guard timer == nil, !isStopped else { return }
        let (changes, continuation) = AsyncStream.makeStream(of: [ChangedSubscription].self)
        downloads.followSubscriptions { continuation.yield($0) }
        follower = Task { [weak self] in
            for await some in changes { await self?.follow(some) }
        }
        for entry in entries.values where entry.subscription.hasSurplus { expireSoon(entry.subscription.id) }
        for id in entries.keys { planRequests(of: id) }
        planAll()
        schedule()
    }

    /// The number of subscriptions in each state.
    public nonisolated var counts: [Subscription.State: Int] {
        index.all.reduce(into: [:]) { $0[$1.subscription.state, default: 0] += 1 }
    }

    /// Ends all checks. What they have not made durable is decided again at the next start.
    public func stop() async {
        isStopped = true
        timer?.cancel()
        follower?.cancel()
        expiryWatch?.cancel()
        let checks = entries.values.compactMap(\.check)
        for check in checks { check.cancel() }
        for check in checks { _ = await check.value }
    }

    /// Lets files make room soon.
    func expireSoon(_ id: RecordID) {
        entries[id]?.awaited = []
        watchExpiry()
    }

    /// Plans what is next for a subscription, starts the checks that are due, and waits for the next ones.
    /// - Parameter id: A subscription that has changed, or whose check has ended; `nil` for none.
    func schedule(_ id: RecordID? = nil) {
        guard !isStopped else { return }
        if let id { plan(id) }
        timer?.cancel()
        let now = ContinuousClock.now
        while let (id, time) = plans.first, time <= now {
            plans.remove(id)
            guard let entry = entries[id] else { continue }
            if let moment = entry.requestsAt, moment <= now {
                entry.requestsAt = nil
                entry.check = Task { [weak self] in
                    await self?.requestMissing(id)
                    return false
                }
            } else {
                queue.enqueue(id, host: entry.subscription.host, rank: CheckRank(entry.subscription, due: time, isAwaited: false))
            }
        }
        endSlow(now)
        while let id = queue.next() {
            begun[id] = now
            if waiting.removeValue(forKey: id)?.set(true) != true { beginCheck(of: id, isScheduled: true) }
        }
        var next = now + Limits.clockPause
        if let plan = plans.first { next = min(next, plan.rank) }
        if queue.waitingCount > 0, let first = begun.values.filter({ $0 + Limits.slowness > now }).min() {
            next = min(next, first + Limits.slowness)
        }
        timer = Task { [weak self] in
            do { try await Task.sleep(until: next, clock: .continuous) } catch { return }
            if ContinuousClock.now >= now + Limits.clockPause { await self?.planAll() }
            await self?.schedule()
        }
    }

    /// Lets other checks begin beside slow ones, and ends the listing of one if too many are slow while others wait.
    private func endSlow(_ now: ContinuousClock.Instant) {
        let slow = begun.filter { $0.value + Limits.slowness <= now }
        queue.limits.maxConcurrent = Limits.checks + min(slow.count, Limits.slowChecks)
        guard slow.count > Limits.slowChecks, queue.waitingCount > 0 else { return }
        let lasting = slow.compactMap { id, begun -> SlowCheck? in
            guard let entry = entries[id], entry.listing?.isCancelled != true else { return nil }
            return SlowCheck(
                id: id, begun: begun, hasFailed: entry.subscription.failures > 0, isListing: entry.listing != nil)
        }
        SlowCheck.ending(of: lasting, limit: Limits.slowChecks).flatMap { entries[$0]?.listing }?.cancel()
    }

    /// Plans what is next for each subscription.
    private func planAll() {
        for id in entries.keys { plan(id) }
    }

    /// Plans what is next for a subscription that may be checked; the queue has it once that is due.
    private func plan(_ id: RecordID) {
        let entry = entries[id].flatMap { $0.check == nil && $0.holds == 0 ? $0 : nil }
        if entries[id]?.check == nil { queue.remove(id) }
        if let next = [entry?.due(downloads.now), entry?.requestsAt].compactMap(\.self).min() {
            plans.set(id, to: next)
        } else {
            plans.remove(id)
        }
    }

    /// Waits for the slot of a check that was not planned.
    /// - Returns: False if the check was cancelled.
    func acquireSlot(_ id: RecordID) async -> Bool {
        if begun[id] != nil { return true }
        guard let subscription = entries[id]?.subscription, !Task.isCancelled else { return false }
        let slot = Outcome<Bool>()
        waiting[id] = slot
        queue.enqueue(id, host: subscription.host, rank: CheckRank(subscription, due: .now, isAwaited: true))
        schedule()
        return await withTaskCancellationHandler {
            await slot.value()
        } onCancel: {
            slot.set(false)
        }
    }

    /// Ends a check.
    func endCheck(of id: RecordID) {
        entries[id]?.check = nil
        entries[id]?.hasListed = false
        begun[id] = nil
        queue.remove(id)
        schedule(id)
    }

    /// Starts a check, unless one is running.
    /// - Parameter isScheduled: Whether the check is omitted if another replica has made it.
    /// - Returns: The check. Its value is false if it was omitted, or another replica has the claim.
    @discardableResult
    func beginCheck(of id: RecordID, isScheduled: Bool = false) -> Task<Bool, Never>? {
        guard !isStopped, let entry = entries[id], entry.holds == 0 else { return nil }
        if let check = entry.check { return check }
        let plan = isScheduled ? entry.subscription.nextCheckAt : nil
        let check = Task { [weak self] in
            guard let self else { return true }
            return await self.check(id, plan: plan)
        }
        entries[id]?.check = check
        return check
    }

    /// Ends the running check of a subscription, and lets none begin until ``release(_:)``. When the method returns, no
    /// check makes changes any more.
    func hold(_ id: RecordID) async {
        entries[id]?.holds += 1
        plan(id)
        guard let check = entries[id]?.check else { return }
        check.cancel()
        _ = await check.value
    }

    /// Lets checks of a subscription begin again.
    func release(_ id: RecordID) {
        entries[id]?.holds -= 1
        schedule(id)
    }

    /// Keeps a changed subscription, and makes it durable.
    ///
    /// The caller must not suspend between reading the entry and this call. Then changes are kept in the order in which
    /// the store writes them, and none is written over.
    /// - Parameters:
    ///   - claim: The claim on the subscription.
    ///   - changes: Changes of the same commit.
    ///   - key: The key of the request that creates the subscription; `nil` for none.
    func save(
        _ subscription: Subscription, under claim: SubscriptionClaim, with changes: [StoreChange] = [],
        as key: RequestKey? = nil
    ) async throws(DownloadError) {
        guard let entry = entries[subscription.id], !entry.isEnding else { throw .preconditionFailed }
        var subscription = subscription
        subscription.version += 1
        keep(subscription, in: entry)
        entry.saves += 1
        let stored = subscription.stored
        let changes = claim.guarding(.save(stored), with: changes)
        let settle: @Sendable (DownloadError?) async -> Void = { [subscription] in await self.settle(subscription, $0) }
        guard let key else { return try await downloads.commit(changes, settle: settle) }
        try await downloads.commit(changes, keeping: (subscription.shown, true), as: key, settle: settle)
    }

    /// Ends a save whose outcome is known.
    private func settle(_ subscription: Subscription, _ error: DownloadError?) {
        guard let entry = entries[subscription.id] else { return }
        entry.saves -= 1
        let isFirst = entry.durable == nil
        if error == nil, subscription.version > entry.durable?.version ?? 0 {
            entry.durable = subscription
            index.publish(subscription)
            if isFirst { schedule(subscription.id) }
        }
        // A save in progress has the refused changes of earlier ones as well.
        guard entry.saves == 0 else { return }
        if let durable = entry.durable { entry.subscription = durable } else { forget(subscription.id) }
    }

    /// Keeps an entry's subscription, which is found by its sources from now on.
    private func keep(_ subscription: Subscription, in entry: Entry) {
        entry.subscription = subscription
        for key in subscription.sourceKeys where entry.sourceKeys.insert(key).inserted {
            sources[key, default: []].insert(subscription.id)
        }
    }

    /// Adds a subscription that is not durable yet.
    func add(_ subscription: Subscription) {
        let entry = Entry(subscription, isDurable: false)
        entries[subscription.id] = entry
        keep(subscription, in: entry)
    }

    /// Forgets a subscription that was removed, or not added.
    func forget(_ id: RecordID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        entry.check?.cancel()
        for key in entry.sourceKeys {
            sources[key]?.remove(id)
            if sources[key]?.isEmpty ?? false { sources[key] = nil }
        }
        plan(id)
        index.publishRemoval(of: id)
    }

    /// Returns the entries of subscriptions that may have a source.
    func candidates(for source: Subscription.Source) -> [Entry] {
        (sources[source.key] ?? []).compactMap { entries[$0] }
    }
}

// MARK: - Fleets

/// A replica of a fleet changes a subscription under a claim. It learns of the changes of other replicas from the store.
extension SubscriptionService {
    /// Claims a subscription, and reads its present state.
    /// - Parameter forced: Whether another replica loses its claim.
    /// - Returns: `nil` if another replica has the claim, or the subscription is gone.
    func claim(_ id: RecordID, forced: Bool) async throws(DownloadError) -> SubscriptionClaim? {
        guard let host = entries[id]?.subscription.host else { return nil }
        entries[id]?.claimants += 1
        do throws(DownloadError) {
            if let claimed = try await downloads.claimSubscription(id, host: host, forced: forced) {
                // Saves under an earlier claim will be refused.
                if let stored = claimed.stored, claimed.claim != entries[id]?.claim { adopt(stored, isClaimed: true) }
                entries[id]?.claim = claimed.claim
                return claimed.claim
            }
        } catch {
            endClaim(of: id)
            throw error
        }
        endClaim(of: id)
        return nil
    }

    /// Ends the use of a claim. The last user releases it.
    func endClaim(of id: RecordID) {
        guard let entry = entries[id] else { return }
        entry.claimants -= 1
        guard entry.claimants == 0, let claim = entry.claim else { return }
        entry.claim = nil
        downloads.endClaim(claim)
    }

    /// Changes a subscription under a claim. The change begins again if another replica takes the claim away.
    /// - Parameter endsCheck: Whether the running check ends first.
    /// - Throws: `notFound`, `refused`, and the errors of the change.
    func changing<Value: Sendable>(
        _ id: RecordID, endsCheck: Bool = false,
        _ change: (SubscriptionClaim) async throws(SubscriptionError) -> Value
    ) async throws(SubscriptionError) -> Value {
        _ = try await find(id)
        for attempt in 1...Int64(Limits.claims) {
            if endsCheck { await hold(id) }
            defer { if endsCheck { release(id) } }
            let claim: SubscriptionClaim?
            do throws(DownloadError) {
                claim = try await self.claim(id, forced: true)
            } catch {
                throw .refused(error)
            }
            guard let claim else { throw .notFound }
            defer { endClaim(of: id) }
            do throws(SubscriptionError) {
                return try await change(claim)
            } catch {
                guard error == .refused(.preconditionFailed) else { throw error }
            }
            // Two replicas that take the claim away from each other must not do so in step.
            try? await Task.sleep(for: .milliseconds(Int64.random(in: 0...20) * attempt))
        }
        throw .refused(.overloaded)
    }

    /// Adopts changes of the store. This replica's are known already.
    private func follow(_ changes: [ChangedSubscription]) {
        for change in changes {
            switch change {
            case .saved(let stored): adopt(stored)
            case .removed(let id): forget(id)
            }
        }
        // A claim of another replica may have ended.
        for (id, entry) in entries where entry.blockedUntil != nil {
            entry.blockedUntil = nil
            plan(id)
        }
        schedule()
    }

    /// Adopts a subscription from the store.
    /// - Parameter isClaimed: Whether it was read with a new claim, so that it precedes states that are not durable.
    func adopt(_ stored: StoredSubscription, isClaimed: Bool = false) {
        let present = entries[stored.id]
        guard isClaimed || stored.version > present?.durable?.version ?? 0 else { return }
        guard let subscription = Subscription(stored) else {
            return log(.warning("subscription \(stored.id) is refused: its record cannot be read"))
        }
        let entry = present ?? Entry(subscription)
        entry.durable = subscription
        if isClaimed || entry.saves == 0 || subscription.version > entry.subscription.version {
            keep(subscription, in: entry)
        }
        entries[stored.id] = entry
        plan(stored.id)
        index.publish(subscription)
    }

    /// Lets no check of a subscription begin for a time, because another replica has the claim.
    func block(_ id: RecordID, for time: Duration = Limits.claimPause) {
        entries[id]?.blockedUntil = .now + time
    }
}

/// An event for the log.
public enum SubscriptionLogEvent: Sendable {
    /// A check has failed.
    case failed(Subscription)
    /// A check has succeeded, and has taken this number of items.
    case checked(Subscription, taken: Int)
    /// Something needs the operator's attention.
    case warning(String)
}

extension Subscription {
    /// The host whose checks come one after another.
    var host: String {
        switch source {
        case .feed(let url): url.host
        case .work(let id): String(id.prefix { $0 != ":" })
        case .search: "archive"
        }
    }
}

/// The order of checks that are due: those that a client waits for come first, and those that failed last time come last.
private struct CheckRank: Comparable, Sendable {
    let group: Int
    let due: ContinuousClock.Instant

    init(_ subscription: Subscription, due: ContinuousClock.Instant, isAwaited: Bool) {
        group = isAwaited ? 0 : subscription.failures > 0 ? 2 : 1
        self.due = due
    }

    static func < (left: CheckRank, right: CheckRank) -> Bool { (left.group, left.due) < (right.group, right.due) }
}
