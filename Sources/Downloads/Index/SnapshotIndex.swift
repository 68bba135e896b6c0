internal import HTTPCore
internal import System

/// What readers see of the downloads without asking the actor: snapshots published on each transition, with live byte
/// counters read at the moment of asking. Any thread may read; only the ``DownloadPublisher`` writes.
///
/// The lock is held to look up one download, or to take an ``IndexView``, which is walked without it: no reader holds up the writer,
/// however much it reads.
public final class SnapshotIndex: Sendable {
    private struct State {
        var table: IndexTable
        var removals: RemovalHistory
    }

    private let state: Locked<State>
    /// Tells what queued downloads wait for.
    let queue = QueueStatus()

    /// - Parameters:
    ///   - epoch: the run of the service.
    ///   - removals: what is known of removals in earlier runs.
    init(epoch: UInt64 = 0, removals: RemovalHistory = RemovalHistory()) {
        state = Locked(State(table: IndexTable(eventID: EventID(epoch: epoch, sequence: 0), queue: queue), removals: removals))
    }

    /// One download as it stands now, or `nil` if there is none with this id.
    public func download(_ id: DownloadID) -> Download? {
        guard let (entry, position) = sighting(of: id) else { return nil }
        var current = entry.current
        current.position = position
        return current
    }

    /// Which version of a download there is now, and its place in the queue, or `nil` if there is none with this id.
    public func versionAndPosition(of id: DownloadID) -> (version: DownloadVersion, position: Int?)? {
        sighting(of: id).map { ($0.entry.version, $0.position) }
    }

    private func sighting(of id: DownloadID) -> (entry: IndexEntry, position: Int?)? {
        state.withLock { state in
            guard let entry = state.table[id] else { return nil }
            return (entry, entry.rank.map { state.table.view.count(below: $0) })
        }
    }

    /// Which version of a download there is now, or `nil` if there is none with this id.
    public func version(of id: DownloadID) -> DownloadVersion? {
        entry(id)?.version
    }

    /// All downloads that have not ended, as of this moment, by creation.
    public func live() -> LiveDownloads {
        LiveDownloads(view())
    }

    /// The newest download of a URL, in the normalised spelling of ``Download/url``.
    public func reference(toURL url: String) -> (id: DownloadID, state: DownloadState)? {
        let found: IndexEntry? = state.withLock { $0.table.newest(ofURL: url) }
        // One whose file was taken away is none that anybody has.
        guard let download = found?.download, !download.fileMissing else { return nil }
        return (download.id, download.state)
    }

    /// Whether there is any download of a URL.
    func hasDownload(ofURL url: String) -> Bool { state.withLock { $0.table.newest(ofURL: url) } != nil }

    /// The newest downloads of a URL: first those that can stand for it, then those whose file was found missing, then those that have ended
    /// otherwise.
    /// - Parameter limit: how many of each kind at most.
    func downloads(ofURL url: String, atMost limit: Int = 16) -> [Download] {
        let found = state.withLock { $0.table.entries(ofURL: url, atMost: limit) }
        return found.map { entry in
            var current = entry.current
            current.position = position(of: current)
            return current
        }
    }

    /// How many downloads there are in each state, and how fast bytes arrive in all.
    public func statistics() -> DownloadStatistics {
        let view = view()
        let speed = view.transferringEntries.reduce(Int64(0)) { $0 &+ ($1.counters?.bytesPerSecond ?? 0) }
        return DownloadStatistics(counts: view.byState.mapValues(\.count), bytesPerSecond: speed)
    }

    /// One page of the list.
    public func page(_ query: ListQuery) -> DownloadPage {
        let (view, selections) = state.withLock { ($0.table.view, $0.table.selections(for: query)) }
        return view.page(query, among: selections)
    }

    /// Where a download as it stands would be in the queue, if it is queued or paused.
    func position(of download: Download) -> Int? {
        guard download.isInQueue else { return nil }
        return waiting.count(below: download.rank)
    }

    /// The queue as it is whenever it is asked: nothing is held that a change would have to copy.
    var waiting: Waiting { Waiting(index: self) }

    struct Waiting: QueueOrder {
        fileprivate let index: SnapshotIndex

        var count: Int { index.state.withLock { $0.table.view.count } }

        func member(at offset: Int) -> (id: DownloadID, rank: QueueRank)? {
            index.state.withLock { $0.table.view.member(at: offset) }
        }

        func count(below rank: QueueRank) -> Int { index.state.withLock { $0.table.view.count(below: rank) } }
    }

    /// What a download waits for, if it is queued.
    func waitingReason(of download: Download) -> WaitingReason? {
        download.state == .queued ? queue.reason(for: download.url) : nil
    }

    /// Bytes of finished files and of part files. Records by another hand may tell of more than 64 bits hold.
    var keptBytes: Int128 { state.withLock { $0.table.view.keptBytes } }

    /// The same without those of some downloads.
    func keptBytes(except ids: [DownloadID]) -> Int128 {
        state.withLock { state in
            ids.reduce(state.table.view.keptBytes) { $0 - Int128(state.table[$1]?.download.keptBytes ?? 0) }
        }
    }

