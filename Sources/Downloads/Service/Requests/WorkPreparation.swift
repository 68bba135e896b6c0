internal import DownloadCore
internal import DownloadIndex
internal import HTTPCore
internal import JSON
internal import System

/// The existing downloads of a work by the ids of their items, newest first. A podcast's URLs change now and then, its
/// ids do not.
struct WorkParts {
    /// The maximum number of candidates for a request: of one URL, and of one part of a work.
    static let candidateLimit = 8
    private static let pageSize = 500

    private var downloads: [[UInt8]: [Download]] = [:]

    /// Finds the downloads of a work.
    /// - Parameter label: The work's label; `nil`: the request is for no work.
    init(ofWork label: String?, in index: SnapshotIndex) {
        guard let label else { return }
        var query = ListQuery(label: label)
        query.limit = Self.pageSize
        while true {
            let page = index.page(query)
            for download in page.items {
                guard let id = Self.itemID(download.track) else { continue }
                if download.state.isLive || downloads[id, default: []].count < Self.candidateLimit {
                    downloads[id, default: []].append(download)
                }
            }
            guard let next = page.next else { return }
            query.after = next
        }
    }

    /// Returns the existing downloads for a request: first with its URL, then for the same part of the work.
    func candidates(for request: NewDownload, in index: SnapshotIndex) -> [Download] {
        let same = index.downloads(ofURL: request.url.string, atMost: Self.candidateLimit)
        guard !downloads.isEmpty, let id = Self.itemID(request.track), let others = downloads[id] else { return same }
        return same + others
    }

    private static func itemID(_ track: [UInt8]?) -> [UInt8]? {
        track.flatMap { (try? JSONValue(parsing: $0))?["id"]?.string }.map { Array($0.utf8) }
    }
}

/// The commands that prepare the existing downloads of a work for a request for its parts. Pure.
struct WorkPreparation {
    /// The work's label.
    let label: String
    /// The prepared downloads. They are returned for their URLs, in any state.
    private(set) var prepared: Set<RecordID> = []

    init(label: String) {
        self.label = label
    }

    /// Adds the work's label to existing downloads and removes it from superseded ones. Failed and cancelled downloads
    /// of the work continue, with the checksum and URL of the request.
    /// - Parameter isCurrent: Whether a client that requests the URL of a download can be given it.
    /// - Returns: The commands. Commands for one download are carried out in their order.
    mutating func steps(
        for requests: [NewDownload], in index: SnapshotIndex, isCurrent: (Download) -> Bool
    ) -> [(DownloadMachine.Command.Request, RecordID)] {
        var steps: [(DownloadMachine.Command.Request, RecordID)] = []
        var addition = DownloadChange()
        addition.addedLabel = label
        var removal = DownloadChange()
        removal.removedLabel = label
        let parts = WorkParts(ofWork: label, in: index)
        for request in requests where request.onDuplicate == .returnExisting {
            let downloads = parts.candidates(for: request, in: index)
            if let current = downloads.first(where: { isCurrent($0) || prepared.contains($0.id) }) {
                if !current.labels.containsExactly(label), prepared.insert(current.id).inserted {
                    steps.append((.change(addition), current.id))
                }
            } else if let ended = downloads.first(where: { $0.labels.containsExactly(label) }) {
                if ended.state == .completed {
                    steps.append((.change(removal), ended.id))
                    continue
                }
                prepared.insert(ended.id)
                var correction = DownloadChange()
                if let checksum = request.checksum, checksum != ended.checksum { correction.checksum = checksum }
                if request.url.string != ended.url { correction.url = request.url }
                if correction.checksum != nil || correction.url != nil { steps.append((.change(correction), ended.id)) }
                steps.append((ended.state == .failed ? .resume : .retry, ended.id))
            }
        }
        return steps
    }
}
