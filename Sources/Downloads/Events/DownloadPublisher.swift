internal import HTTPCore

/// Publishes what happens to downloads to those who read: first in the index, then as an event, under one stamp. The service alone calls
/// it, one call at a time.
///
/// A change that is saved gets its stamp before, so that it is saved with it: a reader that comes back after a restart is sent what has a
/// later stamp than the last that it knows. Changes may be published in another order than their stamps were reserved in, but for those
/// of one download.
final class DownloadPublisher: Sendable {
    let index: SnapshotIndex
    let hub: EventHub
    /// In a fleet, changes are published in the order of their commits, which is told with them: no stamp is reserved.
    private let isFollowing: Bool

    /// - Parameters:
    ///   - epoch: names this run, and is saved before anybody is sent anything.
    ///   - history: what earlier runs have saved of their events.
    init(epoch: UInt64, history: StoredEventHistory, capacity: Int = EventHistory.defaultCapacity) {
        let knownSince = history.knownSince ?? EventID(epoch: epoch, sequence: 0)
        index = SnapshotIndex(epoch: epoch, removals: RemovalHistory(knownSince: knownSince, history.removals))
        hub = EventHub(epoch: epoch, saved: history.newest, index: index, capacity: capacity)
        isFollowing = false
    }

    /// For a replica of a fleet.
    /// - Parameter pull: asks the feed for its newest changes; must not block.
    init(_ fleet: FleetContents, pull: @escaping @Sendable () -> Void = {}) {
        let base = EventID(epoch: fleet.epoch, sequence: fleet.base)
        index = SnapshotIndex(epoch: fleet.epoch, removals: RemovalHistory(knownSince: base))
        hub = EventHub(epoch: fleet.epoch, saved: EventID(epoch: fleet.epoch, sequence: fleet.newest), index: index, pull: pull)
        isFollowing = true
    }

    /// Makes room for so many downloads at once, which takes less than growing with each.
    func reserveCapacity(_ count: Int) {
        index.reserveCapacity(count)
    }

    /// Shows a download that an earlier run has left, before anybody reads.
    ///
    /// One that is live gets a new stamp: it may stand differently from what was said of it last.
    func restore(_ download: Download) {
        var restored = download
        if download.state.isLive { restored.stamp = hub.use(.none).stamp }
        restored = index.publish(restored, counters: nil, eventID: hub.published)
        hub.begin(after: restored.publication)
    }

    /// Reserves the stamp of a change that is about to be saved. It ends in one of ``publish(_:counters:)``, ``remove(_:stamp:)`` and
    /// ``abandon(_:)``; until then the ids of events stay below it, so that whoever reads on from one of them misses nothing.
    func reserve() -> EventID {
        isFollowing ? .none : hub.reserve()
    }

    /// Gives up the stamp of a change that will not be published.
    func abandon(_ stamp: EventID) {
        hub.abandon(stamp)
    }

    /// Publishes a download as it stands.
    /// - Parameters:
    ///   - download: with the stamp that was reserved for this change; without one, it gets the next.
    ///   - counters: those of its transfer, which are read until the next publication.
    /// - Returns: the download as readers see it now.
    @discardableResult
    func publish(_ download: Download, counters: TransferCounters?) -> Download {
        var download = download
        let (stamp, id) = hub.use(download.stamp)
        download.stamp = stamp
        let shown = index.publish(download, counters: counters, eventID: id)
        hub.append(.transition(shown), stamp: stamp, id: id)
        return shown
    }

    /// Takes a download away.
    /// - Parameter stamp: what was reserved for it.
    /// - Returns: whether it was there.
    @discardableResult
    func remove(_ id: DownloadID, stamp: EventID) -> Bool {
        let (stamp, eventID) = hub.use(stamp)
        guard index.remove(id, stamp: stamp, eventID: eventID) != nil else { return false }
        hub.append(.removal(id), stamp: stamp, id: eventID)
        return true
    }

    // MARK: - In a fleet

    /// Shows all that a fleet has, before anybody reads.
    /// - Parameter transfers: whose counters are read for what transfers.
    func restore(_ downloads: some Collection<Download>, _ fleet: FleetContents, _ transfers: FleetTransfers) {
        reserveCapacity(downloads.count)
        let newest = EventID(epoch: fleet.epoch, sequence: fleet.newest)
        let stamps = Dictionary(fleet.recent.map { ($0.id, $0.sequence) }, uniquingKeysWith: { $1 })
        for download in downloads {
            var download = download
            download.stamp = EventID(epoch: fleet.epoch, sequence: stamps[download.id] ?? fleet.base)
            index.publish(download, counters: transfers.counters(of: download), eventID: newest)
        }
        let publication = index.passPublications(atLeast: UInt64(fleet.recent.count))
        hub.begin(
            after: publication,
            fleet.recent.map { change in change.download.map(EventHistory.Change.transition) ?? .removal(change.id) },
            base: fleet.base)
    }

    /// Publishes changes in their order. Called by the store's thread alone, which alone publishes in a fleet.
    func follow(_ changes: [FleetChange], _ transfers: FleetTransfers, _ retention: Retention) {
        for change in changes {
            let stamp = EventID(epoch: hub.epoch, sequence: change.sequence)
            if var download = change.download {
                download.stamp = stamp
                download.expiresAt = retention.expiry(of: download)
                let shown = index.publish(download, counters: transfers.counters(of: download), eventID: stamp)
                hub.append(.transition(shown), stamp: stamp, id: stamp)
            } else {
                transfers.forget(change.id)
                if index.remove(change.id, stamp: stamp, eventID: stamp) != nil {
                    hub.append(.removal(change.id), stamp: stamp, id: stamp)
                } else {
                    hub.pass(stamp)
                }
            }
        }
    }
}
