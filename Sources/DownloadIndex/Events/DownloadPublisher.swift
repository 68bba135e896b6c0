package import DownloadCore

/// Publishes changes of downloads to readers: first in the index, then as an event, with one event
/// id. Calls must not overlap.
///
/// A change that is saved gets its event id before, so that the id is saved with it. After a restart, a reader receives
/// the changes with later ids than the last one that it has. Changes may be published in another order than their ids
/// were reserved in. This does not apply to changes of one download.
package final class DownloadPublisher: Sendable {
    package let index: SnapshotIndex
    package let hub: EventHub
    /// Whether event ids come with the changes, as in a fleet. Changes are then published in the order of their
    /// commits, and no id is reserved.
    private let isFollowing: Bool

    /// Creates the publisher of a single service.
    /// - Parameters:
    ///   - epoch: The epoch of this instance. It is saved before readers are sent anything.
    ///   - history: The saved events of earlier instances.
    ///   - capacity: The number of recent changes that are kept for readers.
    package init(epoch: UInt64, history: StoredEventHistory, capacity: Int = EventHistory.defaultCapacity) {
        let knownSince = history.knownSince ?? EventID(epoch: epoch, sequence: 0)
        index = SnapshotIndex(epoch: epoch, removals: RemovalHistory(knownSince: knownSince, history.removals))
        hub = EventHub(epoch: epoch, saved: history.newest, index: index, capacity: capacity)
        isFollowing = false
    }

    /// Creates the publisher of a replica in a fleet.
    /// - Parameter pull: Asks the change log for its newest changes; must not block.
    package init(_ fleet: FleetContents, pull: @escaping @Sendable () -> Void = {}) {
        let base = EventID(epoch: fleet.epoch, sequence: fleet.base)
        index = SnapshotIndex(epoch: fleet.epoch, removals: RemovalHistory(knownSince: base))
        hub = EventHub(epoch: fleet.epoch, saved: EventID(epoch: fleet.epoch, sequence: fleet.newest), index: index, pull: pull)
        isFollowing = true
    }

    /// Publishes the downloads of an earlier instance, before there are readers.
    /// - Parameter body: Calls ``restore(_:)-(Download)`` once with each of them.
    package func restore(_ body: () -> Void) {
        index.restore(body)
        hub.begin(after: index.publications)
    }

    /// Publishes a download of an earlier instance. ``restore(_:)-(()->Void)`` calls it.
    ///
    /// A live download gets a new event id, since its state may differ from the one that was last published.
    package func restore(_ download: consuming Download) {
        if download.state.isLive { download.changeID = hub.use(.none).changeID }
        index.restore(download, counters: nil, eventID: hub.published)
    }

    /// Reserves the event id of a change that is about to be saved.
    ///
    /// ``publish(_:counters:)``, ``remove(_:changeID:)`` or ``abandon(_:)`` ends the reservation. Until then, the ids that
    /// events are sent with stay below the reserved one. A reader that continues after one of them misses nothing.
    package func reserve() -> EventID {
        isFollowing ? .none : hub.reserve()
    }

    /// Abandons the event id of a change that will not be published.
    package func abandon(_ changeID: EventID) {
        hub.abandon(changeID)
    }

    /// Publishes the present state of a download.
    /// - Parameters:
    ///   - download: The download, with the event id that was reserved for this change. Without
    ///     one, it gets the next id.
    ///   - counters: The counters of its transfer, which are read until its next publication; `nil` without a transfer.
    /// - Returns: The download as readers see it now.
    @discardableResult
    package func publish(_ download: Download, counters: TransferCounters?) -> Download {
        var download = download
        let (changeID, id) = hub.use(download.changeID)
        download.changeID = changeID
        let shown = index.publish(download, counters: counters, eventID: id)
        hub.append(.transition(shown), changeID: changeID, id: id)
        return shown
    }

    /// Removes a download.
    /// - Parameter changeID: The event id that was reserved for the removal.
    /// - Returns: Whether the download was present.
    @discardableResult
    package func remove(_ id: RecordID, changeID: EventID) -> Bool {
        let (changeID, eventID) = hub.use(changeID)
        guard index.remove(id, changeID: changeID, eventID: eventID) != nil else { return false }
        hub.append(.removal(id), changeID: changeID, id: eventID)
        return true
    }

    // MARK: - In a fleet

    /// Publishes all downloads of a fleet, before there are readers.
    /// - Parameter transfers: The counters of the fleet's transfers.
    package func restore(_ downloads: some Collection<Download>, _ fleet: FleetContents, _ transfers: FleetTransfers) {
        let newest = EventID(epoch: fleet.epoch, sequence: fleet.newest)
        let changeIDs = Dictionary(fleet.recent.map { ($0.id, $0.sequence) }, uniquingKeysWith: { $1 })
        index.restore {
            for download in downloads {
                var download = download
                download.changeID = EventID(epoch: fleet.epoch, sequence: changeIDs[download.id] ?? fleet.base)
                index.restore(download, counters: transfers.counters(of: download), eventID: newest)
            }
        }
        let publication = index.passPublications(atLeast: UInt64(fleet.recent.count))
        hub.begin(
            after: publication,
            fleet.recent.map { change in change.download.map(EventHistory.Change.transition) ?? .removal(change.id) },
            base: fleet.base)
    }

    /// Publishes changes in their order. In a fleet, only the store's thread publishes, by calling this.
    package func follow(_ changes: [FleetChange], _ transfers: FleetTransfers, _ retention: Retention) {
        for change in changes {
            let changeID = EventID(epoch: hub.epoch, sequence: change.sequence)
            if var download = change.download {
                download.changeID = changeID
                download.expiresAt = retention.expiry(of: download)
                let shown = index.publish(download, counters: transfers.counters(of: download), eventID: changeID)
                hub.append(.transition(shown), changeID: changeID, id: changeID)
            } else {
                transfers.forget(change.id)
                if index.remove(change.id, changeID: changeID, eventID: changeID) != nil {
                    hub.append(.removal(change.id), changeID: changeID, id: changeID)
                } else {
                    hub.pass(changeID)
                }
            }
        }
    }
}
