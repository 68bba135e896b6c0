/// All downloads by URL, then by standing.
///
/// Most URLs have one download. Its place does not depend on its standing, so a change of the standing reads no other entry.
struct URLOrder: Sendable {
    private var rows = OrderedRows(by: .url)
    /// The URLs with several downloads, by hash.
    private var repeated: Set<Int> = []

    /// Creates an order without downloads.
    init() {}

    /// Creates the order of all entries.
    init(_ entries: IndexEntries) {
        rows = OrderedRows(by: .url, of: entries)
        var walk = rows.walk(in: entries)
        var former: Int?
        while let hash = walk.next().flatMap({ entries[$0]?.group.hash }) {
            if hash == former { repeated.insert(hash) }
            former = hash
        }
    }

    /// Inserts a row whose entry is in `entries`.
    mutating func insert(_ row: Row, in entries: IndexEntries) {
        rows.insert(row, in: entries)
        if let group = entries[row]?.group { countDownloads(of: group, in: entries) }
    }

    /// Removes a row whose entry is still in `entries`.
    mutating func remove(_ row: Row, in entries: IndexEntries) {
        rows.remove(row, in: entries)
        if let group = entries[row]?.group, repeated.contains(group.hash) { countDownloads(of: group, in: entries) }
    }

    /// Returns the position of a row that may belong elsewhere once its entry has changed; `nil` if it stays where it is.
    /// - Parameter entry: The new entry, which is not yet in `entries`.
    func position(of row: Row, changingTo entry: IndexEntry, in entries: IndexEntries) -> OrderedRows.Position? {
        guard let group = entries[row]?.group, group != entry.group else { return nil }
        let staysAlone = group.hash == entry.group.hash && !repeated.contains(group.hash)
        // The first key of a chunk is kept, and changes with the entry.
        return staysAlone ? rows.firstPosition(of: row, in: entries) : rows.position(of: row, in: entries)
    }

    /// Moves a row whose entry has changed.
    /// - Parameters:
    ///   - position: The value of ``position(of:changingTo:in:)`` before the change.
    ///   - former: The group of the former entry.
    mutating func move(
        _ row: Row, from position: OrderedRows.Position, formerlyIn former: URLGroup, in entries: IndexEntries
    ) {
        rows.move(row, from: position, in: entries)
        guard let group = entries[row]?.group, group.hash != former.hash else { return }
        countDownloads(of: former, in: entries)
        countDownloads(of: group, in: entries)
    }

    /// Returns the newest downloads of a URL and a standing, newest first.
    /// - Parameters:
    ///   - group: The group of the URL and the standing.
    ///   - limit: The maximum number of downloads.
    func newest(ofURL url: String, _ group: URLGroup, atMost limit: Int, in entries: IndexEntries) -> [IndexEntry] {
        rows.newest(ofURL: url, group, atMost: limit, in: entries)
    }

    /// Notes whether the URL of a group has several downloads.
    private mutating func countDownloads(of group: URLGroup, in entries: IndexEntries) {
        var walk = rows.walk(upTo: group.with(.ended), in: entries)
        if walk.next() != nil, let second = walk.next(), entries[second]?.group.hash == group.hash {
            repeated.insert(group.hash)
        } else {
            repeated.remove(group.hash)
        }
    }
}
