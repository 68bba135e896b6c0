internal import DownloadCore
internal import System

/// The entries of the index. They are found by id, and walked in the orders of an ``IndexView``.
///
/// The caller holds the lock of the index. Every change costs O(log n).
struct IndexTable: Sendable {
    /// The view that readers walk.
    package private(set) var view: IndexView
    /// The rows of removed downloads, which are used again.
    private var free: [Row] = []
    /// The downloads with each label, by creation. They are not part of the view: there may be as
    /// many labels as downloads.
    private var byLabel: [ExactText: OrderedRows] = [:]
    /// The downloads in each folder, by creation. They are not part of the view either.
    private var byFolder: [String: OrderedRows] = [:]
    /// All downloads by their URLs.
    private var byURL = URLOrder()
    /// All downloads by gid.
    private(set) var byGID = OrderedRows(by: .gid)
    /// The ended downloads by their end.
    private(set) var byEnd = OrderedRows(by: .end)
    private var shared = SharedValues()
    /// The places of the last changed download among all, and of the last published one in the queue. The next one is often a
    /// neighbour.
    private var (lastChanged, lastWaiting): (OrderedRows.Position?, OrderedRows.Position?)

    private let queue: QueueStatus

    /// Creates an empty table.
    /// - Parameters:
    ///   - eventID: The event id after which a reader of the empty table continues.
    ///   - queue: The source of waiting reasons.
    init(eventID: EventID, queue: QueueStatus) {
        view = IndexView(eventID: eventID)
        self.queue = queue
    }

    /// The entry of a download; `nil` if there is none.
    subscript(id: RecordID) -> IndexEntry? {
        row(of: id).flatMap { view.entries[$0] }
    }

    private func row(of id: RecordID) -> Row? { view.all.row(of: id.value, in: view.entries) }

    /// Returns the row of a download that is about to change; `nil` if there is none.
    private mutating func changedRow(of id: RecordID) -> Row? {
        view.all.row(of: id, near: &lastChanged, in: view.entries)
    }

    /// Returns the newest download of a URL; `nil` if there is none.
    func newest(ofURL url: String) -> IndexEntry? {
        entries(ofURL: url, atMost: 1).max { $0.download.id < $1.download.id }
    }

    /// Returns the newest downloads of a URL: first those that can represent it, then those whose file was found
    /// missing, then failed and cancelled ones.
    /// - Parameter limit: The maximum number of downloads of each kind.
    func entries(ofURL url: String, atMost limit: Int) -> [IndexEntry] {
        let group = URLGroup(url, .current)
        return Standing.allCases.flatMap { byURL.newest(ofURL: url, group.with($0), atMost: limit, in: view.entries) }
    }

    /// Returns the downloads with the query's label, and those in its folder, each by creation.
    /// - Returns: One list for each of these two conditions that the query has.
    func selections(for query: ListQuery) -> [OrderedRows] {
        var found: [OrderedRows] = []
        if let label = query.label { found.append(byLabel[ExactText(label)] ?? OrderedRows(by: .identity)) }
        if let folder = query.folder { found.append(byFolder[folder] ?? OrderedRows(by: .identity)) }
        return found
    }

    /// Sorts all restored downloads at once, which takes less time than an insertion of each one. Several threads do a part each.
    mutating func sortRestored() {
        let entries = view.entries
        let orders = SideComputation(name: "pawl orders") {
            (URLOrder(entries), OrderedRows(by: .gid, of: entries))
        }
        let texts = SideComputation(name: "pawl texts") { SearchTexts(entries) }
        view.all = OrderedRows(by: .identity, of: entries)
        view.byChangeID = OrderedRows(by: .changeID, of: entries)
        byEnd = OrderedRows(by: .end, of: entries) { !$0.state.isLive }
        var rows = view.all.walk(in: entries)
        while let row = rows.next() {
            if let entry = entries[row] { insertInPart(entry, at: row) }
        }
        (byURL, byGID) = orders.value()
        view.texts = texts.value()
    }

