public import HTTPCore

/// Decides what a listing changes: which items are new, taken or left out.
public struct ListingDecision: Sendable, Equatable {
    /// The rules of a subscription.
    public struct Rules: Sendable, Equatable {
        /// The choice among the items of the first listing.
        public var take = BacklogChoice.new
        /// The conditions for items that are taken without a command.
        public var filter = ItemFilter()
        /// Whether nothing is taken at present.
        public var isPaused = false
        /// Whether no listing was seen before that had its end.
        public var isFirst = false
        /// The time of the subscription. Items of an earlier time belong to the backlog.
        public var createdAt = Timestamp(millisecondsSinceEpoch: 0)
        /// The time up to which items without a record count as seen; `nil` for none.
        public var horizon: Timestamp?
        /// The time up to which unknown items belong to the backlog, as a check that broke off has found; `nil` for none.
        public var backlogEnd: Timestamp?
    }

    /// The offsets in the listing of the items to take, newest first.
    public private(set) var taken: [Int] = []
    /// The records of the other items that were not known, with their offsets in the listing.
    public private(set) var kept: [(offset: Int, item: KnownItem)] = []
    /// The dates of the items, at most the time of the check. One without a date, or with a later one, is a little older than
    /// the item before it in the listing. The first ones have the time of the check.
    public private(set) var dates: [Timestamp] = []
    /// The offsets of items to take that have the address of a taken one, and another date. Their files are other ones:
    /// a bulletin has the address of the one before it.
    public private(set) var renewed: Set<Int> = []
    /// The known items whose address has changed, with their offsets in the listing.
    public private(set) var moved: [Int] = []
    /// The time up to which unknown items belong to the backlog; `nil` if they are judged one by one.
    public private(set) var backlogEnd: Timestamp?

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
        let backlogEnd = rules.isFirst || left == .max ? nil : rules.backlogEnd ?? Self.backlogEnd(listing, known)
        self.backlogEnd = backlogEnd
        if backlogEnd != nil { left = 0 }
        if rules.isFirst, left < .max { left = max(0, left - known.values.count(where: \.isChosen)) }
        func isBacklog(_ item: ListedItem, at offset: Int) -> Bool {
            if let backlogEnd, let date = item.date, date <= backlogEnd { return true }
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

    /// Returns the date up to which unknown items of a later listing belong to the backlog; `nil` for none.
    ///
    /// A few unknown items that are older than the newest known one have appeared late. If there are as many as known ones,
    /// the listing has become longer, or its items have other identities.
    private static func backlogEnd(_ listing: [ListedItem], _ known: [String: KnownItem]) -> Timestamp? {
        guard let newest = known.values.lazy.map(\.date).max() else { return nil }
        let older = listing.count { known[$0.key] == nil && $0.date.map { $0 <= newest } ?? false }
        return older > 1 && older >= listing.count { known[$0.key] != nil } ? newest : nil
    }

    private static func dates(of listing: [ListedItem], _ now: Timestamp) -> [Timestamp] {
        var last = now
        return listing.map { item in
            let before = Timestamp(millisecondsSinceEpoch: last.millisecondsSinceEpoch - 1)
            last = item.date.flatMap { $0 > now ? nil : $0 } ?? before
            return last
        }
    }

    /// Compares all steps.
    public static func == (left: ListingDecision, right: ListingDecision) -> Bool {
        left.taken == right.taken && left.moved == right.moved && left.kept.elementsEqual(right.kept, by: ==)
    }
}
