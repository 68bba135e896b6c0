/// One download as the board shows it.
struct BoardEntry: Sendable {
    var download: Download
    var counters: TransferCounters?
    /// Number of the event that told the last transition.
    var sequence: UInt64

    /// The version of that, for less than the value itself costs.
    var version: DownloadVersion {
        DownloadVersion(
            publication: download.publication, bytesReceived: counters?.received ?? download.bytesReceived,
            bytesPerSecond: counters?.bytesPerSecond ?? download.bytesPerSecond,
            stalled: counters?.isStalled ?? download.stalled, segments: segments)
    }

    private var segments: Int {
        guard let connections = counters?.connections, connections > 0 else { return download.segments }
        return connections
    }

    /// The snapshot with the live counters laid over it.
    var current: Download {
        guard let counters else { return download }
        var current = download
        current.bytesReceived = counters.received
        current.bytesPerSecond = counters.bytesPerSecond
        current.stalled = counters.isStalled
        current.segments = segments
        if let written = counters.written { current.receivedRanges = written.outline(atMost: Download.rangeLimit) }
        return current
    }
}

/// The entries of the board: found by identity, and walked in order of creation, all of them or those in some states, with a label, or
/// with a text.
///
/// They lie side by side in an array. As values of a dictionary, of whose buckets up to two thirds are empty, a hundred thousand
/// finished downloads would take twice the room. Every change costs O(log n), and moving up to 4 bytes for each download in each list.
struct BoardTable: Sendable {
    /// Where an entry lies; 32 bits are enough for what memory can hold, and there are many of them.
    private typealias Place = UInt32

    /// Those of removed downloads are blank until they are used again.
    private var entries: [BoardEntry] = []
    private var free: [Place] = []
    private var places: [DownloadID: Place] = [:]
    /// All places, by creation.
    private var order: [Place] = []
    /// The same for the downloads in each state.
    private var byState: [DownloadState: [Place]] = [:]
    /// And for those that carry each label.
    private var byLabel: [String: [Place]] = [:]
    private var texts = SearchTexts()

    /// How many downloads there are in each state; one without any may be missing.
    var counts: [DownloadState: Int] { byState.mapValues(\.count) }

    /// All entries, in no particular order.
    var all: some Sequence<BoardEntry> { entries.lazy.filter { $0.download.id != Self.nobody } }

    /// The entry of a download; nil removes it.
    subscript(id: DownloadID) -> BoardEntry? {
        get { places[id].map { entries[Int($0)] } }
        set {
            guard let newValue else { return remove(id) }
            guard let place = places[id] else { return insert(newValue, id) }
            let before = entries[Int(place)].download
            entries[Int(place)] = newValue
            let now = newValue.download
            if before.state != now.state {
                Self.take(id, from: &byState[before.state, default: []], entries)
                Self.put(place, id, into: &byState[now.state, default: []], entries)
            }
            if before.labels != now.labels {
                takeLabels(of: before)
                putLabels(of: now, at: place)
            }
            if before.url != now.url || before.filename != now.filename || before.trackName != now.trackName {
                putTexts(of: now, at: place)
            }
        }
    }

    mutating func reserveCapacity(_ count: Int) {
        entries.reserveCapacity(count)
        places.reserveCapacity(count)
        order.reserveCapacity(count)
    }

    private mutating func insert(_ entry: BoardEntry, _ id: DownloadID) {
        let place: Place
        if let reused = free.popLast() {
            place = reused
            entries[Int(place)] = entry
        } else {
            place = Place(clamping: entries.count)
            entries.append(entry)
        }
        places[id] = place
        Self.put(place, id, into: &order, entries)
        Self.put(place, id, into: &byState[entry.download.state, default: []], entries)
        putLabels(of: entry.download, at: place)
        putTexts(of: entry.download, at: place)
    }

    private mutating func remove(_ id: DownloadID) {
        guard let place = places.removeValue(forKey: id) else { return }
        Self.take(id, from: &order, entries)
        Self.take(id, from: &byState[entries[Int(place)].download.state, default: []], entries)
        takeLabels(of: entries[Int(place)].download)
        texts.remove(at: place)
        let blank = Download(id: Self.nobody, url: "", createdAt: Self.nobody.createdAt)
        entries[Int(place)] = BoardEntry(download: blank, counters: nil, sequence: 0)
        free.append(place)
    }

    private mutating func putLabels(of download: Download, at place: Place) {
        for label in Set(download.labels) { Self.put(place, download.id, into: &byLabel[label, default: []], entries) }
    }

    private mutating func takeLabels(of download: Download) {
        for label in Set(download.labels) {
            Self.take(download.id, from: &byLabel[label, default: []], entries)
            if byLabel[label]?.isEmpty == true { byLabel[label] = nil }
        }
    }

