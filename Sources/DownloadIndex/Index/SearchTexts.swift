internal import CSystem
internal import DownloadCore

/// The texts by which downloads are found, by row: URL, file name and track name, folded to lower case. A name that is a part
/// of the URL is not kept apart.
///
/// Like the entries, they are in chunks. The first change after a copy copies one chunk and the list of chunks.
struct SearchTexts: Sendable {
    private var chunks: [Chunk] = []

    init() {}

    /// Creates the texts of all entries.
    init(_ entries: IndexEntries) {
        for row in entries.rows {
            if let entry = entries[row] { set(entry.download, at: row) }
        }
    }

    /// Sets a row's texts to its download's.
    mutating func set(_ download: Download, at row: Row) {
        set([download.url, download.filename, download.trackName], at: row)
    }

    /// Sets the texts of a row.
    mutating func set(_ texts: [String?], at row: Row) {
        let (chunk, member) = Self.position(of: row)
        while chunks.count <= chunk { chunks.append(Chunk()) }
        chunks[chunk].set(texts, at: member)
    }

    /// Removes the texts of a row.
    mutating func remove(at row: Row) {
        let (chunk, member) = Self.position(of: row)
        if chunk < chunks.count { chunks[chunk].remove(at: member) }
    }

    /// Returns the rows with a text that contains `needle`. The needle is folded, and has 1 byte or more.
    func rows(containing needle: [UInt8]) -> RowSet {
        var rows = RowSet()
        for (number, chunk) in chunks.enumerated() {
            chunk.find(needle) { rows.insert(Row(clamping: number) << IndexEntries.chunkBits | Row($0)) }
        }
        return rows
    }

    private static func position(of row: Row) -> (chunk: Int, member: UInt16) {
        (Int(row >> IndexEntries.chunkBits), UInt16(truncatingIfNeeded: row & (1 << IndexEntries.chunkBits - 1)))
    }

    /// Returns a text in the form that is searched: lower case, in UTF-8.
    static func fold(_ text: String) -> [UInt8] {
        var folded: [UInt8] = []
        append(text, to: &folded)
        return folded
    }

    fileprivate static func append(_ text: String, to bytes: inout [UInt8]) {
        let original = text.utf8.span
        var bits: UInt8 = 0
        for index in original.indices { bits |= original[index] }
        // Nearly all URLs and names are ASCII, which needs no new string.
        guard bits < 0x80 else { return bytes.append(contentsOf: text.lowercased().utf8) }
        bytes.append(addingCapacity: original.count) { output in
            for index in original.indices {
                let byte = original[index]
                output.append(byte &- 0x41 < 26 ? byte | 0x20 : byte)
            }
        }
    }
}

/// The texts of a few rows in one block of memory. A search runs through it at the speed of memory, and does not visit
/// a hundred thousand strings.
private struct Chunk: Sendable {
    /// The byte between texts, and in place of removed texts. UTF-8 has no such byte, so no match extends across it.
    private static let blank: UInt8 = 0xFF
    /// The number of unused bytes up to which no text is moved.
    private static let leastWaste = 4 << 10
    /// The minimum number of bytes that are added when more memory is needed.
    private static let leastGrowth = 2 << 10

    private var bytes: [UInt8] = []
    /// The offset of each member's texts, in ascending order, and the member.
    private var starts: [(offset: UInt32, member: UInt16)] = []
    /// The index in `starts` of each member's texts, plus one; 0 for a member without texts.
    private var indexes: [UInt16] = []
    private var blankBytes = 0

