internal import DownloadCore
internal import DownloadStore
internal import HTTPCore

/// The queue, the publication and the ownership of the service's downloads. ``SoloCoordination`` is for a service that
/// owns all records of its store, ``FleetCoordination`` for a replica that shares them with others.
///
/// The service owns its coordination. All methods run on the service, and do the work with its functions.
protocol Coordination: AnyObject {
    // MARK: Queue

    /// Adds a download to the queue, unless it has a slot.
    func enqueue(_ download: LiveDownload, in service: isolated DownloadService)
    /// Ends the wait of a download that has left the queue, or releases its slot.
    func leaveQueue(_ download: LiveDownload, in service: isolated DownloadService)
    /// Returns the limits of the slots that this service gives.
    func limits(_ settings: ServiceSettings) -> SlotLimits
    /// Requests slots that this service does not give itself.
    func requestSlots(in service: isolated DownloadService)

    // MARK: Publication

    /// Whether the store publishes changes once they are committed. Otherwise the service publishes them.
    var publishesCommits: Bool { get }
    /// Publishes a version of a download.
    func publish(_ version: Download, of download: LiveDownload, in service: isolated DownloadService)
    /// Publishes a finished download, whose record is being saved, if that has to be done together.
    func publishCompletion(_ version: Download, of download: LiveDownload, in service: isolated DownloadService)
    /// Publishes the removal of a download, whose record is removed.
    func publishRemoval(of download: LiveDownload, in service: isolated DownloadService)
    /// Submits the records of new downloads, with the other changes of their request.
    /// - Parameter firsts: The new downloads that later requests for the same URLs receive.
    func submit(
        _ changes: [StoreChange], holdingURLsOf firsts: @autoclosure () -> [DownloadID], in service: isolated DownloadService
    ) -> StoreCommit
    /// Corrects the consequences of changes that could not be committed.
    func commitFailed(_ changes: [StoreChange], _ error: StoreError, in service: isolated DownloadService)

    // MARK: Ownership

    /// Whether this service certainly owns its downloads. Otherwise it carries out no commands.
    var ownsDownloads: Bool { get }
    /// Reads the records of downloads without a machine, and acquires those that no other service owns.
    func acquire(
        _ ids: [DownloadID], by deadline: ContinuousClock.Instant, in service: isolated DownloadService
    ) async throws(StoreError) -> AcquiredDownloads
    /// Releases a download without work under way.
    /// - Returns: Whether the service has to remove its machine.
    func release(_ download: LiveDownload, in service: isolated DownloadService) -> Bool
    /// Sends commands for downloads without a machine here to the services that own them.
    func forward(_ commands: [ForwardedCommand], in service: isolated DownloadService)
    /// Removes a file that the store has refused to record.
    func discard(_ file: PublishedFile, of download: LiveDownload, in service: isolated DownloadService)
    /// Returns the outcome that another service has recorded for a key, once it is published here; `nil`: none.
    func outcome(
        of key: RequestKey, in service: isolated DownloadService
    ) async throws(DownloadError) -> IdempotencyRecord?
    /// Changes settings that other services share.
    /// - Returns: All settings afterwards; `nil`: no other service shares them, and nothing was done.
    func change(
        _ settings: [String: String], if isExpected: @Sendable (ServiceSettings) -> Bool, in service: isolated DownloadService
    ) async throws(DownloadError) -> ServiceSettings?

    // MARK: Life

    /// Restores the records of the store, and the work of the previous instance.
    func restore(_ contents: StoredContents, in service: isolated DownloadService) throws(DownloadsStartError)
    /// Handles an event from other services.
    func receive(_ event: ReplicaEvent, in service: isolated DownloadService)
    /// Whether transfers are limited to 1 byte/s, because other services may be fetching the same bytes.
    var isThrottled: Bool { get }
    /// Notes that a suspect of the last crash has run long enough without another one.
    func noteProven(_ download: LiveDownload, in service: isolated DownloadService)
    /// Releases downloads at the end of the service.
    func leave(_ service: isolated DownloadService) async
}

/// A command for a download without a machine here.
struct ForwardedCommand {
    let id: DownloadID
    let request: DownloadMachine.Command.Request
    /// The instance that owns the download; `nil`: there is no such download.
    let owner: Int64?
    let receiver: RequestWaits.Receiver
    /// Whether the download is still the version that the client means; `nil`: any version.
    let isExpected: (@Sendable (Download) -> Bool)?
    let deadline: ContinuousClock.Instant
}
