internal import DownloadCore
internal import HTTPCore

/// The owners of the paths of finished files, among completed downloads. It is a pure value.
///
/// A path belongs to the download that was last completed under it. The file of any earlier download must have been
/// moved away.
struct FinishedNames: Sendable {
    /// A download that was completed under a path.
    struct Completion {
        let path: FilePath
        let id: RecordID
        let completedAt: Timestamp

        /// Creates the completion of a download; `nil` unless it is completed.
        init?(_ download: Download) {
            guard download.state == .completed, let path = download.path else { return nil }
            self.path = path
            id = download.id
            completedAt = download.endedAt ?? download.createdAt
        }
    }

    private struct Owner: Sendable {
        let path: FilePath
        var id: RecordID
    }

    private var owners: [Owner] = []
    /// The numbers of the owners, by path.
    private var slots = HashSlots()

    init() {}

    /// Creates the owners from completions in any order.
    init(_ completions: [Completion]) {
        owners.reserveCapacity(completions.count)
        slots.reserveCapacity(completions.count)
        var contested: Set<FilePath> = []
        for completion in completions where publish(completion.path, by: completion.id) != nil {
            contested.insert(completion.path)
        }
        if contested.isEmpty { return }
        let last = completions.filter { contested.contains($0.path) }.sorted { ($0.completedAt, $0.id) < ($1.completedAt, $1.id) }
        for completion in last { publish(completion.path, by: completion.id) }
    }

    /// Makes a download the owner of a path. Returns the former owner, whose file cannot be there any more; `nil` if
    /// there was none.
    @discardableResult
    mutating func publish(_ path: FilePath, by id: RecordID) -> RecordID? {
        let hash = path.hashValue
        guard let number = number(of: path, hash) else {
            slots.insert(owners.count, hash)
            owners.appendSparingly(Owner(path: path, id: id))
            return nil
        }
        let former = owners[number].id
        owners[number].id = id
        return former == id ? nil : former
    }

    /// Returns the download that owns a path; `nil` if there is none.
    func owner(of path: FilePath) -> RecordID? { number(of: path, path.hashValue).map { owners[$0].id } }

    /// Releases the path of a removed download.
    mutating func release(_ path: FilePath, by id: RecordID) {
        let hash = path.hashValue
        guard let number = number(of: path, hash), owners[number].id == id, let last = owners.popLast() else { return }
        slots.remove(number, hash)
        if number == owners.count { return }
        slots.change(owners.count, to: number, last.path.hashValue)
        owners[number] = last
    }

    private func number(of path: FilePath, _ hash: Int) -> Int? {
        slots.number(hash) { owners[$0].path == path }
    }
}
