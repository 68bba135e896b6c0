/// Which download the file of each name is of, among those that have completed. Pure.
///
/// A name belongs to the download that was completed under it last: what bears it now can't be the file of an earlier one, which
/// somebody has moved away.
struct FinishedNames: Sendable {
    private var owners: [String: DownloadID] = [:]

    init() {}

    /// The names of completed downloads, in any order.
    init(_ downloads: some Collection<Download>) {
        owners.reserveCapacity(downloads.count { $0.state == .completed })
        var contested: Set<String> = []
        for download in downloads where download.state == .completed {
            guard let name = download.filename else { continue }
            if publish(name, by: download.id) != nil { contested.insert(name) }
        }
        if contested.isEmpty { return }
        let claims = downloads.filter { $0.state == .completed && $0.filename.map(contested.contains) ?? false }
        for claim in claims.sorted(by: { ($0.endedAt ?? $0.createdAt, $0.id) < ($1.endedAt ?? $1.createdAt, $1.id) }) {
            if let name = claim.filename { publish(name, by: claim.id) }
        }
    }

    /// A download has been published under a name. Returns the one whose file can't be there any more.
    @discardableResult
    mutating func publish(_ name: String, by id: DownloadID) -> DownloadID? {
        let former = owners.updateValue(id, forKey: name)
        return former == id ? nil : former
    }

    /// The download that what bears the name can be of.
    func owner(of name: String) -> DownloadID? { owners[name] }

    /// A download is gone.
    mutating func release(_ name: String, by id: DownloadID) {
        if owners[name] == id { owners[name] = nil }
    }
}
