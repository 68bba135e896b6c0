/// The downloads of the queue in their order, as far as placing one among them has to know.
protocol QueueOrder {
    /// How many there are.
    var count: Int { get }
    /// The one that so many others precede.
    func member(at offset: Int) -> (id: DownloadID, rank: QueueRank)?
    /// How many have a lower rank.
    func count(below rank: QueueRank) -> Int
}

/// Where a download is placed in the queue, and what that takes. Pure.
struct QueueSeat: Sendable, Equatable {
    /// How many precede it.
    var position: Int
    /// What makes it stand there. Its priority is the nearest that its neighbours allow, so that there is but one order.
    var rank: QueueRank
    /// Others that arrive anew, at the places that they have: between them there was no room left.
    var others: [Other] = []

    /// A member of the queue that gets another arrival, and keeps its position.
    struct Other: Sendable, Equatable {
        let id: DownloadID
        let arrival: DownloadID
        /// The rank before.
        let former: QueueRank
        /// The rank afterwards.
        var rank: QueueRank { QueueRank(priority: former.priority, arrival: arrival) }
    }

    /// With less between two arrivals nobody is placed there: as what arrives has to be nobody else's.
    private static let smallestGap: UInt128 = 1 << 16
    /// What those that arrive anew have between them at least.
    private static let wideGap: UInt128 = 1 << 24
    /// How far before the first one is placed who is moved there: 16 ms of arrivals.
    private static let lead: UInt128 = 1 << 84

    /// Places a download.
    /// - Parameters:
    ///   - id: which, whether it is in the queue or not.
    ///   - own: where it stands, or would.
    ///   - move: where it is to stand.
    ///   - order: the queue.
    ///   - newest: an identity that is nobody's, and later than all arrivals.
    init(of id: DownloadID, _ own: QueueRank, _ move: QueueMove, in order: some QueueOrder, newest: DownloadID) {
        let others = Others(order, without: id, own)
        let wanted =
            switch move {
            case .start(let places): places
            case .current(let places): others.offset.saturatingAdd(places)
            case .end(let places): others.count.saturatingAdd(places)
            }
        let position = min(max(wanted, 0), others.count)
        self.init(position: position, rank: own)
        if others.isMember, position == others.offset { return }
        let (before, after) = (others.rank(position - 1), others.rank(position))
        rank.priority = min(max(own.priority, after?.priority ?? .min), before?.priority ?? .max)
        let low = before?.priority == rank.priority ? before?.arrival : nil
        let high = after?.priority == rank.priority ? after?.arrival : nil
        switch (low, high) {
        // Nobody else has its priority.
        case (nil, nil): return
        case (let low?, nil): rank.arrival = own.arrival > low ? own.arrival : newest
        case (nil, let high?) where high.value > 2 * Self.lead:
            // Two that are moved there one after the other, of which the first has started meanwhile, do not arrive as one.
            rank.arrival = DownloadID(value: high.value - Self.lead - id.value % (Self.lead / 2))
        case (let low?, let high?) where high.value - min(low.value, high.value) >= Self.smallestGap:
            let gap = high.value - low.value
            rank.arrival = DownloadID(value: low.value + gap / 4 + id.value % (gap / 2))
        default: makeRoom(among: others, newest)
        }
    }

    /// A place that is there already.
    init(position: Int, rank: QueueRank) {
        self.position = position
        self.rank = rank
    }

    /// Has those around the place arrive anew, as few as that takes.
    private mutating func makeRoom(among others: Others<some QueueOrder>, _ newest: DownloadID) {
        var reach = 4
        while true {
            var (first, end) = (position, position)
            while position - first < reach, others.rank(first - 1)?.priority == rank.priority { first -= 1 }
            while end - position < reach, others.rank(end)?.priority == rank.priority { end += 1 }
            let before = others.rank(first - 1).flatMap { $0.priority == rank.priority ? $0.arrival.value : nil }
            let after = others.rank(end).flatMap { $0.priority == rank.priority ? $0.arrival.value : nil }
            let (low, high) = (before ?? 0, after ?? newest.value)
            let step = (high - min(low, high)) / UInt128(end - first + 2)
            guard step >= Self.wideGap || (before == nil && after == nil) else {
                reach *= 2
                continue
            }
            var arrival = low
            for offset in first...end {
                arrival += step
                if offset == position { rank.arrival = DownloadID(value: arrival) }
                if offset == position { arrival += step }
                guard offset < end, let id = others.id(offset), let former = others.rank(offset) else { continue }
                self.others.append(Other(id: id, arrival: DownloadID(value: arrival), former: former))
            }
            return
        }
    }
}

/// A queue without one of its members.
private struct Others<Order: QueueOrder> {
    private let order: Order
    /// How many precede the one that is left out, or would.
    let offset: Int
    /// Whether it is among them at all.
    let isMember: Bool

    init(_ order: Order, without id: DownloadID, _ rank: QueueRank) {
        self.order = order
        var offset = order.count(below: rank)
        // Hardly ever, but then again, two have the same rank.
        while let member = order.member(at: offset), member.rank == rank, member.id != id { offset += 1 }
        self.offset = offset
        isMember = order.member(at: offset)?.id == id
    }

    var count: Int { order.count - (isMember ? 1 : 0) }

    func id(_ offset: Int) -> DownloadID? { member(offset)?.id }
    func rank(_ offset: Int) -> QueueRank? { member(offset)?.rank }

    private func member(_ offset: Int) -> (id: DownloadID, rank: QueueRank)? {
        guard offset >= 0, offset < count else { return nil }
        return order.member(at: isMember && offset >= self.offset ? offset + 1 : offset)
    }
}

extension Int {
    fileprivate func saturatingAdd(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}
