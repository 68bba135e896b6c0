public import DownloadCore

/// One page of a list, whose downloads are built only if they are needed.
public struct IndexListing: Sendable {
    /// An item of the page.
    public struct Item: Sendable {
        let entry: IndexEntry
        /// The number of downloads that precede it in the queue; `nil` if it is not in the queue.
        public let position: Int?

        /// The version of ``download`` at this moment.
        public var version: DownloadVersion { entry.version }

        /// Whether the version changes without a publication.
        public var isLive: Bool { entry.isLive }

        /// The download with its present live values.
        public var download: Download {
            var current = entry.current
            current.position = position
            return current
        }
    }

    private let view: IndexView
    private let lists: [OrderedRows]
    private let query: ListQuery
    /// The number of matching downloads on all pages.
    public let total: Int

    init(_ view: IndexView, _ lists: [OrderedRows], _ query: ListQuery) {
        self.view = view
        self.lists = lists
        self.query = query
        total = lists.reduce(0) { $0 + $1.count }
    }

    /// The maximum number of items of the page.
    public var limit: Int { min(query.limit, total) }

    /// Calls `visit` with each item of the page, in the requested order, until it returns `false`.
    /// - Returns: The item after which the next page starts; `nil` on the last page.
    public func forEach(_ visit: (Item) -> Bool) -> RecordID? {
        var positions = IndexView.Positions(view)
        var walk = MergedWalk(lists, query.order, after: query.after, view.entries)
        var count = 0
        var last: RecordID?
        while let entry = walk.next() {
            guard count < query.limit else { return last }
            count += 1
            last = entry.download.id
            guard visit(Item(entry: entry, position: positions.position(of: entry, in: view))) else { break }
        }
        return nil
    }

    /// The page with its downloads.
    var page: DownloadPage {
        var items: [Download] = []
        items.reserveCapacity(limit)
        let next = forEach { item in
            items.append(item.download)
            return true
        }
        return DownloadPage(items: items, next: next, total: total)
    }
}

extension ListQuery {
    /// Whether finding a page visits the downloads of that page only.
    public var isWalk: Bool { text == nil && endedBefore == nil && label == nil && folder == nil }
}
