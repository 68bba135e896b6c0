internal import HTTPCore

/// The queue, what is active and what has ended, and the names of aria2's RPC.
extension SnapshotIndex {
    /// A part of the queue: queued and paused downloads in the order in which they start, as of this moment.
    /// - Parameters:
    ///   - offset: how many are passed over, 0 or more.
    ///   - limit: how many at most.
    public func queue(offset: Int, limit: Int) -> [Download] {
        let view = view()
        let first = min(max(0, offset), view.waiting.count)
        let count = min(max(0, limit), view.waiting.count - first)
        var walk = view.waiting.walk(from: first)
        var found: [Download] = []
        found.reserveCapacity(count)
        while found.count < count, let place = walk.next() {
            guard var download = view.entries[place]?.current else { continue }
            download.position = first + found.count
            found.append(download)
        }
        return found
    }

    /// How many downloads are queued or paused.
    public var queueCount: Int { waiting.count }

    /// How many downloads are in a state.
    func count(of state: DownloadState) -> Int { view().byState[state]?.count ?? 0 }

    /// The downloads that transfer, or are about to try again, by when they first began.
    public func active() -> [Download] {
        let view = view()
        var walk = view.walk([.downloading, .retrying])
        var found: [Download] = []
        while let entry = walk.next() { found.append(entry.current) }
        func start(_ download: Download) -> Int64 { (download.startedAt ?? download.createdAt).millisecondsSinceEpoch }
        return found.sorted { (start($0), $0.id) < (start($1), $1.id) }
    }

    /// The downloads that completed, failed or were cancelled last, of these the oldest first.
    ///
    /// The first call sorts all there are, which takes some ten milliseconds for a hundred thousand; from then on they are kept so.
    /// - Parameter limit: how many at most.
    public func ended(limit: Int) -> [Download] {
        let (view, ended) = sortedByEnd()
        let count = min(max(0, limit), ended.count)
        var walk = ended.walk(from: ended.count - count)
        var found: [Download] = []
        found.reserveCapacity(count)
        while let place = walk.next() { if let entry = view.entries[place] { found.append(entry.download) } }
        return found
    }

    /// What the first digits of a name in aria2's RPC stand for.
    ///
    /// The first call sorts all downloads, which takes some ten milliseconds for a hundred thousand; from then on they are kept so.
    /// - Parameters:
    ///   - prefix: the digits as a number: `ab` is 0xAB.
    ///   - digits: how many they are, 1…16.
    public func find(gid prefix: UInt64, digits: Int) -> GIDMatch {
        guard (1...16).contains(digits), digits == 16 || prefix >> UInt64(4 * digits) == 0 else { return .notFound }
        let shift = UInt64(64 - 4 * digits)
        let ids = ids(fromGID: prefix << shift)
        guard let first = ids.first, first.gid.value >> shift == prefix else { return .notFound }
        if let second = ids.second, second.gid.value >> shift == prefix { return .ambiguous }
        return .found(first.id)
    }

    /// The download with a name in aria2's RPC; `nil` if there is none.
    public func find(gid: DownloadGID) -> DownloadID? {
        if case .found(let id) = find(gid: gid.value, digits: 16) { id } else { nil }
    }
}
