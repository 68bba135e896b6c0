internal import CSystem

/// The texts that downloads are searched for by, folded to lower case, one behind the other in one piece of memory: so a search
/// runs through them at the speed of memory, and does not ask a hundred thousand strings.
struct SearchTexts: Sendable {
    /// Stands between texts, and where there was one. UTF-8 has no such byte, so nothing is found across it.
    private static let blank: UInt8 = 0xFF
    /// As long as this much is in vain, nothing is moved.
    private static let leastWaste = 64 << 10

    private var bytes: [UInt8] = []
    /// Where each text begins, ascending, and the place that it is of.
    private var starts: [(offset: Int, place: UInt32)] = []
    /// Which of those is the text of a place, plus one; 0: it has none.
    private var indexes: [UInt32] = []
    private var blankBytes = 0

    /// Gives a place its texts.
    mutating func set(_ texts: [String?], at place: UInt32) {
        remove(at: place)
        while indexes.count <= Int(place) { indexes.append(0) }
        starts.append((bytes.count, place))
        indexes[Int(place)] = UInt32(clamping: starts.count)
        for case let text? in texts {
            Self.append(text, to: &bytes)
            bytes.append(Self.blank)
        }
    }

    /// A place has no texts any more.
    mutating func remove(at place: UInt32) {
        guard Int(place) < indexes.count, indexes[Int(place)] > 0 else { return }
        let index = Int(indexes[Int(place)]) - 1
        let range = starts[index].offset..<end(of: index)
        indexes[Int(place)] = 0
        for position in range { bytes[position] = Self.blank }
        blankBytes += range.count
        if blankBytes > max(Self.leastWaste, bytes.count / 2) { compact() }
    }

    /// The places one of whose texts contains `needle`, 1 byte or more that are folded.
    func places(containing needle: [UInt8]) -> PlaceSet {
        var places = PlaceSet()
        unsafe bytes.withUnsafeBufferPointer { text in
            unsafe needle.withUnsafeBufferPointer { needle in
                guard let start = text.baseAddress, let wanted = needle.baseAddress else { return }
                var index = 0
                var from = 0
                while case let found = unsafe pawl_find(start, text.count, from, wanted, needle.count), found >= 0 {
                    while end(of: index) <= found { index += 1 }
                    places.insert(starts[index].place)
                    from = end(of: index)
                }
            }
        }
        return places
    }

    /// The text as it is searched: lower case, in UTF-8.
    static func fold(_ text: String) -> [UInt8] {
        var folded: [UInt8] = []
        append(text, to: &folded)
        return folded
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        // Nearly all URLs and names are ASCII, for which no new string has to be made.
        let span = text.utf8.span
        var all: UInt8 = 0
        for index in span.indices { all |= span[index] }
        if all < 0x80 {
            bytes.append(addingCapacity: span.count) { output in
                for index in span.indices { output.append(span[index] &- 0x41 < 26 ? span[index] | 0x20 : span[index]) }
            }
        } else {
            bytes.append(contentsOf: text.lowercased().utf8)
        }
    }

    private func end(of index: Int) -> Int { index + 1 < starts.count ? starts[index + 1].offset : bytes.count }

    /// Moves the texts together.
    private mutating func compact() {
        var kept = SearchTexts()
        kept.indexes = indexes
        for (index, start) in starts.enumerated() where indexes[Int(start.place)] == UInt32(clamping: index + 1) {
            kept.starts.append((kept.bytes.count, start.place))
            kept.indexes[Int(start.place)] = UInt32(clamping: kept.starts.count)
            kept.bytes.append(contentsOf: bytes[start.offset..<end(of: index)])
        }
        self = kept
    }
}

/// Some of a table's places, a bit for each.
struct PlaceSet: Sendable {
    private var words: [UInt64] = []

    /// Whether a place is one of them.
    func contains(_ place: UInt32) -> Bool {
        let word = Int(place >> 6)
        return word < words.count && words[word] & 1 << UInt64(place & 63) != 0
    }

    /// Adds a place.
    mutating func insert(_ place: UInt32) {
        let word = Int(place >> 6)
        if word >= words.count { words.append(contentsOf: repeatElement(0, count: word + 1 - words.count)) }
        words[word] |= 1 << UInt64(place & 63)
    }

    /// Leaves those that are in the other set, too.
    mutating func formIntersection(_ other: PlaceSet) {
        for word in words.indices { words[word] &= word < other.words.count ? other.words[word] : 0 }
    }
}
