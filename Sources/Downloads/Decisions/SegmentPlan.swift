/// Divides a file among connections: which bytes each one fetches, and what happens when one is done, breaks or is refused.
///
/// It takes what happens and returns what to do; it knows no sockets, files or clocks. Every byte belongs to one
/// connection at most, or to a gap that waits for one. A connection takes a gap, or half of what is left to the one that has the most left,
/// so all end at about the same time, whatever their speeds.
struct SegmentPlan: Sendable {
    /// Numbers that bound how a file is divided.
    struct Limits: Sendable, Equatable {
        /// The most connections at once, 1 or more.
        var connections = 1
        /// Files below this length use one connection: another one would cost more than it brings.
        var smallestDivided: Int64 = 8 << 20
        /// Nobody is left with less than this by a division, for the same reason.
        var smallestSegment: Int64 = 1 << 20
        /// A connection that broke off is replaced without waiting if it had brought at least this; otherwise the origin is
        /// taken to want fewer.
        var worthwhile: Int64 = 64 << 10

        /// Whether a connection that has ended brought enough for the origin to be asked again at once. A body that was less than asked
        /// for has to bring more than one that broke: the origin means it so.
        func isWorthwhile(_ segment: Segment) -> Bool {
            segment.count >= (segment.isShort ? smallestSegment : worthwhile)
        }
    }

    /// A range that a connection has been given.
    struct Segment: Sendable, Equatable {
        /// Where its next byte goes.
        fileprivate(set) var position: Int64
        /// Where it ends, exclusively; nil: where its body does. Moves towards `position` when another connection takes over.
        fileprivate(set) var end: Int64?
        /// Where the bytes end that it was asked for, exclusively; nil: unknown. It can grow again as far as here.
        fileprivate(set) var reach: Int64?
        /// What it has brought.
        fileprivate(set) var count: Int64 = 0
        /// Whether its response has been accepted.
        fileprivate(set) var isReceiving = false
        /// Whether its body is less than was asked for.
        fileprivate(set) var isShort = false

        /// What is left to it; 0 while the end is unknown.
        var remainder: Int64 { end.map { max(0, $0 - position) } ?? 0 }
    }

    /// A connection to open.
    struct Opening: Sendable, Equatable {
        let connection: Int
        let range: Range<Int64>
    }

    /// Where bytes that came go.
    struct Placement: Sendable, Equatable {
        let offset: Int64
        /// How many of them; the rest belongs to others.
        let count: Int
        /// Whether the connection has nothing more to bring.
        let isLast: Bool
        /// Whether more came than was announced.
        let isOverlong: Bool
        /// Connections whose segments this one has taken over, since they had no response yet: they are to be closed.
        var superseded: [Int] = []
        /// Whether its body ends there, too.
        var endsBody = false
    }

    /// How a connection ended.
    enum Ending: Sendable, Equatable {
        /// As it should: the body ended, or was stopped at the end of the segment.
        case orderly
        /// It broke, or was refused.
        case broken
    }

    /// What the end of a connection comes to.
    enum Consequence: Sendable, Equatable {
        /// Others are still at work, or these now are.
        case goOn([Opening])
        /// Every byte is there.
        case complete
        /// Bytes are missing and nobody fetches them.
        case stuck
    }

    private(set) var limits: Limits
    /// Bytes that have been written.
    private(set) var written: Coverage
    private(set) var segments: [Int: Segment] = [:]
    /// What is missing and nobody fetches, in order.
    private(set) var gaps: [Range<Int64>] = []
    /// Whether more than one connection may be used.
    private(set) var isDivided = false
    /// The length of the file, once it is known.
    private(set) var total: Int64?
    private var nextConnection = 1
    private static let page: Int64 = 4096

    /// A plan for bytes of which some are there.
    init(written: Coverage = Coverage(), limits: Limits = Limits()) {
        self.written = written
        self.limits = limits
    }

    /// The connection whose response decides what the file is.
    static let first = 0

    /// Whether every byte of a file of known length has been written.
    var isWhole: Bool { total.map { written.prefix >= $0 } ?? false }
}

// MARK: - The first connection