    mutating func set(_ texts: [String?], at member: UInt16) {
        remove(at: member)
        // `indexes` cannot hold a greater index.
        if starts.count >= Int(UInt16.max) { compact() }
        while indexes.count <= Int(member) { indexes.append(0) }
        starts.append((UInt32(clamping: bytes.count), member))
        indexes[Int(member)] = UInt16(clamping: starts.count)
        let needed = bytes.count + texts.reduce(0) { $0 + ($1.map { $0.utf8.count + 1 } ?? 0) }
        // Without this, the array would double its capacity.
        if needed > bytes.capacity { bytes.reserveCapacity(needed + max(Self.leastGrowth, needed / 8)) }
        let start = bytes.count
        for case let text? in texts {
            let end = bytes.count
            SearchTexts.append(text, to: &bytes)
            // Most names are a part of the URL, where a search finds them as well.
            if isRepetition(end, since: start) { bytes.removeSubrange(end...) } else { bytes.append(Self.blank) }
        }
    }

    /// Whether the bytes behind an offset also occur between another offset and this one.
    private func isRepetition(_ offset: Int, since start: Int) -> Bool {
        unsafe bytes.withUnsafeBufferPointer { text in
            guard offset > start, text.count > offset, let base = text.baseAddress else { return false }
            return unsafe pawl_find(base + start, offset - start, base + offset, text.count - offset) != nil
        }
    }

    mutating func remove(at member: UInt16) {
        guard Int(member) < indexes.count, indexes[Int(member)] > 0 else { return }
        let index = Int(indexes[Int(member)]) - 1
        let range = Int(starts[index].offset)..<end(of: index)
        indexes[Int(member)] = 0
        for position in range { bytes[position] = Self.blank }
        blankBytes += range.count
        if blankBytes > max(Self.leastWaste, bytes.count / 2) { compact() }
    }

    /// Calls `found` with each member that has a text with `needle`.
    func find(_ needle: [UInt8], found: (UInt16) -> Void) {
        unsafe bytes.withUnsafeBufferPointer { text in
            unsafe needle.withUnsafeBufferPointer { needle in
                guard let start = text.baseAddress, let wanted = needle.baseAddress else { return }
                var index = 0
                var from = 0
                while let row = unsafe pawl_find(start + from, text.count - from, wanted, needle.count) {
                    let position = unsafe row - start
                    while end(of: index) <= position { index += 1 }
                    found(starts[index].member)
                    from = end(of: index)
                }
            }
        }
    }

    private func end(of index: Int) -> Int { index + 1 < starts.count ? Int(starts[index + 1].offset) : bytes.count }

    /// Removes the unused bytes between the texts.
    private mutating func compact() {
        var kept = Chunk()
        kept.indexes = indexes
        for (index, start) in starts.enumerated() where indexes[Int(start.member)] == UInt16(clamping: index + 1) {
            kept.starts.append((UInt32(clamping: kept.bytes.count), start.member))
            kept.indexes[Int(start.member)] = UInt16(clamping: kept.starts.count)
            kept.bytes.append(contentsOf: bytes[Int(start.offset)..<end(of: index)])
        }
        self = kept
    }
}

/// A set of rows, with a bit for each.
package struct RowSet: Sendable {
    private var words: [UInt64] = []

    /// Whether the set has a row.
    func contains(_ row: UInt32) -> Bool {
        let word = Int(row >> 6)
        return word < words.count && words[word] & 1 << UInt64(row & 63) != 0
    }

    /// All rows of the set, in order.
    var members: [UInt32] {
        var members: [UInt32] = []
        for (index, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                members.append(UInt32(clamping: index) << 6 | UInt32(clamping: rest.trailingZeroBitCount))
                rest &= rest - 1
            }
        }
        return members
    }

    /// Adds a row.
    package mutating func insert(_ row: UInt32) {
        let word = Int(row >> 6)
        if word >= words.count { words.append(contentsOf: repeatElement(0, count: word + 1 - words.count)) }
        words[word] |= 1 << UInt64(row & 63)
    }

    /// Removes the rows that are not in the other set.
    mutating func formIntersection(_ other: RowSet) {
        for word in words.indices { words[word] &= word < other.words.count ? other.words[word] : 0 }
    }
}
