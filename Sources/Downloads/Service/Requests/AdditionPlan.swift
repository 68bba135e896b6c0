internal import DownloadCore
internal import DownloadIndex
internal import HTTPCore
internal import System

/// The decisions about one request for downloads: which ones are new, with their names and positions in the queue, and
/// which items get an existing download or are refused. Nothing happens before the drafts are made durable.
struct AdditionPlan {
    /// The queue, extended by the downloads that are being made durable and by the drafts of this request.
    private typealias Queue = ExtendedQueue<ExtendedQueue<SnapshotIndex.Waiting>>

    private let rules: RequestRules
    private let index: SnapshotIndex
    private let label: String?
    private let parts: WorkParts
    private let prepared: Set<RecordID>
    private let keepsOrder: Bool
    private let pendingGIDs: Set<DownloadGID>
    private var queue: Queue
    /// The last draft of each requested position.
    private var lastAtPosition: [Int: RecordID] = [:]
    private(set) var drafts = Drafts()

    /// Begins the plan of a request. The index must not change while it is used.
    /// - Parameters:
    ///   - arriving: Downloads of other requests that are being made durable and will be in the queue then.
    ///   - pendingGIDs: Gids of downloads of other requests that are being made durable.
    ///   - label: The label of the work that the downloads belong to; `nil`: none.
    ///   - prepared: Existing downloads that are returned for their URLs, in any state.
    ///   - keepsOrder: Whether items with the same position keep their order. Otherwise each is inserted there in turn.
    init(
        _ rules: RequestRules, _ index: SnapshotIndex, arriving: RankedDownloads = RankedDownloads(),
        pendingGIDs: Set<DownloadGID> = [], label: String? = nil, prepared: Set<RecordID> = [], keepsOrder: Bool = true
    ) {
        self.rules = rules
        self.index = index
        self.label = label
        self.prepared = prepared
        self.keepsOrder = keepsOrder
        parts = WorkParts(ofWork: label, in: index)
        self.pendingGIDs = pendingGIDs
        queue = ExtendedQueue(ExtendedQueue(index.waiting, adding: arriving))
    }

    /// Decides about one item, and drafts a new download if there is none to return.
    /// - Parameters:
    ///   - context: Makes ids.
    ///   - names: The reserved and published paths. The plan reserves the paths of new downloads.
    ///   - hasFile: Whether the finished file of a download is present.
    ///   - reserveEventID: Reserves the event id of a new download.
    /// - Returns: The download without its position in the queue.
    /// - Throws: `destinationForbidden`, `invalid`, `duplicate`, `gidInUse`.
    mutating func add(
        _ new: NewDownload, at now: Timestamp, _ context: inout DownloadMachine.Context, _ names: inout FileNames,
        hasFile: (Download, FileNames) -> Bool, reserveEventID: () -> EventID
    ) throws(DownloadError) -> Addition {
        try rules.check(new.options, new.url, of: nil, names)
        let url = new.url.string
        if new.onDuplicate != .new {
            var found = drafts.first[url]
            if found == nil {
                found = parts.candidates(for: new, in: index).first { download in
                    download.state.isLive || prepared.contains(download.id)
                        || (download.state == .completed && hasFile(download, names))
                }
            }
            if let found {
                if new.onDuplicate == .reject { throw .duplicate(found.id) }
                return .existing(found)
            }
        }
        if let gid = new.gid, pendingGIDs.contains(gid) || drafts.gids.contains(gid) || index.find(gid: gid) != nil {
            throw .gidInUse(gid)
        }
        var id = context.newIdentity(at: now)
        while new.gid == nil, pendingGIDs.contains(id.gid) || index.isKnownGID(id.gid) { id = context.newIdentity(at: now) }
        var new = new
        new.options.filename = new.options.filename.map(FileNaming.normalised)
        new.options.folder = new.options.folder.map(FileNaming.normalised)
        new.options.retry = new.options.retry?.completed(by: context.retryPolicy)
        var record = DownloadRecord(new, id: id, at: now)
        if let label, !record.download.labels.containsExactly(label) { record.download.labels.append(label) }
        if let path = record.download.path {
            record.download.filename = names.reserve(path, for: id).name
        } else if !record.download.folder.isEmpty {
            names.reserve(folder: record.download.folder, for: id)
        }
        record.download.changeID = reserveEventID()
        if let position = new.position { assignRank(to: &record.download, at: position, newest: context.newIdentity(at: now)) }
        queue.insert(id, record.download.rank)
        if let gid = new.gid { drafts.gids.insert(gid) }
        drafts.records.append(Draft(record: record, url: new.url))
        if new.onDuplicate == .new { drafts.extra.insert(id) }
        var download = record.download
        download.waitingFor = index.waitingReason(of: download)
        if drafts.first[url] == nil { drafts.first[url] = download }
        return .created(download)
    }

