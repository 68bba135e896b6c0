internal import DownloadCore
internal import DownloadFeed
internal import DownloadFiles
internal import DownloadStore
internal import DownloadTransfer
internal import HTTPClient
internal import ObjectStorage

/// The parts of a service that depend on whether it shares its records with others. ``Unshared`` is for a service alone,
/// ``FleetSharing`` for a replica. Any thread may use it.
protocol Sharing: Sendable {
    /// Whether other services write to the store as well.
    var isShared: Bool { get }
    /// The condition of the services that share the records; `nil`: there is one service.
    var condition: FleetCondition? { get }
    /// Waits until all changes that other services have committed so far are published here.
    /// - Parameter limit: The longest wait; `nil`: as long as a client would wait.
    func catchUp(within limit: Duration?) async throws(StoreError)

    /// Claims a subscription, so that no other service changes it.
    /// - Parameters:
    ///   - host: The host of its work. Unless `forced`, nothing is claimed while another subscription of the host is.
    ///   - forced: Whether another service loses its claim.
    /// - Returns: `nil` if another service has the claim or the host, and if the subscription is gone.
    func claimSubscription(_ id: DownloadID, host: String, forced: Bool) async throws(StoreError) -> ClaimedSubscription?
    /// Begins to pass the changes of subscriptions by other services. No changes are passed when a claim has ended.
    func followSubscriptions(_ receive: @escaping @Sendable ([ChangedSubscription]) -> Void)
    /// Returns a subscription that another service may have added or changed; `nil` if there is none.
    func subscription(_ id: DownloadID) async throws(StoreError) -> StoredSubscription?

    /// Returns the reason that no file can ever be published with this configuration; `nil` if none is known.
    func problem() async -> String?
    /// Makes the finished files that are published from part files.
    func makeFinishedFiles(_ partFiles: PartFiles) -> any FinishedFiles
    /// Makes the publisher of a service that begins with an epoch.
    func makePublisher(_ contents: StoredContents, epoch: UInt64) -> DownloadPublisher
    /// Makes the claims of disk space under a quota in bytes.
    func makeQuota(_ quota: Int64, _ index: SnapshotIndex) -> QuotaReservations
    /// Makes the names of finished files.
    func makeNames(_ finishedFiles: any FinishedFiles) -> FileNames
    func makeCoordination(log: @escaping @Sendable (DownloadLogEvent) -> Void) -> any Coordination
    /// Starts the tasks that keep finished files in order.
    func startHousekeeping(
        _ clock: ServiceClock, log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) -> [Task<Void, Never>]
    /// Logs the start of a service.
    func logStart(_ log: (DownloadLogEvent) -> Void)
}

/// A service that owns all records of its store. Its finished files are in its downloads directory.
struct Unshared: Sharing {
    let isShared = false
    var condition: FleetCondition? { nil }

    func catchUp(within limit: Duration?) async throws(StoreError) {}

    func claimSubscription(_ id: DownloadID, host: String, forced: Bool) async -> ClaimedSubscription? {
        ClaimedSubscription(claim: SubscriptionClaim(id: id, number: nil))
    }

    func followSubscriptions(_ receive: @escaping @Sendable ([ChangedSubscription]) -> Void) {}

    func subscription(_ id: DownloadID) async -> StoredSubscription? { nil }

    func problem() async -> String? { nil }

    func makeFinishedFiles(_ partFiles: PartFiles) -> any FinishedFiles { LocalFinishedFiles(partFiles) }

    func makePublisher(_ contents: StoredContents, epoch: UInt64) -> DownloadPublisher {
        DownloadPublisher(epoch: epoch, history: contents.events)
    }

    func makeQuota(_ quota: Int64, _ index: SnapshotIndex) -> QuotaReservations {
        QuotaReservations(quota: quota) { index.keptBytes(except: $0) }
    }

    func makeNames(_ finishedFiles: any FinishedFiles) -> FileNames {
        FileNames(isTaken: { finishedFiles.isTaken($0) }, obstacle: { finishedFiles.obstacle(to: $0) })
    }

    func makeCoordination(log: @escaping @Sendable (DownloadLogEvent) -> Void) -> any Coordination { SoloCoordination() }

    func startHousekeeping(
        _ clock: ServiceClock, log: @escaping @Sendable (DownloadLogEvent) -> Void
    ) -> [Task<Void, Never>] { [] }

    func logStart(_ log: (DownloadLogEvent) -> Void) {}
}
