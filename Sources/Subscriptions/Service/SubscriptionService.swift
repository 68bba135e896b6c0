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
    }

    /// A subscription and its running check.
    struct Entry {
        var subscription: Subscription
        /// The running check; `nil` if there is none.
        var check: Task<Void, Never>?
        /// The number of requests that change it. No check begins meanwhile.
        var holds = 0
    }

    let downloads: DownloadService
    let catalog: Catalog
    let client: any UpstreamClient
    let destinationGuard: DestinationGuard?
    let log: @Sendable (SubscriptionLogEvent) -> Void
    var entries: [DownloadID: Entry] = [:]
    private var timer: Task<Void, Never>?
    private var isStopped = false

    /// Loads the subscriptions. Nothing is checked before ``start()``.
    /// - Parameters:
    ///   - downloads: The service whose store has the subscriptions, and which gets the new downloads.
    ///   - catalog: Lists the works of catalogues.
    ///   - client: Fetches feeds.
    ///   - destinationGuard: Examines the addresses of feeds; `nil` for none.
    ///   - log: Receives events. It is called on any thread and must not block.
    public init(
        downloads: DownloadService, catalog: Catalog, client: any UpstreamClient, destinationGuard: DestinationGuard?,
        log: @escaping @Sendable (SubscriptionLogEvent) -> Void = { _ in }
    ) {
        self.downloads = downloads
        self.catalog = catalog
        self.client = client
        self.destinationGuard = destinationGuard
        self.log = log
        for stored in downloads.isShared ? [] : downloads.storedSubscriptions {
            if let subscription = Subscription(stored) {
                entries[stored.id] = Entry(subscription: subscription)
            } else {
                log(.warning("subscription \(stored.id) is refused: its record cannot be read"))
            }
        }
    }

    /// Begins to check subscriptions when they are due.
    public func start() {
        guard timer == nil, !isStopped else { return }
        let now = downloads.now
        for (id, entry) in entries {
            guard let due = entry.subscription.nextCheckAt else { continue }
            entries[id]?.subscription.nextCheckAt = entry.subscription.schedule.corrected(due, now: now)
        }
        schedule()
    }

    /// Ends all checks. What they have not made durable is decided again at the next start.
    public func stop() async {
        isStopped = true
        timer?.cancel()
        let checks = entries.values.compactMap(\.check)
        for check in checks { check.cancel() }
        for check in checks { await check.value }
    }

    /// Starts the checks that are due, and waits for the next one.
    func schedule() {
        guard !isStopped else { return }
        timer?.cancel()
        let now = downloads.now
        var hosts = Set(entries.values.lazy.filter { $0.check != nil }.map(\.subscription.host))
        var running = entries.values.count { $0.check != nil }
        var next: Timestamp?
        let waiting = entries.values.filter { $0.check == nil && $0.holds == 0 && $0.subscription.nextCheckAt != nil }
            .sorted {
                ($0.subscription.nextCheckAt ?? now, $0.subscription.id) < (
                    $1.subscription.nextCheckAt ?? now, $1.subscription.id
                )
            }
        for entry in waiting {
            guard let due = entry.subscription.nextCheckAt else { continue }
            if due > now {
                next = due
                break
            }
            // The end of a check calls this method again.
            guard running < Limits.checks else { break }
            guard hosts.insert(entry.subscription.host).inserted else { continue }
            running += 1
            beginCheck(of: entry.subscription.id)
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
    /// - Returns: The check.
    @discardableResult
    func beginCheck(of id: DownloadID) -> Task<Void, Never>? {
        guard !isStopped, let entry = entries[id], entry.holds == 0 else { return nil }
        if let check = entry.check { return check }
        let check = Task { [weak self] in
            guard let self else { return }
            await self.check(id)
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
        await check.value
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
    /// - Parameter changes: Changes of the same commit.
    func save(_ subscription: Subscription, with changes: [StoreChange] = []) async throws(DownloadError) {
        let before = entries[subscription.id]?.subscription
        entries[subscription.id]?.subscription = subscription
        do throws(DownloadError) {
            try await downloads.commit([.saveSubscription(subscription.stored)] + changes)
        } catch {
            if let before, entries[subscription.id]?.subscription == subscription {
                entries[subscription.id]?.subscription = before
            }
            throw error
        }
    }
}

/// An event for the log.
public enum SubscriptionLogEvent: Sendable {
    /// A check has failed.
    case failed(Subscription)
    /// A check has taken items.
    case taken(Subscription, count: Int)
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
