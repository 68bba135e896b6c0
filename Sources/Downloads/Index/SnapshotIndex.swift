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
        entry(id)?.current
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
        return found.map { ($0.download.id, $0.download.state) }
    }

    /// All downloads of a URL, newest first.
    func downloads(ofURL url: String) -> [Download] {
        let found = state.withLock { $0.table.entries(ofURL: url) }
        return found.map(\.current)
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

    /// What a download waits for, if it is queued.
    func waitingReason(of download: Download) -> WaitingReason? {
        download.state == .queued ? queue.reason(for: download.url) : nil
    }

    /// Bytes of finished files and of part files.
    var keptBytes: Int64 { state.withLock { $0.table.view.keptBytes } }

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

    // MARK: - For the publisher

    /// Makes room for so many downloads at once, which takes less than growing with each.
    func reserveCapacity(_ count: Int) {
        state.withLock { $0.table.reserveCapacity(count) }
    }

    /// Publishes a download's new snapshot. Its counters are read for as long as it is given any.
    /// - Parameter eventID: what readers have been sent once they have this.
    /// - Returns: the download as it was published, with the counters as they are afterwards.
    @discardableResult
    func publish(_ download: Download, counters: TransferCounters?, eventID: EventID = .none) -> Download {
        let entry = state.withLock { $0.table.publish(download, counters: counters, eventID: eventID) }
        return entry.current
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
        case .all(let view): Iterator(only: nil, walk: view.walk(DownloadState.allCases.filter(\.isLive)))
        case .one(let download): Iterator(only: download, walk: nil)
        }
    }

    /// One way through them.
    public struct Iterator: IteratorProtocol, Sendable {
        fileprivate var only: Download?
        fileprivate var walk: MergedWalk?

        /// The next one; `nil` at the end.
        public mutating func next() -> Download? {
            if let download = only.take() { return download }
            return walk?.next()?.current
        }
    }
}
