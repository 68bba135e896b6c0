public import DownloadCore
internal import HTTPCore

/// The queue, active and ended downloads, and the names of aria2's RPC.
extension SnapshotIndex {
    /// Returns a section of the present queue: queued and paused downloads in the order in which they start.
    /// - Parameters:
    ///   - offset: The number of downloads to skip, 0 or more.
    ///   - limit: The maximum number of downloads.
    public func queue(offset: Int, limit: Int) -> [Download] {
        let view = view()
        let first = min(max(0, offset), view.waiting.count)
        let count = min(max(0, limit), view.waiting.count - first)
        var walk = view.waiting.walk(from: first)
        var found: [Download] = []
        found.reserveCapacity(count)
        while found.count < count, let row = walk.next() {
            guard var download = view.entries[row]?.current else { continue }
            download.position = first + found.count
            found.append(download)
        }
        return found
    }

    /// The number of queued and paused downloads.
    public var queueCount: Int { waiting.count }

    /// Returns the number of downloads in a state.
    package func count(of state: DownloadState) -> Int { view().byState[state]?.count ?? 0 }

    /// Returns the downloads that transfer or wait for a retry, by the start of their first attempt.
    public func active() -> [Download] {
        let view = view()
        var walk = view.walk([.downloading, .retrying])
        var found: [Download] = []
        while let entry = walk.next() { found.append(entry.current) }
        func start(_ download: Download) -> Int64 { (download.startedAt ?? download.createdAt).millisecondsSinceEpoch }
        return found.sorted { (start($0), $0.id) < (start($1), $1.id) }
    }

    /// Returns the downloads that ended last, in the order of their ends.
    /// - Parameter limit: The maximum number of downloads.
    public func ended(limit: Int) -> [Download] {
        let (view, ended) = sortedByEnd()
        let count = min(max(0, limit), ended.count)
        var walk = ended.walk(from: ended.count - count)
        var found: [Download] = []
        found.reserveCapacity(count)
        while let row = walk.next() { if let entry = view.entries[row] { found.append(entry.download) } }
        return found
    }

    /// Finds the download whose name in aria2's RPC begins with certain digits.
    /// - Parameters:
    ///   - prefix: The digits as a number: `ab` is 0xAB.
    ///   - digits: The number of digits, 1…16.
    public func find(gid prefix: UInt64, digits: Int) -> GIDMatch {
        guard (1...16).contains(digits), digits == 16 || prefix >> UInt64(4 * digits) == 0 else { return .notFound }
        let shift = UInt64(64 - 4 * digits)
        let ids = ids(fromGID: prefix << shift)
        guard let first = ids.first, first.gid.value >> shift == prefix else { return .notFound }
        if let second = ids.second, second.gid.value >> shift == prefix { return .ambiguous }
        return .found(first.id)
    }

    /// Returns the download with a name in aria2's RPC; `nil` if there is none.
    public func find(gid: DownloadGID) -> RecordID? {
        if case .found(let id) = find(gid: gid.value, digits: 16) { id } else { nil }
    }
}
