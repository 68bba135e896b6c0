/// The downloads of the queue in order, with the operations that placing a download requires.
package protocol QueueOrder {
    /// The number of downloads.
    var count: Int { get }
    /// Returns the download that `offset` others precede; `nil` if there is none.
    func member(at offset: Int) -> (id: RecordID, rank: QueueRank)?
    /// Returns the number of downloads with a lower rank.
    func count(below rank: QueueRank) -> Int
}

/// The position of a download in the queue, with the changes that place it there. Pure.
package struct QueuePlacement: Sendable, Equatable {
    /// The number of downloads that precede it.
    package var position: Int
    /// The rank that belongs to the position. Its priority is the nearest one that the neighbours allow, so that ranks
    /// alone decide the order.
    package var rank: QueueRank
    /// Members that get other arrivals, because there was no room between the arrivals of the neighbours.
    package var others: [Other] = []

    /// A member of the queue that gets another arrival, and keeps its position.
    package struct Other: Sendable, Equatable {
        package let id: RecordID
        package let arrival: RecordID
        /// The former rank.
        package let former: QueueRank

        package init(id: RecordID, arrival: RecordID, former: QueueRank) {
            self.id = id
            self.arrival = arrival
            self.former = former
        }
        /// The new rank.
        package var rank: QueueRank { QueueRank(priority: former.priority, arrival: arrival) }
    }

    /// The smallest gap between two arrivals in which a download is placed. Its arrival must differ from all others,
    /// and is chosen by its id.
    private static let smallestGap: UInt128 = 1 << 16
    /// The minimum gap between arrivals that are assigned anew.
    private static let wideGap: UInt128 = 1 << 24
    /// The distance of a download that is moved to the start from the first arrival: 16 ms of arrivals.
    private static let lead: UInt128 = 1 << 84

    /// Places a download.
    /// - Parameters:
    ///   - id: The download, which may be outside of the queue.
    ///   - own: The rank that it has, or would have.
    ///   - move: The requested move.
    ///   - order: The queue.
    ///   - newest: An id that belongs to no download, and is later than all arrivals.
    package init(of id: RecordID, _ own: QueueRank, _ move: QueueMove, in order: some QueueOrder, newest: RecordID) {
        let others = Others(order, without: id, own)
        let wanted =
            switch move {
            case .start(let distance): distance
            case .current(let distance): others.offset.saturatingAdd(distance)
            case .end(let distance): others.count.saturatingAdd(distance)
            }
        let position = min(max(wanted, 0), others.count)
        self.init(position: position, rank: own)
        if others.isMember, position == others.offset { return }
        let (before, after) = (others.rank(position - 1), others.rank(position))
        rank.priority = min(max(own.priority, after?.priority ?? .min), before?.priority ?? .max)
        let low = before?.priority == rank.priority ? before?.arrival : nil
        let high = after?.priority == rank.priority ? after?.arrival : nil
        switch (low, high) {
        // No other download has this priority.
        case (nil, nil): return
        case (let low?, nil): rank.arrival = own.arrival > low ? own.arrival : newest
        case (nil, let high?) where high.value > 2 * Self.lead:
            // The id is part of the arrival. Otherwise two downloads would get the same one if the first was moved to
            // the start and has started since.
            rank.arrival = RecordID(value: high.value - Self.lead - id.value % (Self.lead / 2))
        case (let low?, let high?) where high.value - min(low.value, high.value) >= Self.smallestGap:
            let gap = high.value - low.value
            rank.arrival = RecordID(value: low.value + gap / 4 + id.value % (gap / 2))
        default: makeRoom(among: others, newest)
        }
    }

    /// Creates a placement from an existing position and rank.
    package init(position: Int, rank: QueueRank) {
        self.position = position
        self.rank = rank
    }

    /// Gives other arrivals to the downloads around the position, as few as possible.
    private mutating func makeRoom(among others: Others<some QueueOrder>, _ newest: RecordID) {
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
                if offset == position { rank.arrival = RecordID(value: arrival) }
                if offset == position { arrival += step }
                guard offset < end, let id = others.id(offset), let former = others.rank(offset) else { continue }
                self.others.append(Other(id: id, arrival: RecordID(value: arrival), former: former))
            }
            return
        }
    }
}

/// A queue without one of its members.
private struct Others<Order: QueueOrder> {
    private let order: Order
    /// The number of members that precede the omitted download, or would precede it.
    let offset: Int
    /// Whether the omitted download is a member.
    let isMember: Bool

    init(_ order: Order, without id: RecordID, _ rank: QueueRank) {
        self.order = order
        var offset = order.count(below: rank)
        // In rare cases, two members have the same rank.
        while let member = order.member(at: offset), member.rank == rank, member.id != id { offset += 1 }
        self.offset = offset
        isMember = order.member(at: offset)?.id == id
    }

    package var count: Int { order.count - (isMember ? 1 : 0) }

    func id(_ offset: Int) -> RecordID? { member(offset)?.id }
    func rank(_ offset: Int) -> QueueRank? { member(offset)?.rank }

    private func member(_ offset: Int) -> (id: RecordID, rank: QueueRank)? {
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
