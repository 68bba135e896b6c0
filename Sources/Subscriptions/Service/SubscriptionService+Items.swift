internal import Catalog
public import DownloadCore
internal import DownloadIndex
internal import Downloads
internal import HTTPCore

/// An item of a subscription as clients see it.
public struct SubscriptionItem: Sendable {
    /// The identity among the items of the subscription.
    public let id: String
    /// The name.
    public let name: String
    /// The date as its source writes it; `nil` if it is unknown.
    public let releaseDate: String?
    /// The state.
    public let state: ItemState
    /// The reason for which it is skipped, or has no file yet; `nil` for other items.
    public let reason: SkipReason?
    /// The download; `nil` if there is none.
    public let download: Download?
    /// The position after which the next page begins.
    public let cursor: String
}

/// The items of subscriptions.
extension SubscriptionService {
    /// Returns a page of items, the newest first.
    /// - Parameters:
    ///   - states: The states; empty for all.
    ///   - limit: The maximum number of items, from 1.
    ///   - cursor: The cursor of the last item of the page before; `nil` for the first page.
    /// - Returns: The items, and whether there are more.
    /// - Throws: `notFound`, `invalid` (the cursor), `refused`.
    public func items(
        of id: RecordID, states: [ItemState], limit: Int, after cursor: String?
    ) async throws(SubscriptionError) -> (items: [SubscriptionItem], hasMore: Bool) {
        _ = try await find(id)
        var query = ItemQuery(of: id)
        query.states = states.map(\.rawValue)
        query.limit = limit + 1
        if let cursor {
            let parts = cursor.split(separator: ".", maxSplits: 1)
            guard parts.count == 2, let date = Int64(parts[0]), parts[1].utf8.count == 32 else {
                throw .invalid("'cursor' is '\(cursor)'; it takes the nextCursor of the previous page")
            }
            query.after = (date, String(parts[1]))
        }
        let rows = try await read(query)
        return (rows.prefix(limit).map(shown), rows.count > limit)
    }

    /// Takes an item by hand. When the method returns, its download is durable.
    /// - Returns: The item. One that is taken is returned as it is, unless its download was removed.
    /// - Throws: `notFound`, `itemNotFound`, `destinationForbidden`, `invalid`, `unlisted`, `refused`.
    public func take(_ key: String, of id: RecordID) async throws(SubscriptionError) -> SubscriptionItem {
        // A check would write over the item.
        try await changing(id, endsCheck: true) { claim throws(SubscriptionError) in
            let (subscription, row) = try await storedItem(key, of: id)
            guard var item = KnownItem(row), let details = ItemDetails(decoding: row.body, besides: row.url) else {
                throw .itemNotFound
            }
            if item.state == .taken, item.download.map({ downloads.index.download($0) != nil }) ?? true { return shown(row) }
            item.isByHand = true
            let taken: KnownItem?
            let failure: Subscription.Failure?
            do throws(DownloadError) {
                let outcome = try await take([(item, details)], for: subscription, under: claim)
                (taken, failure) = (outcome.items.first, outcome.failure)
                // A work whose parts cannot be listed at present, or whose folder is taken, stays as it was.
                if taken?.state == .new { try await downloads.commit(claim.guarding(.saveItem(row))) }
                try await recount(id, under: claim)
            } catch {
                throw .refused(error)
            }
            if let failure, failure.problem == .invalidRequest { throw .invalid(failure.message) }
            if taken?.state == .new { throw .unlisted("the source does not list the files of '\(details.name)' at present") }
            switch taken?.reason {
            case nil: break
            case .destinationForbidden: throw .destinationForbidden(item.url ?? details.name)
            default: throw .invalid("'\(details.name)' has nothing to download")
            }
            return shown(try await storedItem(key, of: id).row)
        }
    }

    /// Skips an item that is new. An item that is skipped already stays so.
    /// - Throws: `notFound`, `itemNotFound`, `illegalTransition`, `refused`.
    public func skip(_ key: String, of id: RecordID) async throws(SubscriptionError) -> SubscriptionItem {
        try await changing(id, endsCheck: true) { claim throws(SubscriptionError) in
            let (_, row) = try await storedItem(key, of: id)
            guard var item = KnownItem(row) else { throw .itemNotFound }
            switch item.state {
            case .taken, .expired:
                throw .illegalTransition(
                    from: item.state, "the item is \(item.state.rawValue); only a new item can be skipped")
            case .skipped: return shown(row)
            case .new: break
            }
            (item.state, item.reason) = (.skipped, .byHand)
            do throws(DownloadError) {
                try await downloads.commit(claim.guarding(.saveItem(item.stored(of: id, nil))))
                try await recount(id, under: claim)
            } catch {
                throw .refused(error)
            }
            return shown(try await storedItem(key, of: id).row)
        }
    }

    /// Takes the items that were found while a subscription was paused, also those that its listing has no more.
    /// - Parameter listed: The keys of items that are left as they are.
    /// - Returns: The failure to list the parts of a work; `nil`: there was none.
    @discardableResult
    func takeNewItems(
        of subscription: Subscription, besides listed: Set<String> = [], under claim: SubscriptionClaim
    ) async throws(DownloadError) -> Subscription.Failure? {
        var query = ItemQuery(of: subscription.id)
        query.states = [ItemState.new.rawValue]
        let rows = try await downloads.items(query).filter { !listed.contains($0.key) }
        if rows.isEmpty { return nil }
        var failure: Subscription.Failure?
        for start in stride(from: 0, to: rows.count, by: Limits.group) {
            let some = rows[start..<min(start + Limits.group, rows.count)].compactMap { row in
                KnownItem(row).flatMap { item in ItemDetails(decoding: row.body, besides: row.url).map { (item, $0) } }
            }
            let outcome = try await take(some, for: subscription, under: claim)
            failure = failure ?? outcome.failure
        }
        try await recount(subscription.id, under: claim)
        return failure
    }

    func recount(_ id: RecordID, under claim: SubscriptionClaim) async throws(DownloadError) {
        let known = try await knownItems(of: id)
        guard var subscription = entries[id]?.subscription else { return }
        subscription.count(known.values)
        try await save(subscription, under: claim)
    }

    private func storedItem(
        _ key: String, of id: RecordID
    ) async throws(SubscriptionError) -> (subscription: Subscription, row: StoredItem) {
        let subscription = try subscription(id)
        var query = ItemQuery(of: id)
        query.key = key
        guard let row = try await read(query).first else { throw .itemNotFound }
        return (subscription, row)
    }

    func read(_ query: ItemQuery) async throws(SubscriptionError) -> [StoredItem] {
        do throws(DownloadError) {
            return try await downloads.items(query)
        } catch {
            throw .refused(error)
        }
    }

    private func shown(_ row: StoredItem) -> SubscriptionItem {
        let details = ItemDetails(decoding: row.body, besides: row.url)
        let download = row.download.flatMap { downloads.index.download($0) }
        let isMissing = row.isMade && row.state == ItemState.taken.rawValue && download?.waitForFile(downloads.now) != nil
        return SubscriptionItem(
            id: row.key, name: details?.name ?? "", releaseDate: details?.item.releaseDate,
            state: ItemState(rawValue: row.state) ?? .skipped,
            reason: isMissing ? .fileNotThereYet : row.reason.flatMap(SkipReason.init), download: download,
            cursor: "\(row.date).\(row.key)")
    }
}
