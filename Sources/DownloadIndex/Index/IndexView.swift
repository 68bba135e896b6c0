package import DownloadCore

/// All downloads at one moment, which readers walk without a lock. Taking a view costs a few references. Later changes
/// do not affect it.
package struct IndexView: Sendable {
    var entries = IndexEntries()
    /// All downloads, by creation.
    var all = OrderedRows(by: .identity)
    /// The downloads in each state, by creation. A state without downloads may be missing.
    var byState: [DownloadState: OrderedRows] = [:]
    /// The downloads that transfer, by creation.
    var transferring = OrderedRows(by: .identity)
    /// All downloads, by the event id of their last change.
    var byChangeID = OrderedRows(by: .changeID)
    /// The queued and paused downloads, in the order in which they start.
    var waiting = OrderedRows(by: .rank)
    var texts = SearchTexts()
    /// The bytes of finished files and part files.
    var keptBytes: Int128 = 0
    /// The bytes of finished files alone.
    var finishedBytes: Int128 = 0
    /// The number of changes of completed downloads, which rises with each.
    var finishedChanges: UInt64 = 0
    /// The number of changes published so far.
    var publications: UInt64 = 0
    /// The event id after which a reader of this view continues.
    var eventID: EventID

    init(eventID: EventID) {
        self.eventID = eventID
    }

    /// The entries of downloads that transfer, by creation.
    var transferringEntries: [IndexEntry] {
        var walk = transferring.walk(in: entries)
        var found: [IndexEntry] = []
        found.reserveCapacity(transferring.count)
        while let row = walk.next() { if let entry = entries[row] { found.append(entry) } }
        return found
    }

    /// Returns the download of an entry with its live values and its position.
    func current(_ entry: IndexEntry) -> Download {
        var current = entry.current
        current.position = position(of: entry)
        return current
    }

    /// Returns the position of a download in the queue; `nil` if it is not in the queue.
    func position(of entry: IndexEntry) -> Int? {
        guard let rank = entry.rank else { return nil }
        return waiting.count(below: rank, in: entries)
    }

    /// Finds the positions of many downloads in the queue. Successive downloads are often neighbours there.
    struct Positions {
        private let starts: [Int]
        private var last: Int?

        init(_ view: IndexView) {
            starts = view.waiting.starts
        }

        mutating func position(of entry: IndexEntry, in view: borrowing IndexView) -> Int? {
            guard entry.download.isInQueue else { return nil }
            let position: Int
            if let last, isThere(entry, last - 1, view) {
                position = last - 1
            } else if let last, isThere(entry, last + 1, view) {
                position = last + 1
            } else {
                position = view.waiting.count(below: entry.download.rank, in: view.entries, starts: starts)
            }
            last = position
            return position
        }

        private func isThere(_ entry: IndexEntry, _ position: Int, _ view: borrowing IndexView) -> Bool {
            view.waiting.row(at: position, starts: starts).map { view.entries[$0] === entry } ?? false
        }
    }

    /// Returns a walk through the downloads in any of the states, by creation.
    func walk(_ states: some Sequence<DownloadState>) -> MergedWalk {
        MergedWalk(states.compactMap { byState[$0] }, .oldest, after: nil, entries)
    }
}

extension IndexView: QueueOrder {
    package var count: Int { waiting.count }

    package func member(at offset: Int) -> (id: RecordID, rank: QueueRank)? {
        waiting.row(at: offset).flatMap { entries[$0] }.map { ($0.download.id, $0.download.rank) }
    }

    package func count(below rank: QueueRank) -> Int { waiting.count(below: rank, in: entries) }
}

// MARK: - Pages

extension IndexView {
    /// Returns one page of the list.
    /// - Parameter selections: The downloads with the query's label, and those in its folder, if the
    ///   query has these conditions.
    func listing(_ query: ListQuery, among selections: [OrderedRows]) -> IndexListing {
        IndexListing(self, lists(query, selections), query)
    }