    /// Those of finished files among them.
    var finishedBytes: Int128 { state.withLock { $0.table.view.finishedBytes } }

    // MARK: - For the events

    func view() -> IndexView { state.withLock { $0.table.view } }

    func entry(_ id: DownloadID) -> IndexEntry? { state.withLock { $0.table[id] } }

    func isTransferring(scope: DownloadID?) -> Bool {
        if let scope { return entry(scope)?.counters != nil }
        return state.withLock { $0.table.view.transferring.count > 0 }
    }

    /// The stamp from which on every removal is known.
    var knownSince: EventID { state.withLock { $0.removals.knownSince } }

    /// The first removals with a later stamp.
    func removals(after stamp: EventID, atMost limit: Int) -> [RemovalHistory.Removal] {
        state.withLock { $0.removals.removals(after: stamp, atMost: limit) }
    }

    // MARK: - What is sorted when it is first asked for

    /// Those that have ended, by when they did.
    func sortedByEnd() -> (IndexView, OrderedPlaces) {
        state.withLock { state in
            let ended = state.table.sortedByEnd()
            return (state.table.view, ended)
        }
    }

    /// The first download whose name in aria2's RPC is not below this one, and the next.
    func ids(fromGID gid: UInt64) -> (first: (id: DownloadID, gid: DownloadGID)?, second: (id: DownloadID, gid: DownloadGID)?) {
        state.withLock { state in
            let places = state.table.sortedByGID()
            let entries = state.table.view.entries
            let (first, second) = places.pair(from: UInt128(gid), in: entries)
            func named(_ place: Place?) -> (id: DownloadID, gid: DownloadGID)? {
                place.flatMap { entries[$0]?.download }.map { ($0.id, $0.gid) }
            }
            return (named(first), named(second))
        }
    }

    /// Whether a download has this name in aria2's RPC. Unless somebody has asked for names before, that is not looked up.
    func isKnownGID(_ gid: DownloadGID) -> Bool {
        state.withLock { state in
            guard let places = state.table.knownGIDs else { return false }
            let entries = state.table.view.entries
            return places.pair(from: UInt128(gid.value), in: entries).0.flatMap { entries[$0]?.download.gid } == gid
        }
    }

    // MARK: - For the publisher

    /// Counts on, so that there have been so many publications at least.
    /// - Returns: how many there have been.
    func passPublications(atLeast count: UInt64) -> UInt64 {
        state.withLock { state in
            state.table.passPublications(atLeast: count)
            return state.table.view.publications
        }
    }

    /// Makes room for so many downloads at once, which takes less than growing with each.
    func reserveCapacity(_ count: Int) {
        state.withLock { $0.table.reserveCapacity(count) }
    }

    /// Publishes a download's new snapshot. Its counters are read for as long as it is given any.
    /// - Parameter eventID: what readers have been sent once they have this.
    /// - Returns: the download as it was published, with the counters as they are afterwards.
    @discardableResult
    func publish(_ download: Download, counters: TransferCounters?, eventID: EventID = .none) -> Download {
        let (entry, position) = state.withLock { state in
            let entry = state.table.publish(download, counters: counters, eventID: eventID)
            return (entry, entry.rank.map { state.table.view.count(below: $0) })
        }
        var current = entry.current
        current.position = position
        return current
    }

    /// Takes a download out of the index, and keeps that it was removed.
    /// - Returns: which publication that was; `nil` if there was no such download.
    @discardableResult
    func remove(_ id: DownloadID, stamp: EventID = .none, eventID: EventID = .none) -> UInt64? {
        state.withLock { state in
            guard state.table.remove(id, eventID: eventID) else { return nil }
            let publication = state.table.view.publications
            state.removals.insert(RemovalHistory.Removal(stamp: stamp, id: id, publication: publication))
            return publication
        }
    }
}

/// The downloads that had not ended at one moment, by creation; with the live counters as they are when they are walked.
public struct LiveDownloads: Sequence, Sendable {
    private enum Source: Sendable {
        case all(IndexView)
        case one(Download)
    }

    private let source: Source

    init(_ view: IndexView) {
        source = .all(view)
    }

    /// Just one, whether it has ended or not.
    init(only download: Download) {
        source = .one(download)
    }

    /// Begins with the one that was created first.
    public func makeIterator() -> Iterator {
        switch source {
        case .all(let view): Iterator(view: view)
        case .one(let download): Iterator(only: download)
        }
    }

    /// One way through them.
    public struct Iterator: IteratorProtocol, Sendable {
        private var only: Download?
        private var view: IndexView?
        private var walk: MergedWalk?
        private var positions: IndexView.Positions?

        fileprivate init(view: IndexView) {
            self.view = view
            walk = view.walk(DownloadState.allCases.filter(\.isLive))
            positions = IndexView.Positions(view)
        }

        fileprivate init(only download: Download) {
            only = download
        }

        /// The next one; `nil` at the end.
        public mutating func next() -> Download? {
            if let download = only.take() { return download }
            guard let view, let entry = walk?.next() else { return nil }
            var current = entry.current
            current.position = positions?.position(of: entry, in: view)
            return current
        }
    }
}
