internal import DownloadCore
internal import DownloadIndex
internal import DownloadStore

/// The queue, the publication and the ownership of downloads in a service that owns all records of its store: it gives
/// all slots itself, and publishes changes at once. ``FleetCoordination`` is for a replica, which shares them with others.
///
/// The service owns its coordination. All methods run on the service, and do the work with its functions.
class Coordination {
    private var suspects = SuspectQueue()
    /// Whether transfers are limited to 1 byte/s, because other services may be fetching the same bytes.
    final var isThrottled = false
    /// Whether this service certainly owns its downloads. Otherwise it carries out no commands.
    var ownsDownloads: Bool { true }

    // MARK: - Queue

    /// Adds a download to the queue, unless it has a slot.
    func enqueue(_ download: LiveDownload, in service: isolated DownloadService) {
        if download.machine.record.transferCrashes > 0, !suspects.admits(download.id) { return }
        service.enterQueue(download)
    }

    /// Ends the wait of a download that has left the queue, or releases its slot.
    func leaveQueue(_ download: LiveDownload, in service: isolated DownloadService) {
        leaveSuspects(download.id, in: service)
    }

    /// Removes a download from the suspects: it has ended, or has run long enough without another crash. If it was the
    /// one in transfer, the next suspect enters the queue.
    final func leaveSuspects(_ id: RecordID, in service: isolated DownloadService) {
        var next = suspects.remove(id)
        while let found = next {
            if let download = service.entries[found], download.machine.phase == .waiting { return service.enterQueue(download) }
            next = suspects.remove(found)
        }
    }

    /// Notes that new downloads enter the queue once the submitted changes are durable.
    func noteQueued(in service: isolated DownloadService) {}

    /// Requests slots that this service does not give itself.
    func requestSlots(in service: isolated DownloadService) {}

    // MARK: - Publication

    /// Publishes a version of a download.
    func publish(_ version: Download, of download: LiveDownload, in service: isolated DownloadService) {
        var version = version
        let eventID = download.reservedEventID ?? service.publisher.reserve()
        download.reservedEventID = nil
        download.eventID = eventID
        version.changeID = eventID
        service.publisher.publish(version, counters: download.counters)
    }

    /// Corrects the consequences of changes that could not be committed. The machines save their records again.
    func commitFailed(_ changes: [StoreChange], _ error: StoreError, in service: isolated DownloadService) {}

    // MARK: - Ownership

    /// Releases a download without work under way.
    /// - Returns: Whether the service has to remove its machine.
    func release(_ download: LiveDownload, in service: isolated DownloadService) -> Bool {
        download.machine.activity.contains(.done)
    }

    /// Sends commands for downloads without a machine here to the services that own them.
    func forward(_ commands: [ForwardedCommand], in service: isolated DownloadService) {
        for command in commands { command.receiver(.failure(.notFound)) }
    }

    /// Removes a file that the store has refused to record.
    func discard(_ file: PublishedFile, of download: LiveDownload, in service: isolated DownloadService) {}

    /// Changes settings that other services share.
    /// - Returns: All settings afterwards; `nil`: no other service shares them, and nothing was done.
    func change(
        _ settings: [String: String], if isExpected: @Sendable (ServiceSettings) -> Bool, in service: isolated DownloadService
    ) async throws(DownloadError) -> ServiceSettings? { nil }

    // MARK: - Life

    /// Restores the records of the store, and the work of the previous instance.
    func restore(_ contents: StoredContents, in service: isolated DownloadService) throws(DownloadsStartError) {
        service.restore(contents.recordParts)
    }

    /// Handles an event from other services.
    func receive(_ event: ReplicaEvent, in service: isolated DownloadService) {}

    /// Releases downloads at the end of the service.
    func leave(_ service: isolated DownloadService) async {}
}
