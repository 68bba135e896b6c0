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
        public static let subscriptions = 1_000
        /// The maximum number of remembered items of a subscription.
        public static let items = 20_000
        /// The maximum number of items in the feed of finished files.
        static let listed = 1_000
        /// The maximum number of checks at the same time.
        static let checks = 4
        /// The maximum number of former addresses of a feed.
        static let addresses = 16
        /// The maximum number of items that one commit takes.
        static let taken = 250
        /// The longest wait for a check by hand.
        static let answer: Duration = .seconds(30)
        /// The longest wait for a subscription that another replica has added.
        static let additionWait: Duration = .seconds(4)
        /// The maximum number of claims for one change.
        static let claims = 8
        /// The pause between two looks whether downloads have ended after which files make room.
        static let expiryPause: Duration = .seconds(2)
        /// The pause before another look whether a check may begin.
        static let slotPause: Duration = .milliseconds(50)
        /// The pause between two looks at a check of another replica.
        static let checkPause: Duration = .milliseconds(200)
        /// The pause in milliseconds before a subscription is claimed again that another replica has claimed.
        static let claimPause: Int64 = 1_000
    }

    /// A subscription and its running check.
    final class Entry {
        var subscription: Subscription
        /// The last state that is known to be durable, and the number of saves in progress.
        var durable: Subscription
        var saves = 0
        /// The running check, whose value is false if another replica has the claim; `nil` if there is none.
        var check: Task<Bool, Never>?
        /// The number of requests that change it. No check begins meanwhile.
        var holds = 0
        /// The last claim, and the number of its users.
        var claim: SubscriptionClaim?
        var claimants = 0
        /// The downloads in transfer after whose end files may make room. Without any, files make room soon; `nil` if no file
        /// has to.
        var awaited: [DownloadID]?
        /// The time before which no check begins, because another replica has the claim; `nil` for none.
        var blockedUntil: Timestamp?

        init(_ subscription: Subscription) {
            self.subscription = subscription
            durable = subscription
        }

        /// Returns the time of the next check; `nil` if none is planned.
        func due(_ now: Timestamp) -> Timestamp? {
            subscription.nextCheckAt.map { max(subscription.schedule.corrected($0, now: now), blockedUntil ?? $0) }
        }
    }

    let downloads: DownloadService
    let catalog: Catalog
    let client: any UpstreamClient
    let destinationGuard: DestinationGuard?
    /// Returns the JSON text of a subscription for messages to webhooks.
    let resource: @Sendable (Subscription) -> [UInt8]
    let log: @Sendable (SubscriptionLogEvent) -> Void
    /// The changes of subscriptions, for readers.
    public nonisolated let events = SubscriptionEventHub()
    var entries: [DownloadID: Entry] = [:]
    /// The hosts of the subscriptions whose works are being listed.
    var listed: [DownloadID: String] = [:]
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
                entries[stored.id] = Entry(subscription)
                events.publish(subscription)
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
        schedule()
    }

    /// The number of subscriptions in each state.
    public var counts: [Subscription.State: Int] {
        entries.values.reduce(into: [:]) { $0[$1.subscription.state, default: 0] += 1 }
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
    func expireSoon(_ id: DownloadID) {
        entries[id]?.awaited = []
        watchExpiry()
    }

    /// Starts the checks that are due, and waits for the next one.
    func schedule() {
        guard !isStopped else { return }
        timer?.cancel()
        let now = downloads.now
        var hosts: Set<String> = []
        // Checks that wait for their host leave the slots to others.
        var running = listed.count
        var waiting: [(due: Timestamp, entry: Entry)] = []
        var next: Timestamp?
        for entry in entries.values {
            if entry.check != nil {
                hosts.insert(entry.subscription.host)
            } else if entry.holds == 0, let due = entry.due(now) {
                if due <= now { waiting.append((due, entry)) } else { next = min(due, next ?? due) }
            }
        }
        waiting.sort { ($0.due, $0.entry.subscription.id) < ($1.due, $1.entry.subscription.id) }
        for (_, entry) in waiting {
            // The end of a check calls this method again.
            guard running < Limits.checks else { break }
            guard hosts.insert(entry.subscription.host).inserted else { continue }
            running += 1
            beginCheck(of: entry.subscription.id, isScheduled: true)
        }
        guard let next else { return }
        // The wall clock may be set, so it is looked at again after some minutes.
        let wait = min(next.millisecondsSinceEpoch - now.millisecondsSinceEpoch, 300_000)
        timer = Task { [weak self] in
            do { try await Task.sleep(for: .milliseconds(wait)) } catch { return }
            await self?.schedule()
        }
    }

    /// Starts a check, unless one is running.
    /// - Parameter isScheduled: Whether the check is omitted if another replica has checked the subscription meanwhile.
    /// - Returns: The check. Its value is false if it was omitted, or another replica has the claim.
    @discardableResult
    func beginCheck(of id: DownloadID, isScheduled: Bool = false) -> Task<Bool, Never>? {
        guard !isStopped, let entry = entries[id], entry.holds == 0 else { return nil }
        if let check = entry.check { return check }
        let check = Task { [weak self] in
            guard let self else { return true }
            return await self.check(id, isScheduled: isScheduled)
        }
        entries[id]?.check = check
        return check
    }

    /// Ends the running check of a subscription, and lets none begin until ``release(_:)``. When the method returns, no
    /// check makes changes any more.
    func hold(_ id: DownloadID) async {
        entries[id]?.holds += 1
        guard let check = entries[id]?.check else { return }
        check.cancel()
        _ = await check.value
    }

    /// Lets checks of a subscription begin again.
    func release(_ id: DownloadID) {
        entries[id]?.holds -= 1
        schedule()
    }

    /// Keeps a changed subscription, and makes it durable.
    ///
    /// The caller must not suspend between reading the entry and this call. Then changes are kept in the order in which
    /// the store writes them, and none is written over.
    /// - Parameters:
    ///   - claim: The claim on the subscription.
    ///   - changes: Changes of the same commit.
    func save(
        _ subscription: Subscription, under claim: SubscriptionClaim, with changes: [StoreChange] = []
    ) async throws(DownloadError) {
        let id = subscription.id
        var subscription = subscription
        subscription.version += 1
        entries[id]?.subscription = subscription
        entries[id]?.saves += 1
        defer { entries[id]?.saves -= 1 }
        do throws(DownloadError) {
            try await downloads.commit(claim.guarding([.saveSubscription(subscription.stored)] + changes))
        } catch {
            // A later save has the refused change as well.
            if let entry = entries[id], entry.saves == 1 { entries[id]?.subscription = entry.durable }
            throw error
        }
        guard let durable = entries[id]?.durable, subscription.version > durable.version else { return }
        entries[id]?.durable = subscription
        events.publish(subscription)
    }
}