    /// Adds a download, or replaces its former version, as the next publication.
    /// - Parameter eventID: The event id after which readers of this version continue.
    /// - Returns: The entry, and its position in the queue; `nil` if it is not in the queue.
    mutating func publish(
        _ download: Download, counters: TransferCounters?, eventID: EventID
    ) -> (entry: IndexEntry, position: Int?) {
        view.publications += 1
        view.eventID = eventID
        var published = download
        published.publication = view.publications
        shared.share(&published)
        count(download, 1)
        let known = changedRow(of: download.id)
        let former = known.flatMap { view.entries[$0] }
        let entry = IndexEntry(published, counters: counters, queue: queue, replacing: former)
        let row: Row
        if let known, let former {
            row = known
            count(former.download, -1)
            replace(former, with: entry, at: row)
        } else {
            row = insert(entry)
        }
        return (entry, entry.rank == nil ? nil : view.waiting.offset(of: row, near: &lastWaiting, in: view.entries))
    }

    /// Adds a download of an earlier instance, and sets its publication. ``sortRestored()`` adds it to the orders and texts.
    mutating func restore(_ download: inout Download, counters: TransferCounters?, eventID: EventID) {
        view.publications += 1
        view.eventID = eventID
        download.publication = view.publications
        shared.share(&download)
        count(download, 1)
        _ = view.entries.append(IndexEntry(download, counters: counters, queue: queue))
    }

    mutating func passPublications(atLeast count: UInt64) {
        view.publications = max(view.publications, count)
    }

    /// Adds the bytes of a download to the sums, or subtracts them if the sign is −1. Counts the changes of finished ones.
    private mutating func count(_ download: Download, _ sign: Int128) {
        view.keptBytes += sign * Int128(download.keptBytes)
        view.finishedBytes += sign * Int128(download.finishedBytes)
        if download.state == .completed { view.finishedChanges += 1 }
    }

    /// Removes a download, as the next publication.
    /// - Returns: Whether it was present.
    mutating func remove(_ id: RecordID, eventID: EventID) -> Bool {
        guard let row = changedRow(of: id), let entry = view.entries[row] else { return false }
        view.publications += 1
        view.eventID = eventID
        count(entry.download, -1)
        view.all.remove(row, in: view.entries)
        view.byChangeID.remove(row, in: view.entries)
        view.byState[entry.download.state]?.remove(row, in: view.entries)
        if entry.counters != nil { view.transferring.remove(row, in: view.entries) }
        if entry.rank != nil { view.waiting.remove(row, in: view.entries) }
        byURL.remove(row, in: view.entries)
        byGID.remove(row, in: view.entries)
        if !entry.download.state.isLive { byEnd.remove(row, in: view.entries) }
        removeLabels(of: entry.download, at: row)
        removeFolder(of: entry.download, at: row)
        view.texts.remove(at: row)
        view.entries[row] = nil
        free.append(row)
        return true
    }

    /// Inserts a new download.
    /// - Returns: Its row.
    private mutating func insert(_ entry: IndexEntry) -> Row {
        let row: Row
        if let reused = free.popLast() {
            row = reused
            view.entries[row] = entry
        } else {
            row = view.entries.append(entry)
        }
        view.all.insert(row, in: view.entries)
        view.byChangeID.insert(row, in: view.entries)
        byURL.insert(row, in: view.entries)
        byGID.insert(row, in: view.entries)
        if !entry.download.state.isLive { byEnd.insert(row, in: view.entries) }
        view.texts.set(entry.download, at: row)
        insertInPart(entry, at: row)
        return row
    }

