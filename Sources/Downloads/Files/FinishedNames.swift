/// Which download the file of each path is of, among those that have completed. Pure.
///
/// A path belongs to the download that was completed under it last: what bears it now can't be the file of an earlier one, which
/// somebody has moved away.
struct FinishedNames: Sendable {
    private var owners: [FilePath: DownloadID] = [:]

    init() {}

    /// The paths of completed downloads, in any order.
    init(_ downloads: some Collection<Download>) {
        owners.reserveCapacity(downloads.count { $0.state == .completed })
        var contested: Set<FilePath> = []
        for download in downloads where download.state == .completed {
            guard let path = download.path else { continue }
            if publish(path, by: download.id) != nil { contested.insert(path) }
        }
        if contested.isEmpty { return }
        let claims = downloads.filter { $0.state == .completed && $0.path.map(contested.contains) ?? false }
        for claim in claims.sorted(by: { ($0.endedAt ?? $0.createdAt, $0.id) < ($1.endedAt ?? $1.createdAt, $1.id) }) {
            if let path = claim.path { publish(path, by: claim.id) }
        }
    }

    /// A download has been published under a path. Returns the one whose file can't be there any more.
    @discardableResult
    mutating func publish(_ path: FilePath, by id: DownloadID) -> DownloadID? {
        let former = owners.updateValue(id, forKey: path)
        return former == id ? nil : former
    }

    /// The download that what has the path can be of.
    func owner(of path: FilePath) -> DownloadID? { owners[path] }

    /// A download is gone.
    mutating func release(_ path: FilePath, by id: DownloadID) {
        if owners[path] == id { owners[path] = nil }
    }
}