// MARK: - Fleets

/// A replica of a fleet changes a subscription under a claim. It learns of the changes of other replicas from the store.
extension SubscriptionService {
    /// Claims a subscription, and reads its present state.
    /// - Parameter forced: Whether another replica loses its claim.
    /// - Returns: `nil` if another replica has the claim, or the subscription is gone.
    func claim(_ id: DownloadID, forced: Bool) async throws(DownloadError) -> SubscriptionClaim? {
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
    func endClaim(of id: DownloadID) {
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
        _ id: DownloadID, endsCheck: Bool = false,
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

    /// Adopts changes of the store. Those of this replica are known already.
    private func follow(_ changes: [ChangedSubscription]) {
        for change in changes {
            switch change {
            case .saved(let stored): adopt(stored)
            case .removed(let id):
                entries[id]?.check?.cancel()
                entries[id] = nil
                events.publishRemoval(of: id)
            }
        }
        // A claim of another replica may have ended.
        for id in entries.keys { entries[id]?.blockedUntil = nil }
        schedule()
    }

    /// Adopts a subscription from the store.
    /// - Parameter isClaimed: Whether it was read with a new claim, so that it precedes states that are not durable.
    func adopt(_ stored: StoredSubscription, isClaimed: Bool = false) {
        let present = entries[stored.id]
        guard isClaimed || stored.version > present?.durable.version ?? 0 else { return }
        guard let subscription = Subscription(stored) else {
            return log(.warning("subscription \(stored.id) is refused: its record cannot be read"))
        }
        let entry = present ?? Entry(subscription)
        entry.durable = subscription
        if isClaimed || entry.saves == 0 || subscription.version > entry.subscription.version {
            entry.subscription = subscription
        }
        entries[stored.id] = entry
        events.publish(subscription)
    }

    /// Lets no check of a subscription begin for a moment, because another replica has the claim.
    func block(_ id: DownloadID) {
        entries[id]?.blockedUntil = Timestamp(millisecondsSinceEpoch: downloads.now.millisecondsSinceEpoch + Limits.claimPause)
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
