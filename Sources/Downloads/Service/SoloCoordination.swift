internal import DownloadCore
internal import DownloadFeed
internal import DownloadStore
internal import HTTPCore

/// The coordination of a service that owns all records of its store. It gives all slots itself, and publishes changes
/// at once.
final class SoloCoordination: Coordination {
    private var suspects = SuspectQueue()

    let publishesCommits = false
    let ownsDownloads = true
    let isThrottled = false

    // MARK: - Queue

    func enqueue(_ download: LiveDownload, in service: isolated DownloadService) {
        if download.machine.record.transferCrashes > 0, !suspects.admits(download.id) { return }
        service.enterQueue(download)
    }

    func leaveQueue(_ download: LiveDownload, in service: isolated DownloadService) {
        leaveSuspects(download.id, in: service)
    }

    func noteProven(_ download: LiveDownload, in service: isolated DownloadService) {
        leaveSuspects(download.id, in: service)
    }

    /// Removes a download from the suspects. If it was the one in transfer, the next suspect enters the queue.
    private func leaveSuspects(_ id: DownloadID, in service: isolated DownloadService) {
        var next = suspects.remove(id)
        while let found = next {
            if let download = service.entries[found], download.machine.phase == .waiting { return service.enterQueue(download) }
            next = suspects.remove(found)
        }
    }

    func limits(_ settings: ServiceSettings) -> SlotLimits {
        SlotLimits(maxConcurrent: settings.maxConcurrent, maxPerHost: settings.maxPerHost)
    }

    func requestSlots(in service: isolated DownloadService) {}

    // MARK: - Publication

    func publish(_ version: Download, of download: LiveDownload, in service: isolated DownloadService) {
        var version = version
        let eventID = download.reservedEventID ?? service.publisher.reserve()
        download.reservedEventID = nil
        download.eventID = eventID
        version.changeID = eventID
        service.publisher.publish(version, counters: download.counters)
    }

    /// Does nothing: the completion is published once it is durable.
    func publishCompletion(_ version: Download, of download: LiveDownload, in service: isolated DownloadService) {}

    func publishRemoval(of download: LiveDownload, in service: isolated DownloadService) {
        service.publisher.remove(download.id, changeID: download.reservedEventID ?? service.publisher.reserve())
    }

    func submit(
        _ changes: [StoreChange], holdingURLsOf firsts: @autoclosure () -> [DownloadID], in service: isolated DownloadService
    ) -> StoreCommit {
        service.store.submit(changes)
    }

    /// Does nothing: the machines save their records again.
    func commitFailed(_ changes: [StoreChange], _ error: StoreError, in service: isolated DownloadService) {}

    // MARK: - Ownership

    func acquire(
        _ ids: [DownloadID], by deadline: ContinuousClock.Instant, in service: isolated DownloadService
    ) async throws(StoreError) -> AcquiredDownloads {
        AcquiredDownloads(records: try await service.records(ids, by: deadline))
    }

    func release(_ download: LiveDownload, in service: isolated DownloadService) -> Bool {
        download.machine.activity.contains(.done)
    }

    func forward(_ commands: [ForwardedCommand], in service: isolated DownloadService) {
        for command in commands { command.receiver(.failure(.notFound)) }
    }

    func discard(_ file: PublishedFile, of download: LiveDownload, in service: isolated DownloadService) {}

    func outcome(
        of key: RequestKey, in service: isolated DownloadService
    ) async throws(DownloadError) -> IdempotencyRecord? { nil }

    func change(
        _ settings: [String: String], if isExpected: @Sendable (ServiceSettings) -> Bool, in service: isolated DownloadService
    ) async throws(DownloadError) -> ServiceSettings? { nil }

    // MARK: - Life

    func restore(_ contents: StoredContents, in service: isolated DownloadService) { service.restore(contents.recordParts) }

    func receive(_ event: ReplicaEvent, in service: isolated DownloadService) {}

    func leave(_ service: isolated DownloadService) async {}
}