    private mutating func putTexts(of download: Download, at place: Place) {
        texts.set([download.url, download.filename, download.trackName], at: place)
    }

    /// No download's: each tells a time of creation.
    private static let nobody = DownloadID(value: 0)

    // These take what they need of the table, so that a list is changed where it lies.

    private static func put(_ place: Place, _ id: DownloadID, into list: inout [Place], _ entries: [BoardEntry]) {
        // Nearly always the newest.
        guard let last = list.last, entries[Int(last)].download.id > id else { return list.append(place) }
        list.insert(place, at: index(of: id, in: list, entries))
    }

    private static func take(_ id: DownloadID, from list: inout [Place], _ entries: [BoardEntry]) {
        let index = index(of: id, in: list, entries)
        if index < list.count, entries[Int(list[index])].download.id == id { list.remove(at: index) }
    }

    /// Where a download stands, or would be inserted, in this ascending list.
    private static func index(of id: DownloadID, in list: [Place], _ entries: [BoardEntry]) -> Int {
        var low = 0
        var high = list.count
        while low < high {
            let middle = (low + high) / 2
            if entries[Int(list[middle])].download.id < id { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func id(at place: Place) -> DownloadID { entries[Int(place)].download.id }
}

// MARK: - Pages

extension BoardTable {
    /// One page of the list.
    func page(_ query: ListQuery) -> DownloadPage {
        var walk = Walk(lists(query), query.order)
        var page = DownloadPage(items: [], next: nil, total: walk.count)
        if let after = query.after { walk.skip { isAtOrBefore(after, $0, query.order) } }
        while let place = walk.next({ id(at: $0) }) {
            guard page.items.count < query.limit else {
                page.next = page.items.last?.id
                break
            }
            page.items.append(entries[Int(place)].current)
        }
        return page
    }

    /// Lists of all that match, each of them once.
    private func lists(_ query: ListQuery) -> [[Place]] {
        let lists =
            if let label = query.label {
                [byLabel[label] ?? []]
            } else {
                query.states.isEmpty ? [order] : query.states.compactMap { byState[$0] }
            }
        guard let wanted = filter(query) else { return lists }
        return lists.map { $0.filter(wanted.contains) }
    }

    /// Those among which the lists' members have to be; nil: all are.
    private func filter(_ query: ListQuery) -> PlaceSet? {
        var filter: PlaceSet?
        if let text = query.foldedText, !text.isEmpty { filter = texts.places(containing: text) }
        guard query.label != nil, !query.states.isEmpty else { return filter }
        var places = PlaceSet()
        for state in query.states { for place in byState[state] ?? [] { places.insert(place) } }
        filter?.formIntersection(places)
        return filter ?? places
    }

    /// Whether an entry lies on this page's near side of the cursor, or is what the cursor names.
    private func isAtOrBefore(_ cursor: DownloadID, _ place: Place, _ order: ListQuery.Order) -> Bool {
        order == .newest ? id(at: place) >= cursor : id(at: place) <= cursor
    }

    /// Goes through several ascending lists at once, in order.
    private struct Walk {
        private let lists: [[Place]]
        private let order: ListQuery.Order
        /// How many places of each list have been passed, from whichever end.
        private var passed: [Int]

        init(_ lists: [[Place]], _ order: ListQuery.Order) {
            self.lists = lists
            self.order = order
            passed = lists.map { _ in 0 }
        }

        /// How many there are in all, passed or not.
        var count: Int { lists.reduce(0) { $0 + $1.count } }

        private func place(_ list: Int, _ offset: Int) -> Place {
            order == .newest ? lists[list][lists[list].count - 1 - offset] : lists[list][offset]
        }

        /// Passes all for which `isBehind` holds: in each list the first ones.
        mutating func skip(_ isBehind: (Place) -> Bool) {
            for list in lists.indices {
                var low = 0
                var high = lists[list].count
                while low < high {
                    let middle = (low + high) / 2
                    if isBehind(place(list, middle)) { low = middle + 1 } else { high = middle }
                }
                passed[list] = low
            }
        }

        mutating func next(_ id: (Place) -> DownloadID) -> Place? {
            var best: (list: Int, place: Place)?
            for list in lists.indices where passed[list] < lists[list].count {
                let candidate = place(list, passed[list])
                if let known = best {
                    let isNewer = id(candidate) > id(known.place)
                    if isNewer != (order == .newest) { continue }
                }
                best = (list, candidate)
            }
            guard let best else { return nil }
            passed[best.list] += 1
            return best.place
        }
    }
}
