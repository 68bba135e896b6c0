package import HTTPCore

/// The owners of the paths of finished files, among completed downloads. It is a pure value.
///
/// A path belongs to the download that was last completed under it. The file of any earlier download must have been
/// moved away.
package struct FinishedNames: Sendable {
    /// A download that was completed under a path.
    package struct Claim {
        package let path: FilePath
        package let id: DownloadID
        package let completedAt: Timestamp

        /// Creates the claim of a download; `nil` unless it is completed.
        package init?(_ download: Download) {
            guard download.state == .completed, let path = download.path else { return nil }
            self.path = path
            id = download.id
            completedAt = download.endedAt ?? download.createdAt
        }
    }

    private var owners: [FilePath: DownloadID] = [:]

    package init() {}

    /// Creates the owners from claims in any order.
    package init(_ claims: [Claim]) {
        owners.reserveCapacity(claims.count)
        var contested: Set<FilePath> = []
        for claim in claims where publish(claim.path, by: claim.id) != nil { contested.insert(claim.path) }
        if contested.isEmpty { return }
        let last = claims.filter { contested.contains($0.path) }.sorted { ($0.completedAt, $0.id) < ($1.completedAt, $1.id) }
        for claim in last { publish(claim.path, by: claim.id) }
    }

    /// Makes a download the owner of a path. Returns the former owner, whose file cannot be there any more; `nil` if
    /// there was none.
    @discardableResult
    package mutating func publish(_ path: FilePath, by id: DownloadID) -> DownloadID? {
        let former = owners.updateValue(id, forKey: path)
        return former == id ? nil : former
    }

    /// Returns the download that owns a path; `nil` if there is none.
    package func owner(of path: FilePath) -> DownloadID? { owners[path] }

    /// Releases the path of a removed download.
    package mutating func release(_ path: FilePath, by id: DownloadID) {
        if owners[path] == id { owners[path] = nil }
    }
}
