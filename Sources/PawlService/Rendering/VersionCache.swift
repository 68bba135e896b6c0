internal import Downloads
internal import System

/// What was made of downloads last, so that it need not be made again while they stay as they are.
///
/// Kept by version, which changes whenever anything that is shown does: what is found here is what would be made now. There are so
/// many rows of four places, to which an identifier's low bits lead; in a full row the oldest gives way.
final class VersionCache<Value: Sendable>: Sendable {
    private struct Entry {
        let id: DownloadID
        let version: DownloadVersion
        let value: Value
    }

    private struct Shelf {
        var entries: [Entry?]
        /// Which place of a row gives way next, by row.
        var oldest: [UInt8]
    }

    private static var places: Int { 4 }

    private let rows: Int
    private let shelf: Locked<Shelf>

    /// An empty one.
    /// - Parameter rows: a power of two.
    init(rows: Int) {
        self.rows = rows
        shelf = Locked(
            Shelf(entries: Array(repeating: nil, count: rows * Self.places), oldest: Array(repeating: 0, count: rows)))
    }

    /// What was made of that version.
    func find(_ id: DownloadID, _ version: DownloadVersion) -> Value? {
        let first = row(of: id) * Self.places
        return shelf.withLock { shelf in
            for place in first..<(first + Self.places) {
                if let found = shelf.entries[place], found.id == id { return found.version == version ? found.value : nil }
            }
            return nil
        }
    }

    /// Keeps what was made of a version, instead of an earlier one's.
    func keep(_ value: Value, _ id: DownloadID, _ version: DownloadVersion) {
        let row = row(of: id)
        let first = row * Self.places
        shelf.withLock { shelf in
            var place = first + Int(shelf.oldest[row])
            if let own = (first..<(first + Self.places)).first(where: { shelf.entries[$0]?.id == id }) {
                place = own
            } else {
                shelf.oldest[row] = (shelf.oldest[row] + 1) % UInt8(Self.places)
            }
            shelf.entries[place] = Entry(id: id, version: version, value: value)
        }
    }

    /// The low bits of an identifier are random.
    private func row(of id: DownloadID) -> Int {
        Int(truncatingIfNeeded: id.value) & (rows - 1)
    }
}
