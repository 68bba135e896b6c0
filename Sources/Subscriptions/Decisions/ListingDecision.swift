internal import DownloadCore
public import HTTPCore

/// Decides what a listing changes: which items are new, taken or left out.
public struct ListingDecision: Sendable, Equatable {
    /// The rules of a subscription.
    public struct Rules: Sendable, Equatable {
        /// The choice among the items of the first listing.
        public var take: BacklogChoice
        /// The conditions for items that are taken by themselves.
        public var filter: ItemFilter
        /// Whether nothing is taken at present.
        public var isPaused: Bool
        /// Whether no listing was seen before that had its end.
        public var isFirst: Bool
        /// The time of the subscription. Items of an earlier time belong to the backlog.
        public var createdAt: Timestamp
        /// The time up to which items count as seen, of which no record is left; `nil` for none.
        public var horizon: Timestamp?

        /// Creates rules.
        public init(
            take: BacklogChoice = .new, filter: ItemFilter = ItemFilter(), isPaused: Bool = false, isFirst: Bool = false,
            createdAt: Timestamp = Timestamp(millisecondsSinceEpoch: 0), horizon: Timestamp? = nil
        ) {
            self.take = take
            self.filter = filter
            self.isPaused = isPaused
            self.isFirst = isFirst
            self.createdAt = createdAt
            self.horizon = horizon
        }
    }

    /// The offsets in the listing of the items to take, newest first.
    public private(set) var taken: [Int] = []
    /// The records of the other items that were not known, with their offsets in the listing.
    public private(set) var kept: [(offset: Int, item: KnownItem)] = []
    /// The dates of the items. One without a date is a little older than the item before it in the listing. The first ones
    /// have the time of the check.
    public private(set) var dates: [Timestamp] = []
    /// The offsets of items to take that have the address of a taken one, and another date. Their files are other ones:
    /// a bulletin has the address of the one before it.
    public private(set) var renewed: Set<Int> = []
    /// The known items whose address has changed, with their offsets in the listing.
    public private(set) var moved: [Int] = []

    /// Decides about a listing.
    /// - Parameters:
    ///   - listing: The items, newest first, each with another key.
    ///   - known: The records by key.
    ///   - now: The time of the check, which dates items without a date.
    ///   - isCancelled: Whether the decision does not matter any more. Patterns may take long.
    public init(
        of listing: [ListedItem], known: [String: KnownItem], _ rules: Rules, now: Timestamp,
        isCancelled: () -> Bool = { false }
    ) {
        var left =
            switch rules.take {
            case .new: 0
            case .latest(let count): count
            case .all: Int.max
            }
        // An earlier check broke off, or its listing did. It has taken some of the newest, and shown where the backlog is.
        let firstKnown = listing.firstIndex { known[$0.key] != nil }
        if rules.isFirst, left < .max { left = max(0, left - known.values.count(where: \.isChosen)) }
        func isBacklog(_ item: ListedItem, at offset: Int) -> Bool {
            guard rules.isFirst, !known.isEmpty else { return rules.isFirst }
            return item.date.map { $0 <= rules.createdAt } ?? (offset > firstKnown ?? listing.count)
        }
        dates = Self.dates(of: listing, now)
        let present = Set(known.values.lazy.filter { $0.state == .taken }.compactMap(\.url))
        for (offset, item) in listing.enumerated() {
            if offset % 64 == 0, isCancelled() { return }
            if let record = known[item.key] {
                if record.state == .new, !rules.isPaused { taken.append(offset) }
                if record.url != item.url { moved.append(offset) }
                continue
            }
            if let horizon = rules.horizon, let date = item.date, date <= horizon { continue }
            let isAccepted = rules.filter.accepts(name: item.name, durationMs: item.durationMs)
            let isBacklog = isBacklog(item, at: offset)
            let state: ItemState
            var reason: SkipReason?
            if !isAccepted {
                (state, reason) = (.skipped, .filtered)
            } else if isBacklog, left == 0 {
                (state, reason) = (.skipped, .backlog)
            } else {
                if isBacklog { left -= 1 }
                state = rules.isPaused ? .new : .taken
            }
            if state == .taken {
                taken.append(offset)
                if item.date != nil, item.url.map(present.contains) ?? false { renewed.insert(offset) }
            } else {
                let record = KnownItem(
                    key: item.key, date: dates[offset], state: state, reason: reason, url: item.url)
                kept.append((offset, record))
            }
        }
    }

    private static func dates(of listing: [ListedItem], _ now: Timestamp) -> [Timestamp] {
        var last = now
        return listing.map { item in
            last = item.date ?? Timestamp(millisecondsSinceEpoch: last.millisecondsSinceEpoch - 1)
            return last
        }
    }

    /// Gives items whose identity has changed the key of the record with the same address.
    ///
    /// The identity of an item without an id is its address without query, or with it if another item has the same
    /// without. So it changes when that other item comes or goes. If an item with an id has the date of the record as
    /// well, its feed has given it another id.
    public static func identify(_ listing: inout [ListedItem], known: [String: KnownItem]) {
        let unknown = listing.indices.filter { known[listing[$0].key] == nil }
        if unknown.isEmpty { return }
        var listed = Set(listing.map(\.key))
        var byAddress: [String: String] = [:]
        var byDate: [String: String] = [:]
        for item in known.values {
            guard let url = item.url, !listed.contains(item.key) else { continue }
            byAddress[url] = item.key
            byDate["\(url) \(item.date)"] = item.key
        }
        for offset in unknown {
            let item = listing[offset]
            guard let url = item.url,
                let key = item.isNamedByAddress ? byAddress[url] : item.date.flatMap({ byDate["\(url) \($0)"] }),
                listed.insert(key).inserted
            else { continue }
            listing[offset].key = key
        }
    }

    /// Compares all steps.
    public static func == (left: ListingDecision, right: ListingDecision) -> Bool {
        left.taken == right.taken && left.moved == right.moved && left.kept.elementsEqual(right.kept, by: ==)
    }
}