extension SegmentPlan {
    /// The first response was accepted: its body starts at `offset`.
    /// - Parameters:
    ///   - offset: 0, or where a gap starts.
    ///   - end: where its last byte ends, exclusively; nil if unknown.
    ///   - total: the length of the file; nil if unknown.
    ///   - dividing: whether ranges of the file can be asked for.
    /// - Returns: connections to open besides.
    mutating func begin(at offset: Int64, end: Int64?, total: Int64?, dividing: Bool) -> [Opening] {
        self.total = total
        isDivided = dividing && total.map { $0 >= limits.smallestDivided } ?? false
        segments = [:]
        gaps = []
        var segment = Segment(position: offset, end: end, reach: end)
        segment.isReceiving = true
        segment.isShort = total.map { (end ?? $0) < $0 } ?? false
        if isDivided, let total {
            written = written.clipped(to: total)
            gaps = written.gaps(upTo: total)
            // The body runs on to the end; only the gap that it starts in is its own. Of what others bring of the rest nothing
            // is fetched again.
            if let own = gaps.firstIndex(where: { $0.contains(offset) }) {
                let gap = gaps.remove(at: own)
                segment.end = min(end ?? gap.upperBound, gap.upperBound)
                if let bound = segment.end, bound < gap.upperBound { gaps.insert(bound..<gap.upperBound, at: own) }
            }
        } else if let total {
            // What is there further on stays: the body passes over it, and is over with what is missing last.
            written = written.clipped(to: total)
            if let gap = written.gaps(upTo: total).last { segment.end = min(end ?? gap.upperBound, gap.upperBound) }
        } else {
            written = written.clipped(to: offset)
        }
        segments[Self.first] = segment
        return open()
    }
}

// MARK: - Bytes

extension SegmentPlan {
    /// The response for a segment was accepted; its body ends at `end`, which may be earlier than asked for.
    mutating func accepted(_ connection: Int, end: Int64) {
        guard var segment = segments[connection] else { return }
        segment.isReceiving = true
        segment.reach = end
        if let wanted = segment.end, wanted > end {
            segment.end = end
            segment.isShort = true
            addGap(end..<wanted)
        }
        segments[connection] = segment
    }

    /// Gives bytes that came on a connection their place; nil if the connection has none any more.
    mutating func place(_ connection: Int, _ count: Int) -> Placement? {
        guard segments[connection] != nil else { return nil }
        let superseded = extend(connection, by: Int64(count))
        guard var segment = segments[connection] else { return nil }
        let room = segment.end.map { $0 - segment.position } ?? .max
        let taken = Int(min(Int64(count), max(0, room)))
        var placement = Placement(
            offset: segment.position, count: taken, isLast: Int64(taken) == room,
            isOverlong: segment.reach.map { segment.position + Int64(count) > $0 } ?? false, superseded: superseded)
        segment.position += Int64(taken)
        segment.count += Int64(taken)
        placement.endsBody = segment.position == segment.reach
        segments[connection] = segment
        return placement
    }

    /// Lets a body that is about to reach the end of its segment go on over the next one, if that one's connection has no response yet:
    /// it may yet be refused, and then there would be no body left to go on with.
    private mutating func extend(_ connection: Int, by count: Int64) -> [Int] {
        var superseded: [Int] = []
        while let segment = segments[connection], let end = segment.end, let reach = segment.reach, end < reach,
            segment.position + count >= end
        {
            if absorbGap(connection) { continue }
            let next = segments.first { $0.key != connection && $0.value.position == end && !$0.value.isReceiving }
            guard let (other, neighbour) = next, let far = neighbour.end else { break }
            segments[other] = nil
            segments[connection]?.end = min(far, reach)
            if reach < far { addGap(reach..<far) }
            superseded.append(other)
        }
        return superseded
    }

    /// Bytes have been written where they were placed. Returns whether they count: those of a connection that was given up do not.
    mutating func wrote(_ connection: Int, _ range: Range<Int64>) -> Bool {
        guard segments[connection] != nil else { return false }
        written.insert(range)
        return true
    }
}

// MARK: - Ends

