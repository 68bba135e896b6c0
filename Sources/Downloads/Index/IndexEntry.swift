/// One download as the index holds it. It never changes: what happens to the download replaces it, so whoever has taken it reads it
/// without a lock.
final class IndexEntry: Sendable {
    let download: Download
    /// What is read elsewhere whenever it is shown.
    private let live: Live?

    private enum Live {
        case transfer(TransferCounters, QueueStatus)
        case queue(QueueStatus)
    }

    /// - Parameters:
    ///   - download: as it was published.
    ///   - counters: those of its transfer; `nil` while it has none.
    ///   - queue: tells what it waits for.
    init(_ download: Download, counters: TransferCounters?, queue: QueueStatus) {
        self.download = download
        live = counters.map { .transfer($0, queue) } ?? (download.state == .queued ? .queue(queue) : nil)
    }

    /// Where it stands in the queue; `nil` if it is not in it.
    var rank: QueueRank? { download.isInQueue ? download.rank : nil }

    /// The counters of its transfer; `nil` while it has none.
    var counters: TransferCounters? {
        if case .transfer(let counters, _) = live { counters } else { nil }
    }

    private var waitingFor: WaitingReason? {
        switch live {
        case .queue(let queue): queue.reason(for: download.url)
        case .transfer(let counters, let queue):
            counters.received == download.bytesTotal && queue.isStorageAway ? .storage : nil
        case nil: nil
        }
    }

    /// The version of ``current``, for less than the value itself costs.
    var version: DownloadVersion {
        DownloadVersion(
            publication: download.publication, bytesReceived: counters?.received ?? download.bytesReceived,
            bytesPerSecond: counters?.bytesPerSecond ?? download.bytesPerSecond,
            stalled: counters?.isStalled ?? download.stalled, segments: segments, waitingFor: waitingFor)
    }

    private var segments: Int {
        guard let connections = counters?.connections, connections > 0 else { return download.segments }
        return connections
    }

    /// The download with what is read elsewhere laid over it.
    var current: Download {
        var current = download
        current.waitingFor = waitingFor
        guard let counters else { return current }
        current.bytesReceived = counters.received
        current.bytesPerSecond = counters.bytesPerSecond
        current.stalled = counters.isStalled
        current.segments = segments
        if let written = counters.written { current.receivedRanges = written.outline(atMost: Download.rangeLimit) }
        return current
    }
}

/// Where an entry lies in the index; 32 bits are enough for what memory can hold, and there are many of them.
typealias Place = UInt32

/// The entries by place, in chunks: a copy of it shares them all, and a change after that copies one chunk and the list of chunks.
struct IndexEntries: Sendable {
    /// How many entries a chunk has, as a power of two.
    static let chunkBits: Place = 8
    private static let mask: Place = 1 << chunkBits - 1

    private var chunks: [[IndexEntry?]] = []
    private var last = 0

    /// The entry at a place that was given to one; `nil` where there is none any more.
    subscript(place: Place) -> IndexEntry? {
        get { chunks[Int(place >> Self.chunkBits)][Int(place & Self.mask)] }
        set { chunks[Int(place >> Self.chunkBits)][Int(place & Self.mask)] = newValue }
    }

    /// All places that were ever given to an entry.
    var places: Range<Place> { 0..<Place(clamping: last) }

    /// Adds an entry at a new place.
    mutating func append(_ entry: IndexEntry) -> Place {
        let place = Place(clamping: last)
        if place & Self.mask == 0 {
            chunks.append([])
            chunks[chunks.count - 1].reserveCapacity(1 << Int(Self.chunkBits))
        }
        chunks[chunks.count - 1].append(entry)
        last += 1
        return place
    }
}