    /// Gives a new download the rank of a position.
    private mutating func assignRank(to download: inout Download, at position: Int, newest: RecordID) {
        let id = download.id
        let previous = lastAtPosition[position].flatMap(drafts.offset(of:)).map { drafts.records[$0].record.download.rank }
        let offset = previous.map { queue.count(below: $0) + 1 } ?? position
        let placement = QueuePlacement(of: id, download.rank, .start(offset), in: queue, newest: newest)
        download.priority = placement.rank.priority
        if placement.rank.arrival != id { download.arrival = placement.rank.arrival }
        for other in placement.others {
            queue.reassign(other)
            drafts.reassign(other)
        }
        if keepsOrder { lastAtPosition[position] = id }
    }

    /// Returns an addition with its position in the queue once all drafts are in it.
    func positioned(_ addition: Addition) -> Addition {
        var download = addition.download
        guard download.isInQueue else { return addition }
        download.position = queue.count(below: drafts.rank(of: download))
        return switch addition {
        case .created: .created(download)
        case .existing: .existing(download)
        }
    }

    /// A download that is about to be made.
    struct Draft: Sendable {
        fileprivate(set) var record: DownloadRecord
        let url: HTTPURL
    }

    /// The new downloads of a request before they are durable, and the changes that make room for them.
    struct Drafts: Sendable {
        /// The drafts in the order of their ids.
        fileprivate(set) var records: [Draft] = []
        /// The first draft of each URL.
        fileprivate(set) var first: [String: Download] = [:]
        /// Existing downloads that get another arrival, to make room in the queue.
        private(set) var reassigned: [RecordID: QueuePlacement.Other] = [:]
        /// The gids that the client has chosen.
        fileprivate(set) var gids: Set<DownloadGID> = []
        /// Drafts that are wanted in addition to other downloads of their URLs.
        fileprivate var extra: Set<RecordID> = []

        /// The drafts that later requests for their URLs receive.
        var holders: [RecordID] {
            records.lazy.map(\.record).filter { first[$0.download.url]?.id == $0.id && !extra.contains($0.id) }.map(\.id)
        }

        /// Returns the offset of a draft in `records`; `nil`: the download is no draft.
        fileprivate func offset(of id: RecordID) -> Int? {
            var (low, high) = (0, records.count)
            while low < high {
                let middle = (low + high) / 2
                if records[middle].record.id < id { low = middle + 1 } else { high = middle }
            }
            return low < records.count && records[low].record.id == id ? low : nil
        }

        /// Gives another arrival to a download in the queue.
        fileprivate mutating func reassign(_ other: QueuePlacement.Other) {
            if let offset = offset(of: other.id) {
                records[offset].record.download.arrival = other.arrival
            } else {
                reassigned[other.id] = QueuePlacement.Other(
                    id: other.id, arrival: other.arrival, former: reassigned[other.id]?.former ?? other.former)
            }
        }

        /// Returns the rank of a download once the drafts are in the queue.
        fileprivate func rank(of download: Download) -> QueueRank {
            offset(of: download.id).map { records[$0].record.download.rank } ?? reassigned[download.id]?.rank ?? download.rank
        }
    }
}
