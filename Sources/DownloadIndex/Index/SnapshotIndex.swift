public import DownloadCore
internal import System

/// The downloads as readers see them, without a call of the service's actor.
///
/// Each transition publishes a snapshot of a download. Live byte counters are read at each access. Any thread may read;
/// only the ``DownloadPublisher`` writes.
///
/// The lock is held to look up one download, or to take an ``IndexView``, which is walked without it. Readers do not
/// delay the writer, however much they read.
public final class SnapshotIndex: Sendable {
    private struct State {
        var table: IndexTable
        var removals: RemovalHistory
    }

    private let state: Locked<State>
    /// The source of waiting reasons.
    package let queue = QueueStatus()

    /// Creates an index without downloads.
    /// - Parameters:
    ///   - epoch: The epoch of event ids.
    ///   - removals: The known removals of earlier instances.
    package init(epoch: UInt64 = 0, removals: RemovalHistory = RemovalHistory()) {
        state = Locked(State(table: IndexTable(eventID: EventID(epoch: epoch, sequence: 0), queue: queue), removals: removals))
    }

    /// Returns a download as it is now; `nil` if there is none with this id.
    public func download(_ id: RecordID) -> Download? {
        guard let (entry, position) = sighting(of: id) else { return nil }
        var current = entry.current
        current.position = position
        return current
    }

    /// Returns the version of a download and its position in the queue; `nil` if there is no download with this id.
    public func versionAndPosition(of id: RecordID) -> (version: DownloadVersion, position: Int?)? {
        sighting(of: id).map { ($0.entry.version, $0.position) }
    }

    private func sighting(of id: RecordID) -> (entry: IndexEntry, position: Int?)? {
        state.withLock { state in
            guard let entry = state.table[id] else { return nil }
            return (entry, state.table.view.position(of: entry))
        }
    }

    /// Returns the version of a download; `nil` if there is none with this id.
    public func version(of id: RecordID) -> DownloadVersion? {
        entry(id)?.version
    }

    /// Returns all live downloads at this moment, by creation.
    public func live() -> LiveDownloads {
        LiveDownloads(view())
    }

    /// Returns the newest download of a URL, in the normalised spelling of ``Download/url``.
    ///
    /// `nil` if there is none, or if its finished file is missing.
    public func reference(toURL url: String) -> (id: RecordID, state: DownloadState)? {
        let found: IndexEntry? = state.withLock { $0.table.newest(ofURL: url) }
        guard let download = found?.download, !download.fileMissing else { return nil }
        return (download.id, download.state)
    }

    /// Whether any download of a URL exists.
    package func hasDownload(ofURL url: String) -> Bool { state.withLock { $0.table.newest(ofURL: url) } != nil }

    /// Returns the newest downloads of a URL: first those that can represent it, then those whose file was found
    /// missing, then failed and cancelled ones.
    /// - Parameter limit: The maximum number of downloads of each kind.
    package func downloads(ofURL url: String, atMost limit: Int = 16) -> [Download] {
        let found = state.withLock { $0.table.entries(ofURL: url, atMost: limit) }
        return found.map { entry in
            var current = entry.current
            current.position = position(of: current)
            return current
        }
    }

    /// Returns the ids of all matching downloads, in the order in which a command takes them.
    /// - Parameter query: The conditions. Its page and its order are ignored.
    package func ids(_ query: ListQuery, _ order: CommandOrder) -> [RecordID] {
        let (view, selections) = state.withLock { ($0.table.view, $0.table.selections(for: query)) }
        return view.ids(query, order, among: selections)
    }

    /// Returns the number of downloads in each state, and the speed of all transfers.
    public func statistics() -> DownloadStatistics {
        let view = view()
        let speed = view.transferringEntries.reduce(Int64(0)) { $0 &+ ($1.counters?.bytesPerSecond ?? 0) }
        return DownloadStatistics(counts: view.byState.mapValues(\.count), bytesPerSecond: speed)
    }

    /// Returns one page of the list.
    public func page(_ query: ListQuery) -> DownloadPage { listing(query).page }

    /// The number of changes published so far. While it is unchanged, lists without live items are, too.
    public var publications: UInt64 { state.withLock { $0.table.view.publications } }

    /// Returns one page of the list without building its downloads.
    public func listing(_ query: ListQuery) -> IndexListing {
        let (view, selections) = state.withLock { ($0.table.view, $0.table.selections(for: query)) }
        return view.listing(query, among: selections)
    }

    /// Returns the position that a download has or would have in the queue; `nil` if it is neither queued nor paused.
    package func position(of download: Download) -> Int? {
        guard download.isInQueue else { return nil }
        return waiting.count(below: download.rank)
    }

    /// The queue, read from the index at each access. It holds no view, which the next change would have to copy.
    package var waiting: Waiting { Waiting(index: self) }

    package struct Waiting: QueueOrder {
        fileprivate let index: SnapshotIndex

        package var count: Int { index.state.withLock { $0.table.view.count } }

        package func member(at offset: Int) -> (id: RecordID, rank: QueueRank)? {
            index.state.withLock { $0.table.view.member(at: offset) }
        }

        package func count(below rank: QueueRank) -> Int { index.state.withLock { $0.table.view.count(below: rank) } }
    }

    /// Returns the reason why a download waits; `nil` if it is not queued.
    package func waitingReason(of download: Download) -> WaitingReason? {
        download.state == .queued ? queue.reason(of: download) : nil
    }

