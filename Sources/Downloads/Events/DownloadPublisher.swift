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

    /// - Parameters:
    ///   - epoch: names this run, and is saved before anybody is sent anything.
    ///   - history: what earlier runs have saved of their events.
    init(epoch: UInt64, history: StoredEventHistory, capacity: Int = EventHistory.defaultCapacity) {
        let knownSince = history.knownSince ?? EventID(epoch: epoch, sequence: 0)
        index = SnapshotIndex(epoch: epoch, removals: RemovalHistory(knownSince: knownSince, history.removals))
        hub = EventHub(epoch: epoch, saved: history.newest, index: index, capacity: capacity)
    }

    /// Makes room for so many downloads at once, which takes less than growing with each.
    func reserveCapacity(_ count: Int) {
        index.reserveCapacity(count)
    }

    /// Shows a download that an earlier run has left, before anybody reads.
    ///
    /// One that is live gets a new stamp: it may stand differently from what was said of it last.
    func restore(_ download: Download) {
        var download = download
        if download.state.isLive { download.stamp = hub.use(.none).stamp }
        let restored = index.publish(download, counters: nil, eventID: hub.published)
        hub.begin(after: restored.publication)
    }

    /// Reserves the stamp of a change that is about to be saved. It ends in one of ``publish(_:counters:)``, ``remove(_:stamp:)`` and
    /// ``abandon(_:)``; until then the ids of events stay below it, so that whoever reads on from one of them misses nothing.
    func reserve() -> EventID {
        hub.reserve()
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
}
