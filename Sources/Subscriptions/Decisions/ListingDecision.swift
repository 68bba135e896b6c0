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
        /// Whether no listing was seen before.
        public var isFirst: Bool
        /// The time up to which items count as seen, of which no record is left; `nil` for none.
        public var horizon: Timestamp?

        /// Creates rules.
        public init(
            take: BacklogChoice = .new, filter: ItemFilter = ItemFilter(), isPaused: Bool = false, isFirst: Bool = false,
            horizon: Timestamp? = nil
        ) {
            self.take = take
            self.filter = filter
            self.isPaused = isPaused
            self.isFirst = isFirst
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
        for (offset, item) in listing.enumerated() {
            if let record = known[item.key] {
                if record.state == .new, !rules.isPaused { taken.append(offset) }
                // A first check that was cut off has taken some of the newest.
                if rules.isFirst, record.state == .taken, left > 0, left < .max { left -= 1 }
                if record.url != item.url { moved.append(offset) }
                continue
            }
            if let horizon = rules.horizon, let date = item.date, date <= horizon { continue }
            let isAccepted = rules.filter.accepts(name: item.name, durationMs: item.durationMs)
            let state: ItemState
            var reason: SkipReason?
            if !isAccepted {
                (state, reason) = (.skipped, .filtered)
            } else if rules.isFirst, left == 0 {
                (state, reason) = (.skipped, .backlog)
            } else {
                if rules.isFirst { left -= 1 }
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

    /// Compares all steps.
    public static func == (left: ListingDecision, right: ListingDecision) -> Bool {
        left.taken == right.taken && left.moved == right.moved && left.kept.elementsEqual(right.kept, by: ==)
    }
}
