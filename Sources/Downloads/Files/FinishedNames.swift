internal import HTTPCore

/// Which download the file of each path is of, among those that have completed. Pure.
///
/// A path belongs to the download that was completed under it last: what bears it now can't be the file of an earlier one, which
/// somebody has moved away.
struct FinishedNames: Sendable {
    /// A download that was completed under a path.
    struct Claim {
        let path: FilePath
        let id: DownloadID
        let completedAt: Timestamp

        /// The claim of a download; `nil` unless it is completed.
        init?(_ download: Download) {
            guard download.state == .completed, let path = download.path else { return nil }
            self.path = path
            id = download.id
            completedAt = download.endedAt ?? download.createdAt
        }
    }

    private var owners: [FilePath: DownloadID] = [:]

    init() {}

    /// The paths that downloads claim, in any order.
    init(_ claims: [Claim]) {
        owners.reserveCapacity(claims.count)
        var contested: Set<FilePath> = []
        for claim in claims where publish(claim.path, by: claim.id) != nil { contested.insert(claim.path) }
        if contested.isEmpty { return }
        let last = claims.filter { contested.contains($0.path) }.sorted { ($0.completedAt, $0.id) < ($1.completedAt, $1.id) }
        for claim in last { publish(claim.path, by: claim.id) }
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
