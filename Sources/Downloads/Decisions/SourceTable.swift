/// Where a download's bytes come from: its URL, and mirrors that are said to have the same bytes. Pure.
///
/// Each source has validators of its own, which say nothing about another's. So a mirror is asked under those that it gave first, and has
/// to agree with the file on its length; one that does not is dropped. Whether its bytes are the same ones only a digest of the whole file
/// can tell, so without one only the first source is asked.
struct SourceTable: Sendable {
    /// The one that said what the file is: 0 is the one that was to be asked first.
    private(set) var first = 0
    private let count: Int
    private var dropped: Set<Int> = []
    private var entities: [Int: SavedEntity] = [:]
    /// Whether the first one is asked only if no other is left.
    private(set) var isFirstRetired = false
    /// Whether a source other than the first one has brought bytes.
    private(set) var hasMixed = false
    private var digests: [Int: Checksum] = [:]

    /// - Parameters:
    ///   - count: all sources, 1 or more.
    ///   - excluded: sources that are not asked, unless no other is left.
    init(count: Int, excluding excluded: Set<Int> = []) {
        self.count = max(1, count)
        guard let first = (0..<self.count).first(where: { !excluded.contains($0) }) else { return }
        self.first = first
        dropped = excluded
    }

    /// The source for one more connection: the one with the fewest, the earlier among equals.
    /// - Parameters:
    ///   - busy: the source of each connection that is open.
    ///   - combining: whether bytes of several sources may be combined.
    func next(busy: [Int], combining: Bool) -> Int {
        guard combining else { return first }
        let usable = (0..<count).filter { !dropped.contains($0) && !(isFirstRetired && $0 == first) }
        return usable.min { left, right in busy.count { $0 == left } < busy.count { $0 == right } } ?? first
    }

    /// The first source has failed: the next one takes its place, if there is one.
    mutating func replaceFirst() -> Int? {
        dropped.insert(first)
        guard let next = (0..<count).first(where: { !dropped.contains($0) }) else { return nil }
        first = next
        return next
    }

    /// The first source has failed, and others are to bring the rest of what it said the file is. Returns whether there are any.
    mutating func retireFirst() -> Bool {
        isFirstRetired = (0..<count).contains { $0 != first && !dropped.contains($0) }
        return isFirstRetired
    }

    /// What a source said of the file, when it was first asked.
    func entity(of source: Int) -> SavedEntity? { entities[source] }

    /// What a response of a source has to agree with: what it said before, or its own word for validators and the file's length.
    func expectation(of source: Int, _ response: OriginResponse, total: Int64?) -> SavedEntity {
        entities[source]
            ?? SavedEntity(
                etag: response.etag, lastModified: response.lastModified, date: response.date, total: total,
                coding: response.isCoded ? nil : response.coding)
    }

    /// A source has said what the file is.
    mutating func note(_ entity: SavedEntity, of source: Int) {
        entities[source] = entity
        if source != first { hasMixed = true }
    }

    /// What the mirrors that are still asked say that the whole file hashes to.
    var mirrorDigests: [Checksum] { digests.sorted { $0.key < $1.key }.map(\.value) }

    /// A mirror has said what the whole file hashes to.
    mutating func note(_ digest: Checksum, of source: Int) {
        digests[source] = digest
    }

    /// A mirror is not asked any more, and its word counts no more. The first source stays.
    mutating func drop(_ source: Int) {
        guard source != first else { return }
        dropped.insert(source)
        digests[source] = nil
    }
}