    /// Returns the ids of all matching downloads, in the order in which a command takes them.
    func ids(_ query: ListQuery, _ order: CommandOrder, among selections: [OrderedRows]) -> [RecordID] {
        var walk = MergedWalk(lists(query, selections), .newest, after: nil, entries)
        switch order {
        case .slotsLast:
            var (others, last) = ([RecordID](), [RecordID]())
            while let download = walk.next()?.download {
                if download.mayHaveSlot { last.append(download.id) } else { others.append(download.id) }
            }
            return others + last
        case .queue:
            var found: [(rank: QueueRank, id: RecordID)] = []
            while let download = walk.next()?.download { found.append((download.rank, download.id)) }
            found.sort { $0.rank < $1.rank }
            return found.map(\.id)
        }
    }

    /// Returns lists that have each matching download once.
    private func lists(_ query: ListQuery, _ selections: [OrderedRows]) -> [OrderedRows] {
        let lists = selections.first.map { [$0] } ?? (query.states.isEmpty ? [all] : query.states.compactMap { byState[$0] })
        guard let wanted = filter(query, selections) else { return lists }
        return lists.map { $0.filtered(wanted) }
    }

    /// Returns the rows whose texts contain `needle` even without possible secrets.
    private func openly(_ rows: RowSet, containing needle: [UInt8]) -> RowSet {
        var open = SearchTexts()
        for row in rows.members {
            if let download = entries[row]?.download { open.set(download.openTexts, at: row) }
        }
        return open.rows(containing: needle)
    }

    /// Returns the rows that the members of the lists have to be among; `nil` if all match.
    private func filter(_ query: ListQuery, _ selections: [OrderedRows]) -> RowSet? {
        var filter: RowSet?
        func narrow(to rows: RowSet) {
            filter?.formIntersection(rows)
            if filter == nil { filter = rows }
        }
        if let text = query.foldedText, !text.isEmpty {
            let rows = texts.rows(containing: text)
            narrow(to: query.hidesSecrets ? openly(rows, containing: text) : rows)
        }
        for selection in selections.dropFirst() {
            var rows = RowSet()
            selection.insert(into: &rows)
            narrow(to: rows)
        }
        if !selections.isEmpty, !query.states.isEmpty {
            var rows = RowSet()
            for state in query.states { byState[state]?.insert(into: &rows) }
            narrow(to: rows)
        }
        if query.endedBefore != nil {
            var rows = RowSet()
            for state in query.states.isEmpty ? Set(DownloadState.allCases) : query.states where !state.isLive {
                var walk = byState[state]?.walk(in: entries)
                while let row = walk?.next() {
                    if let entry = entries[row], query.isEnded(entry.download) { rows.insert(row) }
                }
            }
            narrow(to: rows)
        }
        return filter
    }
}

/// A walk through several lists at once, in order of creation.
struct MergedWalk: Sendable, IteratorProtocol {
    private let entries: IndexEntries
    private let order: ListQuery.Order
    private var walks: [OrderedRows.Walk]

    init(_ lists: [OrderedRows], _ order: ListQuery.Order, after: RecordID?, _ entries: IndexEntries) {
        self.entries = entries
        self.order = order
        walks = lists.map { $0.walk(descending: order == .newest, after: after?.value, in: entries) }
    }

    mutating func next() -> IndexEntry? { nextRow().flatMap { entries[$0] } }

    mutating func nextRow() -> Row? {
        if walks.count == 1 { return walks[0].next() }
        var best: (walk: Int, entry: IndexEntry)?
        for number in walks.indices {
            guard let entry = walks[number].peek.flatMap({ entries[$0] }) else { continue }
            if let known = best, (entry.download.id > known.entry.download.id) != (order == .newest) { continue }
            best = (number, entry)
        }
        guard let best else { return nil }
        return walks[best.walk].next()
    }
}
