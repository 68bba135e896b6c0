public import Catalog
public import DownloadCore
internal import DownloadIndex
internal import Downloads
public import HTTPCore

/// An item whose file is finished.
public struct FinishedItem: Sendable {
    /// The identity among the items of the subscription.
    public let id: String
    /// The item as its source describes it.
    public let item: SearchItem
    /// The time of publication, at most the time at which a check first found it.
    public let date: Timestamp
    /// The download with the file.
    public let download: Download
}

/// The feeds of finished files, and their keys.
extension SubscriptionService {
    /// Returns the items with finished files among the newest ``Limits/listed`` that were taken, the newest first.
    /// - Throws: `notFound`, `refused`.
    public func finishedItems(of id: RecordID) async throws(SubscriptionError) -> [FinishedItem] {
        _ = try await find(id)
        var query = ItemQuery(of: id)
        query.states = [ItemState.taken.rawValue]
        query.limit = Limits.listed
        let items = try await read(query).compactMap { row -> FinishedItem? in
            guard let download = row.download.flatMap({ downloads.index.download($0) }), download.state == .completed,
                !download.fileMissing, let details = ItemDetails(decoding: row.body, besides: row.url)
            else { return nil }
            return FinishedItem(
                id: row.key, item: details.item, date: Timestamp(millisecondsSinceEpoch: row.date), download: download)
        }
        let present = Set(await downloads.withoutMissingFiles(items.map(\.download)).map(\.id))
        return items.filter { present.contains($0.download.id) }
    }

    /// Returns the subscription whose feed a key opens; `nil` if there is none.
    public func subscription(withKey key: String) -> RecordID? {
        // All are compared, so that the time taken reveals nothing.
        entries.reduce(RecordID?.none) { found, entry in
            entry.value.durable?.key.isExactly(key) == true ? entry.key : found
        }
    }

    /// Returns whether a taken item of a subscription became a download.
    /// - Throws: `refused`.
    public func hasTaken(_ download: RecordID, _ id: RecordID) async throws(SubscriptionError) -> Bool {
        var query = ItemQuery(ofDownload: download)
        query.subscription = id
        query.states = [ItemState.taken.rawValue]
        query.includesBodies = false
        return try await !read(query).isEmpty
    }

    /// Replaces the key of a feed. When the method returns, that is durable, and the former key opens nothing.
    /// - Throws: `notFound`, `refused`.
    public func replaceKey(of id: RecordID) async throws(SubscriptionError) -> Subscription {
        try await changing(id) { claim throws(SubscriptionError) in
            var subscription = try subscription(id)
            subscription.key = FeedKey()
            subscription.touch(at: downloads.now)
            try await keep(subscription, under: claim)
            return try durable(id)
        }
    }
}
