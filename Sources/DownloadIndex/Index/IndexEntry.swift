package import DownloadCore

/// One download in the index. An entry never changes: each change of the download replaces it.
/// Readers therefore need no lock.
package final class IndexEntry: Sendable {
    package let download: Download
    /// The group of the URL and the standing, by which downloads of one URL are found.
    let group: URLGroup
    /// The source of values that are read whenever the download is shown.
    private let live: Live?

    private enum Live {
        case transfer(TransferCounters, QueueStatus)
        case queue(QueueStatus)
    }

    /// Creates an entry.
    /// - Parameters:
    ///   - download: The published download.
    ///   - counters: The counters of its transfer; `nil` without a transfer.
    ///   - queue: The source of its waiting reason.
    ///   - former: The entry of the download's former version; `nil` for a new download.
    init(_ download: Download, counters: TransferCounters?, queue: QueueStatus, replacing former: IndexEntry? = nil) {
        self.download = download
        group =
            former.flatMap { $0.download.url == download.url ? $0.group.with(Standing(download)) : nil }
            ?? URLGroup(download.url, Standing(download))
        live = counters.map { .transfer($0, queue) } ?? (download.state == .queued ? .queue(queue) : nil)
    }

    /// The rank in the queue; `nil` if the download is not in the queue.
    var rank: QueueRank? { download.isInQueue ? download.rank : nil }

    /// The counters of the transfer; `nil` without a transfer.
    var counters: TransferCounters? {
        if case .transfer(let counters, _) = live { counters } else { nil }
    }

    private var waitingFor: WaitingReason? {
        switch live {
        case .queue(let queue): queue.reason(of: download)
        case .transfer(let counters, let queue):
            counters.received == download.bytesTotal && queue.isStorageAway ? .storage : nil
        case nil: nil
        }
    }

    /// Whether ``current`` changes while this entry is in the index.
    var isLive: Bool { live != nil }

    /// The version of ``current``, which costs less than the value itself.
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

    /// The download with its live values.
    package var current: Download {
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

/// The kind of a download among the downloads of its URL, the most useful first.
enum Standing: Int, CaseIterable {
    /// The download is live, or its finished file exists according to the record. It can represent its URL.
    case current
    /// The finished file was found missing.
    case missing
    /// The download failed or was cancelled.
    case ended

    init(_ download: Download) {
        if download.state == .completed {
            self = download.fileMissing ? .missing : .current
        } else {
            self = download.state.isLive ? .current : .ended
        }
    }
}

/// A hash of a URL together with a standing. Downloads of other URLs may have the same one.
struct URLGroup: Sendable, Equatable {
    private static let standings = 0b11

    let value: Int

    init(_ url: String, _ standing: Standing) {
        value = url.hashValue & ~Self.standings | standing.rawValue
    }

    private init(value: Int) {
        self.value = value
    }

    /// The hash of the URL.
    var hash: Int { value & ~Self.standings }

    /// Returns the group of the same URL with another standing.
    func with(_ standing: Standing) -> URLGroup { URLGroup(value: value & ~Self.standings | standing.rawValue) }
}

/// The number of a row of the index, which holds one entry. There are many of these numbers, and 32 bits suffice for
/// the entries that fit into memory.
package typealias Row = UInt32

/// The entries by row, in chunks. A copy shares all chunks. The next change copies one chunk and the list of chunks.
package struct IndexEntries: Sendable {
    /// The number of entries in a chunk, as a power of two.
    static let chunkBits: Row = 8
    private static let mask: Row = 1 << chunkBits - 1

    private var chunks: [[IndexEntry?]] = []
    private var last = 0

    /// The entry in a row that has been in use; `nil` if it was removed.
    subscript(row: Row) -> IndexEntry? {
        get { chunks[Int(row >> Self.chunkBits)][Int(row & Self.mask)] }
        set { chunks[Int(row >> Self.chunkBits)][Int(row & Self.mask)] = newValue }
    }

    /// All rows that have ever held an entry.
    var rows: Range<Row> { 0..<Row(clamping: last) }

    /// Adds an entry in a new row.
    /// - Returns: The row.
    mutating func append(_ entry: IndexEntry) -> Row {
        let row = Row(clamping: last)
        if row & Self.mask == 0 {
            chunks.append([])
            chunks[chunks.count - 1].reserveCapacity(1 << Int(Self.chunkBits))
        }
        chunks[chunks.count - 1].append(entry)
        last += 1
        return row
    }
}