extension SegmentPlan {
    /// A connection has ended.
    mutating func ended(_ connection: Int, _ ending: Ending) -> Consequence {
        guard let segment = segments.removeValue(forKey: connection) else { return consequence([]) }
        if segment.end == nil { return ending == .orderly ? .complete : .stuck }
        if segment.remainder > 0, let end = segment.end { addGap(segment.position..<end) }
        if ending == .broken, !limits.isWorthwhile(segment) { limits.connections = max(1, segments.count) }
        // The last one to break leaves it to the retry policy when to ask again.
        if ending == .broken, segments.isEmpty { return consequence([]) }
        let openings = open()
        return consequence(openings)
    }

    /// The response for a segment is the same file, whole: the origin sends no ranges now. Where other connections receive, they go on
    /// without this one. Where none does, its body brings everything that is missing; what is there stays, and comes again.
    /// - Returns: connections that were not responded to yet, and are to be closed; nil if the body is not taken.
    mutating func takeWhole(_ connection: Int) -> [Int]? {
        let others = segments.filter { $0.key != connection }
        guard let total, let last = written.gaps(upTo: total).last, !others.values.contains(where: { $0.isReceiving }) else {
            return nil
        }
        var segment = Segment(position: 0, end: last.upperBound, reach: total)
        segment.isReceiving = true
        segments = [connection: segment]
        gaps = []
        isDivided = false
        limits.connections = 1
        return Array(others.keys)
    }

    /// Whoever brought the bytes so far has failed: what is missing is to be asked of others, in ranges.
    /// - Returns: connections to open.
    mutating func goOnInRanges(total: Int64) -> [Opening] {
        self.total = total
        isDivided = true
        segments = [:]
        written = written.clipped(to: total)
        gaps = written.gaps(upTo: total)
        return open()
    }

    private func consequence(_ openings: [Opening]) -> Consequence {
        if !segments.isEmpty { return .goOn(openings) }
        return gaps.isEmpty ? .complete : .stuck
    }
}

// MARK: - Dividing

extension SegmentPlan {
    /// Gives work to as many connections as there may be.
    private mutating func open() -> [Opening] {
        guard isDivided else { return [] }
        var opened: [Int] = []
        while segments.count < limits.connections, let range = takeGap() ?? takeHalf() {
            segments[nextConnection] = Segment(position: range.lowerBound, end: range.upperBound, reach: range.upperBound)
            opened.append(nextConnection)
            nextConnection += 1
        }
        absorbGaps()
        // Those opened first may have had to share with the later ones.
        return opened.compactMap { connection in
            guard let segment = segments[connection], let end = segment.end else { return nil }
            segments[connection]?.reach = end
            return Opening(connection: connection, range: segment.position..<end)
        }
    }

    private mutating func takeGap() -> Range<Int64>? {
        gaps.isEmpty ? nil : gaps.removeFirst()
    }

    /// Takes half of what is left to the connection that has the most left.
    private mutating func takeHalf() -> Range<Int64>? {
        // The order of a dictionary is not the same twice: among equals the oldest gives.
        let richest = segments.max { left, right in
            (left.value.remainder, right.key) < (right.value.remainder, left.key)
        }
        guard let (connection, segment) = richest, let end = segment.end, segment.remainder >= 2 * limits.smallestSegment
        else { return nil }
        // No two connections write to one page of the file.
        let middle = (end - segment.remainder / 2 + Self.page - 1) / Self.page * Self.page
        segments[connection]?.end = middle
        return middle..<end
    }

    private mutating func addGap(_ gap: Range<Int64>) {
        guard !gap.isEmpty else { return }
        gaps.append(gap)
        gaps.sort { $0.lowerBound < $1.lowerBound }
    }

    /// Lets bodies that run on beyond their segment bring the gap behind it, so that nobody has to ask again.
    private mutating func absorbGaps() {
        for connection in segments.keys { while absorbGap(connection) {} }
    }

    /// Returns whether there was one.
    private mutating func absorbGap(_ connection: Int) -> Bool {
        guard let segment = segments[connection], segment.isReceiving, let reach = segment.reach, let end = segment.end,
            segment.position < end, end < reach, let index = gaps.firstIndex(where: { $0.lowerBound == end })
        else { return false }
        let gap = gaps.remove(at: index)
        let far = min(gap.upperBound, reach)
        segments[connection]?.end = far
        if far < gap.upperBound { gaps.insert(far..<gap.upperBound, at: index) }
        return true
    }
}
