/// Where a download's segments come from: its URL, and mirrors that are said to have the same bytes. Pure.
///
/// Each source has validators of its own, which say nothing about another's. So a mirror is asked under those that it gave first, and has
/// to agree with the file on its length; one that does not is dropped. Whether its bytes are the same ones only the file's
/// checksum can tell, or a digest that a mirror sends along.
struct SourceTable: Sendable {
    /// The one that said what the file is: 0 is the download's own URL.
    private(set) var first = 0
    private let count: Int
    private var dropped: Set<Int> = []
    private var entities: [Int: SavedEntity] = [:]
    /// Whether the first one is asked only if no other is left.
    private var isFirstRetired = false
    /// Whether a source other than the first one has brought bytes.
    private(set) var hasMixed = false
    private var digests: [Int: Checksum] = [:]

    /// - Parameter count: all sources, 1 or more.
    init(count: Int) {
        self.count = max(1, count)
    }

    /// The source for one more connection: the one with the fewest, the earlier among equals.
    /// - Parameter busy: the source of each connection that is open.
    func next(busy: [Int]) -> Int {
        let usable = (0..<count).filter { !dropped.contains($0) && !(isFirstRetired && $0 == first) }
        return usable.min { left, right in busy.count { $0 == left } < busy.count { $0 == right } } ?? first
    }

    /// The first source has failed before it said anything of the file: the next one, if there is one.
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

    /// What an answer of a source has to agree with: what it said before, or its own word for validators and the file's length.
    func expectation(of source: Int, _ head: AnswerHead, total: Int64?) -> SavedEntity {
        entities[source] ?? SavedEntity(etag: head.etag, lastModified: head.lastModified, date: head.date, total: total)
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
