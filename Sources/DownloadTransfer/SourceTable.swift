package import DownloadCore

/// The sources of a download's bytes: its URL, and mirrors that are expected to have the same bytes. Mirrors that the
/// origin announces are added during an attempt. Pure.
///
/// Each source has validators of its own, which are not valid for others. A mirror is asked with the validators of its
/// first response, and its file must have the same length. Otherwise it is dropped. Only a digest of the whole file
/// proves that its bytes are the same. Without a digest, only the first source is used.
package struct SourceTable: Sendable {
    /// The source that describes the file. Source 0 comes first unless it is excluded or has failed.
    package private(set) var first = 0
    private var count: Int
    private var dropped: Set<Int> = []
    private var entities: [Int: SavedEntity] = [:]
    /// Whether the first source is asked only if no other is left.
    package private(set) var isFirstRetired = false
    /// Whether a source other than the first one has brought bytes.
    package private(set) var hasMixed = false
    private var digests: [Int: Checksum] = [:]

    /// Creates a table.
    /// - Parameters:
    ///   - count: The number of all sources, 1 or more.
    ///   - excluded: Sources that are not asked unless no other is left.
    package init(count: Int, excluding excluded: Set<Int> = []) {
        self.count = max(1, count)
        guard let first = (0..<self.count).first(where: { !excluded.contains($0) }) else { return }
        self.first = first
        dropped = excluded
    }

    /// Adds a mirror.
    /// - Returns: Its number.
    package mutating func add() -> Int {
        count += 1
        return count - 1
    }

    /// Whether a source other than the first one is in use.
    package var hasOthers: Bool { (0..<count).contains { $0 != first && !dropped.contains($0) } }

    /// Returns the source for another connection: the one with the fewest connections, and of several the earliest.
    /// - Parameters:
    ///   - busy: The source of each open connection.
    ///   - combining: Whether bytes of several sources may be combined.
    package func next(busy: [Int], combining: Bool) -> Int {
        guard combining else { return first }
        let usable = (0..<count).filter { !dropped.contains($0) && !(isFirstRetired && $0 == first) }
        return usable.min { left, right in busy.count { $0 == left } < busy.count { $0 == right } } ?? first
    }

    /// Replaces the first source, which has failed.
    /// - Returns: The next source; `nil` if there is none.
    package mutating func replaceFirst() -> Int? {
        dropped.insert(first)
        guard let next = (0..<count).first(where: { !dropped.contains($0) }) else { return nil }
        first = next
        return next
    }

    /// Retires the first source, which has failed. Others then bring the rest of the file that it described.
    /// - Returns: Whether there are others.
    package mutating func retireFirst() -> Bool {
        isFirstRetired = hasOthers
        return isFirstRetired
    }

    /// Returns a source's first description of the file; `nil` if it has not been asked.
    package func entity(of source: Int) -> SavedEntity? { entities[source] }

    /// Returns the entity that a source's response has to agree with.
    ///
    /// It is the source's first description. Without one, it consists of the response's own
    /// validators and the file's length.
    package func expectation(of source: Int, _ response: OriginResponse, total: Int64?) -> SavedEntity {
        entities[source]
            ?? SavedEntity(
                etag: response.etag, lastModified: response.lastModified, date: response.date, total: total,
                coding: response.isCoded ? nil : response.coding)
    }

    /// Notes a source's description of the file.
    package mutating func note(_ entity: SavedEntity, of source: Int) {
        entities[source] = entity
        if source != first { hasMixed = true }
    }

    /// The digests of the whole file that the mirrors in use have sent.
    package var mirrorDigests: [Checksum] { digests.sorted { $0.key < $1.key }.map(\.value) }

    /// Notes the digest of the whole file that a mirror has sent.
    package mutating func note(_ digest: Checksum, of source: Int) {
        digests[source] = digest
    }

    /// Drops a mirror and its digest. The first source stays.
    package mutating func drop(_ source: Int) {
        guard source != first else { return }
        dropped.insert(source)
        digests[source] = nil
    }
}
