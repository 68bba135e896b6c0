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
    /// The known items whose address has changed, with their offsets in the listing.
    public private(set) var moved: [Int] = []

    /// Decides about a listing.
    /// - Parameters:
    ///   - listing: The items, newest first, each with another key.
    ///   - known: The records by key.
    ///   - now: The time of the check, which dates items without a date.
    public init(of listing: [ListedItem], known: [String: KnownItem], _ rules: Rules, now: Timestamp) {
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
        for (offset, item) in listing.enumerated() {
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
            } else {
                let record = KnownItem(
                    key: item.key, date: item.date(at: offset, now), state: state, reason: reason, url: item.url)
                kept.append((offset, record))
            }
        }
    }

    /// Gives items that are known by their address the key of the record with the same address.
    ///
    /// The identity of such an item is its address without query, or with it if another item has the same without. So
    /// it changes when that other item comes or goes.
    public static func identify(_ listing: inout [ListedItem], known: [String: KnownItem]) {
        let named = listing.indices.filter { listing[$0].isNamedByAddress && known[listing[$0].key] == nil }
        if named.isEmpty { return }
        var keys: [String: String] = [:]
        for item in known.values { if let url = item.url { keys[url] = item.key } }
        var listed = Set(listing.map(\.key))
        for offset in named {
            guard let key = listing[offset].url.flatMap({ keys[$0] }), listed.insert(key).inserted else { continue }
            listing[offset].key = key
        }
    }

    /// Compares all steps.
    public static func == (left: ListingDecision, right: ListingDecision) -> Bool {
        left.taken == right.taken && left.moved == right.moved && left.kept.elementsEqual(right.kept, by: ==)
    }
}