    /// Inserts a row in the orders of a part of the downloads.
    private mutating func insertInPart(_ entry: IndexEntry, at row: Row) {
        view.byState[entry.download.state, default: OrderedRows(by: .identity)].insert(row, in: view.entries)
        if entry.counters != nil { view.transferring.insert(row, in: view.entries) }
        if entry.rank != nil { view.waiting.insert(row, in: view.entries) }
        insertLabels(of: entry.download, at: row)
        insertFolder(of: entry.download, at: row)
    }

    private mutating func replace(_ old: IndexEntry, with entry: IndexEntry, at row: Row) {
        let (before, now) = (old.download, entry.download)
        // The row is found by the event id of its present entry, so it is removed before the entry changes.
        view.byChangeID.remove(row, in: view.entries)
        let movesInQueue = old.rank != entry.rank
        if movesInQueue, old.rank != nil { view.waiting.remove(row, in: view.entries) }
        let movesAmongEnded = before.endedAt != now.endedAt || before.state.isLive != now.state.isLive
        if movesAmongEnded, !before.state.isLive { byEnd.remove(row, in: view.entries) }
        let placeAmongURLs = byURL.position(of: row, changingTo: entry, in: view.entries)
        view.entries[row] = entry
        view.byChangeID.insert(row, in: view.entries)
        if movesInQueue, entry.rank != nil { view.waiting.insert(row, in: view.entries) }
        if movesAmongEnded, !now.state.isLive { byEnd.insert(row, in: view.entries) }
        if let placeAmongURLs { byURL.move(row, from: placeAmongURLs, formerlyIn: old.group, in: view.entries) }
        if before.state != now.state {
            view.byState[before.state]?.remove(row, in: view.entries)
            view.byState[now.state, default: OrderedRows(by: .identity)].insert(row, in: view.entries)
        }
        if (old.counters == nil) != (entry.counters == nil) {
            if entry.counters == nil {
                view.transferring.remove(row, in: view.entries)
            } else {
                view.transferring.insert(row, in: view.entries)
            }
        }
        if !before.labels.isExactly(now.labels) {
            removeLabels(of: before, at: row)
            insertLabels(of: now, at: row)
        }
        if before.folder != now.folder {
            removeFolder(of: before, at: row)
            insertFolder(of: now, at: row)
        }
        if before.url != now.url || before.filename != now.filename || before.trackName != now.trackName {
            view.texts.set(now, at: row)
        }
    }

    private mutating func insertLabels(of download: Download, at row: Row) {
        if download.labels.isEmpty { return }
        for label in Set(download.labels.map(ExactText.init)) {
            byLabel[label, default: OrderedRows(by: .identity)].insert(row, in: view.entries)
        }
    }

    private mutating func removeLabels(of download: Download, at row: Row) {
        for label in Set(download.labels.map(ExactText.init)) {
            byLabel[label]?.remove(row, in: view.entries)
            if byLabel[label]?.count == 0 { byLabel[label] = nil }
        }
    }

    private mutating func insertFolder(of download: Download, at row: Row) {
        byFolder[download.folder, default: OrderedRows(by: .identity)].insert(row, in: view.entries)
    }

    private mutating func removeFolder(of download: Download, at row: Row) {
        byFolder[download.folder]?.remove(row, in: view.entries)
        if byFolder[download.folder]?.count == 0 { byFolder[download.folder] = nil }
    }
}

extension Download {
    /// The bytes of the finished file; 0 if there is none.
    package var finishedBytes: Int64 { state == .completed && !fileMissing ? bytesReceived : 0 }

    /// The bytes that the download takes on the disk, approximately. During a transfer, these are all
    /// bytes that it will take.
    package var keptBytes: Int64 {
        switch state {
        case .completed: finishedBytes
        case .cancelled: 0
        // A length from a catalogue takes no space before the origin has responded. No file is larger than a pebibyte.
        case .downloading: max(bytesReceived, resumable == nil ? 0 : min(bytesTotal ?? 0, QuotaLedger.largestReservation))
        case .queued, .paused, .retrying, .failed: bytesReceived
        }
    }
}