    /// Returns the bytes of the finished files and part files of all downloads but some. In records that another program
    /// wrote, the sum may exceed 64 bits.
    package func keptBytes(except ids: [RecordID]) -> Int128 {
        state.withLock { state in
            ids.reduce(state.table.view.keptBytes) { $0 - Int128(state.table[$1]?.download.keptBytes ?? 0) }
        }
    }

    /// The bytes of finished files alone.
    package var finishedBytes: Int128 { state.withLock { $0.table.view.finishedBytes } }

    /// The number of changes of completed downloads, which rises with each.
    package var finishedChanges: UInt64 { state.withLock { $0.table.view.finishedChanges } }

    // MARK: - For events

    package func view() -> IndexView { state.withLock { $0.table.view } }

    /// Returns the entries of downloads. Successive ones are often neighbours by creation.
    package func entries(_ ids: some Sequence<RecordID>) -> [IndexEntry] {
        let view = view()
        var last: OrderedRows.Position?
        return ids.compactMap { id in view.all.row(of: id, near: &last, in: view.entries).flatMap { view.entries[$0] } }
    }

    package func entry(_ id: RecordID) -> IndexEntry? { state.withLock { $0.table[id] } }

    func isTransferring(scope: RecordID?) -> Bool {
        if let scope { return entry(scope)?.counters != nil }
        return state.withLock { $0.table.view.transferring.count > 0 }
    }

    /// The event id after which every removal is known.
    package var knownSince: EventID { state.withLock { $0.removals.knownSince } }

    /// Returns the first removals with later event ids.
    package func removals(after changeID: EventID, atMost limit: Int) -> [RemovalHistory.Removal] {
        state.withLock { $0.removals.removals(after: changeID, atMost: limit) }
    }

    // MARK: - Orders that are not part of a view

    /// Returns a view, and its ended downloads by their end.
    func sortedByEnd() -> (IndexView, OrderedRows) {
        state.withLock { ($0.table.view, $0.table.byEnd) }
    }

    /// Returns the first download whose name in aria2's RPC is not below `gid`, and the next one.
    package func ids(fromGID gid: UInt64) -> (
        first: (id: RecordID, gid: DownloadGID)?, second: (id: RecordID, gid: DownloadGID)?
    ) {
        state.withLock { state in
            let entries = state.table.view.entries
            let (first, second) = state.table.byGID.pair(fromGID: gid, in: entries)
            func named(_ row: Row?) -> (id: RecordID, gid: DownloadGID)? {
                row.flatMap { entries[$0]?.download }.map { ($0.id, $0.gid) }
            }
            return (named(first), named(second))
        }
    }

    /// Whether a download has this name in aria2's RPC.
    package func isKnownGID(_ gid: DownloadGID) -> Bool { ids(fromGID: gid.value).first?.gid == gid }

    // MARK: - For the publisher

    /// Raises the number of publications to `count`, if it is less.
    /// - Returns: The number of publications.
    func passPublications(atLeast count: UInt64) -> UInt64 {
        state.withLock { state in
            state.table.passPublications(atLeast: count)
            return state.table.view.publications
        }
    }

    /// Publishes the downloads of an earlier instance.
    /// - Parameter body: Publishes each of them once with ``restore(_:counters:eventID:)``, and looks up none.
    func restore(_ body: () -> Void) {
        body()
        state.withLock { $0.table.sortRestored() }
    }

    /// Publishes a download of an earlier instance.
    func restore(_ download: consuming Download, counters: TransferCounters?, eventID: EventID) {
        var download = download
        state.withLock { $0.table.restore(&download, counters: counters, eventID: eventID) }
    }

    /// Publishes a download's new version. The counters are read until its next publication.
    /// - Parameter eventID: The event id after which readers of this version continue.
    /// - Returns: The published download, with the present values of the counters.
    @discardableResult
    package func publish(_ download: Download, counters: TransferCounters?, eventID: EventID = .none) -> Download {
        let (entry, position) = state.withLock { $0.table.publish(download, counters: counters, eventID: eventID) }
        var current = entry.current
        current.position = position
        return current
    }

    /// Removes a download from the index, and notes the removal.
    /// - Returns: The number of this publication; `nil` if there was no such download.
    @discardableResult
    package func remove(_ id: RecordID, changeID: EventID = .none, eventID: EventID = .none) -> UInt64? {
        state.withLock { state in
            guard state.table.remove(id, eventID: eventID) else { return nil }
            let publication = state.table.view.publications
            state.removals.insert(RemovalHistory.Removal(changeID: changeID, id: id, publication: publication))
            return publication
        }
    }
}

/// The live downloads of one moment, by creation. Live counters are read during the walk.
public struct LiveDownloads: Sequence, Sendable {
    private enum Source: Sendable {
        case all(IndexView)
        case one(Download)
    }

    private let source: Source

    package init(_ view: IndexView) {
        source = .all(view)
    }

    /// Creates a sequence of one download, whether it has ended or not.
    package init(only download: Download) {
        source = .one(download)
    }

    /// The number of downloads.
    public var underestimatedCount: Int {
        switch source {
        case .all(let view): view.byState.reduce(0) { $0 + ($1.key.isLive ? $1.value.count : 0) }
        case .one: 1
        }
    }

    /// Returns an iterator that begins with the download that was created first.
    public func makeIterator() -> Iterator {
        switch source {
        case .all(let view): Iterator(view: view)
        case .one(let download): Iterator(only: download)
        }
    }

    /// A walk through the downloads.
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

        /// Returns the next download; `nil` at the end.
        public mutating func next() -> Download? {
            if let download = only.take() { return download }
            guard let view, let entry = walk?.next() else { return nil }
            var current = entry.current
            current.position = positions?.position(of: entry, in: view)
            return current
        }
    }
}
