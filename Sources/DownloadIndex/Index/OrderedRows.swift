internal import DownloadCore
internal import HTTPCore

/// Rows in ascending order of a key. Rows with equal keys are in the order of their numbers.
///
/// The rows are in chunks, so that a change moves at most one chunk of them. A copy shares all chunks. The next change
/// copies one chunk and the list of chunks. Every change costs O(log n).
package struct OrderedRows: Sendable {
    /// The key that orders the rows.
    enum Key {
        /// The download's id, which sorts by creation.
        case identity
        /// The event id of the last change.
        case changeID
        /// The rank in the queue.
        case rank
        /// The name in aria2's RPC.
        case gid
        /// The time of the end, then the id.
        case end
        /// The group of the URL, then the id.
        case url
    }

    /// The maximum number of rows in a chunk, which are 2 KiB.
    private static let chunkSize = 512

    private let key: Key
    /// The position of the last insertion or removal. A command for many downloads inserts and removes neighbours.
    private var lastOffset: UInt16 = 0
    private var lastChunk: UInt32 = 0
    /// The chunks, none of them empty.
    private var chunks: [[Row]] = []
    /// The first key of each chunk. The chunk of a key is found without the entries, which are scattered over the memory.
    private var bounds: [Rank] = []
    /// The number of rows before each of the first chunks, as far as it was counted since they changed.
    private var counted: [Int] = []
    package private(set) var count = 0

    init(by key: Key) {
        self.key = key
    }

    /// Inserts a row whose entry is in `entries`.
    package mutating func insert(_ row: Row, in entries: IndexEntries) {
        guard let added = rank(of: row, in: entries) else { return }
        count += 1
        // The new row nearly always has the greatest key.
        guard let greatest = chunks.last?.last, !isBelow(greatest, added, in: entries) else {
            if let last = chunks.indices.last, chunks[last].count < Self.chunkSize {
                chunks[last].append(row)
            } else {
                chunks.append([row])
                bounds.append(added)
            }
            return
        }
        let (chunk, offset) = placeAtLast(for: added, in: entries) ?? place(for: added, in: entries)
        noteChange(at: (chunk, offset))
        chunks[chunk].insert(row, at: offset)
        if offset == 0 { bounds[chunk] = added }
        if chunks[chunk].count > Self.chunkSize {
            let half = Self.chunkSize / 2
            if let bound = rank(of: chunks[chunk][half], in: entries) {
                bounds.insert(bound, at: chunk + 1)
                chunks.insert(Array(chunks[chunk][half...]), at: chunk + 1)
                chunks[chunk].removeSubrange(half...)
            }
        }
    }

    /// Removes a row whose entry is still in `entries`. Does nothing if the row is not among these.
    mutating func remove(_ row: Row, in entries: IndexEntries) {
        if let position = position(of: row, in: entries) { remove(at: position, in: entries) }
    }

    private mutating func remove(at position: Position, in entries: IndexEntries) {
        let (chunk, offset) = position
        count -= 1
        chunks[chunk].remove(at: offset)
        noteChange(at: position)
        if offset == 0, let first = chunks[chunk].first.flatMap({ rank(of: $0, in: entries) }) { bounds[chunk] = first }
        if chunks[chunk].isEmpty {
            chunks.remove(at: chunk)
            bounds.remove(at: chunk)
            // The rows before a chunk that is appended later may be others.
            counted.removeLast(max(0, counted.count - chunks.count))
        } else if chunk + 1 < chunks.count, chunks[chunk].count + chunks[chunk + 1].count <= Self.chunkSize / 2 {
            chunks[chunk].append(contentsOf: chunks.remove(at: chunk + 1))
            bounds.remove(at: chunk + 1)
        }
    }

    private mutating func noteChange(at position: Position) {
        (lastChunk, lastOffset) = (UInt32(clamping: position.chunk), UInt16(clamping: position.offset))
        counted.removeLast(max(0, counted.count - position.chunk - 1))
    }

    /// Moves a row whose entry has changed to its new position, which is often the present one.
    /// - Parameter position: The position of the row before its entry changed.
    mutating func move(_ row: Row, from position: Position, in entries: IndexEntries) {
        let (chunk, offset) = position
        let rows = chunks[chunk]
        if offset > 0, offset + 1 < rows.count, let rank = rank(of: row, in: entries),
            isBelow(rows[offset - 1], rank, in: entries), !isBelow(rows[offset + 1], rank, in: entries)
        {
            return
        }
        remove(at: position, in: entries)
        insert(row, in: entries)
    }

    /// A chunk, and the offset of a row in it.
    typealias Position = (chunk: Int, offset: Int)

    /// Returns the position of a row; `nil` if it is not among these.
    func position(of row: Row, in entries: IndexEntries) -> Position? {
        if let position = positionAtLast(of: row) { return position }
        guard let rank = rank(of: row, in: entries), !chunks.isEmpty else { return nil }
        let chunk = chunk(of: rank)
        if chunk == chunks.count - 1, chunks[chunk].last == row { return (chunk, chunks[chunk].count - 1) }
        return offset(of: row, rank, inChunk: chunk).map { (chunk, $0) }
    }

    /// Returns the offset of a row in its chunk; `nil` if it is not there.
    ///
    /// Comparing the numbers of many rows takes less time than reading a few entries. The search starts near the row, because
    /// hashes and random numbers are spread evenly.
    private func offset(of row: Row, _ rank: Rank, inChunk chunk: Int) -> Int? {
        let rows = chunks[chunk]
        let (first, next) = (Double(bounds[chunk].major), Double(chunk + 1 < bounds.count ? bounds[chunk + 1].major : .max))
        let share = next > first ? (Double(rank.major) - first) / (next - first) : 0
        var above = min(max(0, Int(share * Double(rows.count))), rows.count)
        var below = above - 1
        while above < rows.count || below >= 0 {
            if above < rows.count {
                if rows[above] == row { return above }
                above += 1
            }
            if below >= 0 {
                if rows[below] == row { return below }
                below -= 1
            }
        }
        return nil
    }

    /// Returns the position of a row that is at the position of the last change or before it; otherwise `nil`.
    private func positionAtLast(of row: Row) -> Position? {
        let last = (chunk: Int(lastChunk), offset: Int(lastOffset))
        let isInside = last.chunk < chunks.count && last.offset < chunks[last.chunk].count
        let next = isInside ? last : (last.chunk + 1, 0)
        if self.row(at: next) == row { return next }
        let before = position(before: last)
        return self.row(at: before) == row ? before : nil
    }

    /// Returns the position of a row if it is the first of its chunk; otherwise `nil`.
    func firstPosition(of row: Row, in entries: IndexEntries) -> Position? {
        guard let rank = rank(of: row, in: entries), !chunks.isEmpty else { return nil }
        let chunk = chunk(of: rank)
        return bounds[chunk].row == row ? (chunk, 0) : nil
    }

    private func position(before position: Position) -> Position {
        let (chunk, offset) = position
        if offset > 0 { return (chunk, offset - 1) }
        return (chunk - 1, chunk > 0 && chunk <= chunks.count ? chunks[chunk - 1].count - 1 : 0)
    }

    private func position(behind position: Position) -> Position {
        let (chunk, offset) = position
        return chunk < chunks.count && offset + 1 < chunks[chunk].count ? (chunk, offset + 1) : (chunk + 1, 0)
    }

    /// Returns the row at a position; `nil` outside of the rows.
    private func row(at position: Position) -> Row? {
        guard chunks.indices.contains(position.chunk) else { return nil }
        let rows = chunks[position.chunk]
        return rows.indices.contains(position.offset) ? rows[position.offset] : nil
    }

    /// Returns the position for a new row if it belongs before or behind the row of the last insertion; otherwise `nil`.
    private func placeAtLast(for rank: Rank, in entries: IndexEntries) -> Position? {
        let (chunk, offset) = (Int(lastChunk), Int(lastOffset))
        guard chunk < chunks.count, offset < chunks[chunk].count else { return nil }
        let rows = chunks[chunk]
        if isBelow(rows[offset], rank, in: entries) {
            let isBehind = offset + 1 < rows.count && !isBelow(rows[offset + 1], rank, in: entries)
            return isBehind ? (chunk, offset + 1) : nil
        }
        let before = offset > 0 ? rows[offset - 1] : chunk > 0 ? chunks[chunk - 1].last : nil
        return before.map { isBelow($0, rank, in: entries) } ?? true ? (chunk, offset) : nil
    }

    /// Returns the position for a new row.
    private func place(for rank: Rank, in entries: IndexEntries) -> Position {
        let chunk = chunk(of: rank)
        return (chunk, offset(of: rank, inChunk: chunk, in: entries))
    }

    /// Creates the ordered rows of all entries that meet a condition.
    init(by key: Key, of entries: IndexEntries, where isIncluded: (Download) -> Bool = { _ in true }) {
        self.init(by: key)
        var ranks: [Rank] = []
        ranks.reserveCapacity(entries.rows.count)
        for row in entries.rows {
            guard let entry = entries[row], isIncluded(entry.download), let rank = rank(of: row, in: entries) else {
                continue
            }
            ranks.append(rank)
        }
        ranks.sort { $0 < $1 }
        count = ranks.count
        for start in stride(from: 0, to: count, by: Self.chunkSize) {
            chunks.append(ranks[start..<min(start + Self.chunkSize, count)].map(\.row))
            bounds.append(ranks[start])
        }
    }

    /// Returns the row that `offset` others precede; `nil` behind the last one.
    /// - Parameter starts: The value of ``starts``, if the caller makes many calls.
    func row(at offset: Int, starts: [Int]? = nil) -> Row? {
        guard offset >= 0, offset < count else { return nil }
        if let starts {
            var (low, high) = (0, chunks.count)
            while low + 1 < high {
                let middle = (low + high) / 2
                if starts[middle] <= offset { low = middle } else { high = middle }
            }
            return chunks[low][offset - starts[low]]
        }
        var left = offset
        for chunk in chunks {
            if left < chunk.count { return chunk[left] }
            left -= chunk.count
        }
        return nil
    }

    /// Returns the number of rows below a rank of the queue.
    /// - Parameter starts: The value of ``starts``, if the caller makes many calls.
    func count(below rank: QueueRank, in entries: IndexEntries, starts: [Int]? = nil) -> Int {
        let bound = Self.rank(rank, .min)
        // The rank is nearly always at or behind the last row's.
        guard let last = chunks.last?.last.flatMap({ self.rank(of: $0, in: entries) }), last >= bound else { return count }
        if last.major == bound.major, last.key == bound.key {
            guard let before = row(before: chunks.count - 1) else { return 0 }
            if isBelow(before, bound, in: entries) { return count - 1 }
        }
        let chunk = chunk(of: bound)
        let before = starts?[chunk] ?? (chunk < counted.count ? counted[chunk] : chunks[..<chunk].reduce(0) { $0 + $1.count })
        return before + offset(of: bound, inChunk: chunk, in: entries)
    }

    /// Returns the row before the last one of a chunk; `nil` if there is none.
    private func row(before chunk: Int) -> Row? {
        let count = chunks[chunk].count
        return count > 1 ? chunks[chunk][count - 2] : chunk > 0 ? chunks[chunk - 1].last : nil
    }

    /// The number of rows before each chunk.
    var starts: [Int] {
        var rows = self
        rows.countChunks()
        return rows.counted
    }

    /// Counts the rows before each chunk. The counts are kept as long as the chunks before do not change.
    private mutating func countChunks() {
        while counted.count < chunks.count {
            counted.append(counted.isEmpty ? 0 : counted[counted.count - 1] + chunks[counted.count - 1].count)
        }
    }

    /// Returns the row of a download; `nil` if there is none. The rows are in the order of creation.
    /// - Parameter last: The position of the row that was found before; this one is often the same or next to it. It becomes
    ///   the position of this row.
    func row(of id: RecordID, near last: inout Position?, in entries: IndexEntries) -> Row? {
        last = neighbour(of: last) { entries[$0]?.download.id == id } ?? position(ofKey: id.value, in: entries)
        return last.flatMap(row(at:))
    }

    /// Returns the number of rows before a row; `nil` if it is not among these.
    /// - Parameter last: The position of the row that was counted before; this one is often the same or next to it. It becomes
    ///   the position of this row.
    mutating func offset(of row: Row, near last: inout Position?, in entries: IndexEntries) -> Int? {
        last = neighbour(of: last) { $0 == row } ?? position(of: row, in: entries)
        guard let last else { return nil }
        countChunks()
        return counted[last.chunk] + last.offset
    }

    /// Returns the position of the first row that meets a condition, among the one at a position and those next to it; `nil`
    /// if there is none.
    private func neighbour(of position: Position?, where isMet: (Row) -> Bool) -> Position? {
        guard let position else { return nil }
        if let row = row(at: position), isMet(row) { return position }
        let before = self.position(before: position)
        if let row = row(at: before), isMet(row) { return before }
        let behind = self.position(behind: position)
        if let row = row(at: behind), isMet(row) { return behind }
        return nil
    }

    /// Returns the row with a key; `nil` if there is none.
    func row(of key: UInt128, in entries: IndexEntries) -> Row? {
        position(ofKey: key, in: entries).flatMap(row(at:))
    }

    /// Returns the position of the row with a key; `nil` if there is none.
    private func position(ofKey key: UInt128, in entries: IndexEntries) -> Position? {
        // The key of a new download is above all others.
        guard let last = chunks.last?.last, !isBelow(last, (0, key, .min), in: entries) else { return nil }
        let bound: Rank = (0, key, .max)
        let chunk = chunk(of: bound)
        let offset = offset(of: bound, inChunk: chunk, in: entries)
        guard offset > 0, !isBelow(chunks[chunk][offset - 1], (0, key, .min), in: entries) else { return nil }
        return (chunk, offset - 1)
    }

    /// Returns the newest downloads of a URL, newest first.
    /// - Parameters:
    ///   - group: The group of the URL.
    ///   - limit: The maximum number of downloads.
    func newest(ofURL url: String, _ group: URLGroup, atMost limit: Int, in entries: IndexEntries) -> [IndexEntry] {
        var walk = walk(upTo: group, in: entries)
        var found: [IndexEntry] = []
        while found.count < limit, let entry = walk.next().flatMap({ entries[$0] }), entry.group == group {
            if entry.download.url == url { found.append(entry) }
        }
        return found
    }

    /// Returns a descending walk that starts with the last row of a URL's group.
    func walk(upTo group: URLGroup, in entries: IndexEntries) -> Walk {
        guard !chunks.isEmpty else { return Walk([], true, chunk: 0, passed: 0) }
        let bound: Rank = (group.value, .max, .max)
        let chunk = chunk(of: bound)
        return Walk(chunks, true, chunk: chunk, passed: chunks[chunk].count - offset(of: bound, inChunk: chunk, in: entries))
    }

    /// Returns the first row whose gid is not below `gid`, and the row behind it.
    func pair(fromGID gid: UInt64, in entries: IndexEntries) -> (Row?, Row?) {
        guard !chunks.isEmpty else { return (nil, nil) }
        let bound: Rank = (Self.major(ofGID: gid), 0, .min)
        let chunk = chunk(of: bound)
        var walk = Walk(chunks, false, chunk: chunk, passed: offset(of: bound, inChunk: chunk, in: entries))
        let first = walk.next()
        return (first, walk.peek)
    }

    /// Returns a walk that starts with the row at an offset.
    func walk(from offset: Int) -> Walk {
        var (chunk, left) = (0, max(0, offset))
        while chunk < chunks.count, left >= chunks[chunk].count {
            left -= chunks[chunk].count
            chunk += 1
        }
        return Walk(chunks, false, chunk: chunk, passed: left)
    }

    /// Returns the rows that are also in a set.
    func filtered(_ wanted: RowSet) -> OrderedRows {
        var result = OrderedRows(by: key)
        for (chunk, bound) in zip(chunks, bounds) {
            let left = chunk.filter(wanted.contains)
            if left.isEmpty { continue }
            result.chunks.append(left)
            // Nothing is inserted in the result, so that a lower key suffices.
            result.bounds.append(bound)
            result.count += left.count
        }
        return result
    }

    /// Adds all rows to a set.
    package func insert(into set: inout RowSet) {
        for chunk in chunks { for row in chunk { set.insert(row) } }
    }

    /// Returns a walk from one end to the other.
    /// - Parameters:
    ///   - isDescending: Whether the walk goes from the greatest key to the least.
    ///   - bound: The key behind which the walk starts, in its direction; `nil` for all rows.
    func walk(descending isDescending: Bool = false, after bound: UInt128? = nil, in entries: IndexEntries) -> Walk {
        guard let bound, !chunks.isEmpty else {
            return Walk(chunks, isDescending, chunk: isDescending ? chunks.count - 1 : 0, passed: 0)
        }
        let edge: Rank = (0, bound, isDescending ? .min : .max)
        let chunk = chunk(of: edge)
        let offset = offset(of: edge, inChunk: chunk, in: entries)
        return Walk(chunks, isDescending, chunk: chunk, passed: isDescending ? chunks[chunk].count - offset : offset)
    }

    /// A walk through the rows.
    struct Walk: Sendable, IteratorProtocol {
        private let chunks: [[Row]]
        private let isDescending: Bool
        private var chunk: Int
        /// The number of rows of this chunk that have been passed, from the end where the walk began.
        private var passed: Int

        fileprivate init(_ chunks: [[Row]], _ isDescending: Bool, chunk: Int, passed: Int) {
            self.chunks = chunks
            self.isDescending = isDescending
            self.chunk = chunk
            self.passed = passed
            skipPassed()
        }

        /// The next row; `nil` at the end.
        var peek: Row? {
            guard chunks.indices.contains(chunk) else { return nil }
            return isDescending ? chunks[chunk][chunks[chunk].count - 1 - passed] : chunks[chunk][passed]
        }

        mutating func next() -> Row? {
            guard let row = peek else { return nil }
            passed += 1
            skipPassed()
            return row
        }

        private mutating func skipPassed() {
            while chunks.indices.contains(chunk), passed >= chunks[chunk].count {
                chunk += isDescending ? -1 : 1
                passed = 0
            }
        }
    }

    /// The sort key of a row.
    private typealias Rank = (major: Int, key: UInt128, row: Row)

    private func rank(of row: Row, in entries: IndexEntries) -> Rank? {
        // The entry is read in place. A copy of the download would cost more than everything else here.
        guard let entry = entries[row] else { return nil }
        return switch key {
        case .identity: (0, entry.download.id.value, row)
        case .changeID: (0, entry.download.changeID.value, row)
        case .rank: Self.rank(entry.download.rank, row)
        case .gid: (Self.major(ofGID: entry.download.gid.value), 0, row)
        case .url: (entry.group.value, entry.download.id.value, row)
        case .end: (Int(clamping: entry.download.endedAt?.millisecondsSinceEpoch ?? 0), entry.download.id.value, row)
        }
    }

    /// A number that rises with the gid and does not overflow.
    private static func major(ofGID gid: UInt64) -> Int { Int(bitPattern: UInt(gid)) ^ .min }

    private static func rank(_ rank: QueueRank, _ row: Row) -> Rank {
        // The complement falls as the priority rises, and cannot overflow.
        (~rank.priority, rank.arrival.value, row)
    }

    private func isBelow(_ row: Row, _ bound: Rank, in entries: IndexEntries) -> Bool {
        rank(of: row, in: entries).map { $0 < bound } ?? false
    }

    /// Returns the last chunk that begins at or below a key, or the first chunk. There must be a chunk.
    private func chunk(of rank: Rank) -> Int {
        var low = 0
        var high = bounds.count
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] > rank { high = middle } else { low = middle + 1 }
        }
        return max(0, low - 1)
    }

    /// Returns the offset of the bound in a chunk, or the offset at which it would be inserted.
    private func offset(of bound: Rank, inChunk chunk: Int, in entries: IndexEntries) -> Int {
        var low = 0
        var high = chunks[chunk].count
        while low < high {
            let middle = (low + high) / 2
            if isBelow(chunks[chunk][middle], bound, in: entries) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
