package import DownloadCore

/// Divides a file among connections, and decides what follows when a connection is done, breaks off or is refused.
///
/// The plan takes events and returns what to do; it uses no sockets, files or clocks. Every byte belongs to at most one
/// connection, or to a gap that waits for a connection. A connection takes a gap, or half of another connection's
/// remainder, if that is the largest. All connections therefore end at about the same time, at any speeds.
///
/// Where a connection meets bytes of another request, its body overlaps them, and the overlap is compared: it shows
/// whether both belong to one version of the file. A range begins before its gap if there are bytes, and a body runs
/// into the bytes behind its segment. Where no body has shown that, the bytes meet at a seam. A request for nothing but
/// the bytes beside a seam proves it. An attempt that ends before leaves out a byte there, so that the next one has to.
package struct SegmentPlan: Sendable {
    /// Limits to the division of a file.
    package struct Limits: Sendable, Equatable {
        /// The maximum number of connections at once, 1 or more.
        package var connections = 1
        /// The length in bytes from which a file is divided. For less, another connection would
        /// cost more than it gains.
        var smallestDivided: Int64 = 8 << 20
        /// The minimum number of bytes that a division leaves to a connection, for the same reason.
        var smallestSegment: Int64 = 1 << 20
        /// The number of bytes from which a connection that broke off is replaced without waiting. If it brought less,
        /// the origin is assumed to want fewer connections.
        package var worthwhile: Int64 = 64 << 10

        package init(
            connections: Int = 1, smallestDivided: Int64 = 8 << 20, smallestSegment: Int64 = 1 << 20, worthwhile: Int64 = 64 << 10
        ) {
            self.connections = connections
            self.smallestDivided = smallestDivided
            self.smallestSegment = smallestSegment
            self.worthwhile = worthwhile
        }

        /// Whether an ended connection brought enough for another request to follow at once.
        ///
        /// A body that is shorter than requested has to bring more than one that broke off, since the
        /// origin intends its length.
        package func isWorthwhile(_ segment: Segment) -> Bool {
            segment.count >= (segment.isShort ? smallestSegment : worthwhile)
        }
    }

    /// The byte range of one connection.
    package struct Segment: Sendable, Equatable {
        /// The offset of the body's first byte in the file.
        fileprivate let begin: Int64
        /// Whether the connection only compares the bytes beside a seam, which is its start and its end.
        package let isProof: Bool
        /// The offset of its next byte in the file.
        package fileprivate(set) var position: Int64
        /// The offset of the segment's first byte. The body may begin before it.
        package fileprivate(set) var start: Int64
        /// The offset behind its last byte; `nil` for the end of the body. It moves towards `position` when another
        /// connection takes over bytes.
        package fileprivate(set) var end: Int64?
        /// The offset behind the last byte that was requested, or that the response announced; `nil` if it is unknown.
        /// `end` can grow again up to here.
        package fileprivate(set) var reach: Int64?
        /// The number of bytes that the connection has brought.
        package fileprivate(set) var count: Int64 = 0
        /// Whether its response has been accepted.
        fileprivate(set) var isReceiving = false
        /// Whether its body is shorter than requested.
        package fileprivate(set) var isShort = false

        fileprivate init(position: Int64, start: Int64, end: Int64?, reach: Int64?, isProof: Bool = false) {
            (begin, self.isProof) = (position, isProof)
            (self.position, self.start, self.end, self.reach) = (position, start, end, reach)
        }

        /// Whether the body is shorter than requested, and ends before it brings a new byte. It has been compared.
        package var endsInOverlap: Bool { isShort && end.map { $0 <= start && position >= $0 } ?? false }

        /// Whether the body overlaps the bytes on the other side of a seam, as far as it has come.
        fileprivate func hasPassed(_ seam: Int64, of total: Int64?) -> Bool {
            guard begin < seam else { return false }
            if seam == start, !isProof { return position >= seam }
            return position >= min(seam + SegmentPlan.overlap, total ?? .max)
        }

        /// The number of bytes left to fetch; 0 while the end is unknown.
        var remainder: Int64 { end.map { max(0, $0 - max(position, start)) } ?? 0 }
    }

    /// Bytes beside a segment that their own connection had not brought yet.
    package struct Late: Sendable, Equatable {
        fileprivate let seam: Int64
        package let offset: Int64
        package let bytes: [UInt8]
    }

    /// A connection to open.
    package struct Opening: Sendable, Equatable {
        package let connection: Int
        package let range: Range<Int64>
    }

    /// The position of received bytes in the file.
    package struct Placement: Sendable, Equatable {
        package let offset: Int64
        /// The number of bytes to take. The rest belongs to other connections.
        package let count: Int
        /// The range of the bytes that belong to the connection's segment. The others are only compared.
        package let own: Range<Int64>
        /// Whether the connection has nothing more to bring.
        package let isLast: Bool
        /// Whether more bytes came than the response announced.
        package let isOverlong: Bool
        /// Connections to close. They had no response yet, and this connection has taken over their segments.
        package var superseded: [Int] = []
        /// Whether the body ends behind these bytes too.
        package var endsBody = false
    }

    /// The end of a connection.
    package enum Ending: Sendable, Equatable {
        /// The body ended, or was stopped at the end of the segment.
        case orderly
        /// The connection broke off, or was refused.
        case broken
    }

    /// The consequence of a connection's end.
    package enum Consequence: Sendable, Equatable {
        /// Other connections continue, and these are to be opened.
        case goOn([Opening])
        /// Every byte is present.
        case complete
        /// Bytes are missing, and no connection fetches them.
        case stuck
    }

    package private(set) var limits: Limits
    /// Bytes that have been written.
    package private(set) var written: Coverage
    package private(set) var segments: [Int: Segment] = [:]
    /// The missing ranges that no connection fetches, in order.
    package private(set) var gaps: [Range<Int64>] = []
    /// Whether more than one connection may be used.
    private(set) var isDivided = false
    /// The length of the file; `nil` while it is unknown.
    package private(set) var total: Int64?
    /// The places at which bytes of two bodies meet, or will meet, without the proof that both are of one version.
    package private(set) var seams: Set<Int64> = []
    /// The seams that are proven once the late bytes beside them have been compared.
    private var passedSeams: Set<Int64> = []
    private var late: [Late] = []
    /// The offsets from which the proofs of seams go on.
    private var proofs: [Int64: Int64] = [:]
    /// The seams that no further request of this attempt is to prove.
    private var unprovable: Set<Int64> = []
    /// The begins of gaps with an overlap that has been compared, by bodies that brought nothing else.
    private var checked: Set<Int64> = []
    private var nextConnection = 1
    private static let page: Int64 = 4096
    fileprivate static let overlap = ResumeDecision.overlap
    /// The number of bytes that a request for a proof has to bring, if it is not to be the last one.
    private static let worthwhileProof: Int64 = 1_000

    /// Creates a plan for a file. Some of its bytes may be present.
    package init(written: Coverage = Coverage(), limits: Limits = Limits()) {
        self.written = written
        self.limits = limits
    }

    /// The number of the connection whose response describes the file.
    package static let first = 0

    /// Whether every byte of a file of known length has been written, and all are of one version.
    package var isWhole: Bool { total.map { proven.prefix >= $0 } ?? false }

    /// The written bytes, without one byte at each unproven seam. The request for this byte will overlap both sides.
    package var proven: Coverage { written.opened(at: seams) }
}

// MARK: - The first connection

extension SegmentPlan {
    /// Begins with the accepted first response, whose body starts at `offset`.
    /// - Parameters:
    ///   - offset: 0, or the start of a gap.
    ///   - end: The offset behind the body's last byte; `nil` if it is unknown.
    ///   - total: The length of the file; `nil` if it is unknown.
    ///   - dividing: Whether ranges of the file can be requested.
    /// - Returns: Further connections to open.
    package mutating func begin(at offset: Int64, end: Int64?, total: Int64?, dividing: Bool) -> [Opening] {
        self.total = total
        isDivided = dividing && total.map { $0 >= limits.smallestDivided } ?? false
        segments = [:]
        gaps = []
        var segment = Segment(position: offset, start: max(offset, written.prefix), end: end, reach: end)
        segment.isReceiving = true
        segment.isShort = total.map { (end ?? $0) < $0 } ?? false
        if isDivided, let total {
            written = written.clipped(to: total)
            gaps = written.gaps(upTo: total)
            // The body extends to the file's end, but only the gap that it starts in belongs to it. Bytes that other
            // connections bring are not fetched twice.
            if let own = gaps.firstIndex(where: { $0.upperBound > offset }) {
                let gap = gaps.remove(at: own)
                addSeams(of: gap)
                segment.end = min(end ?? gap.upperBound, gap.upperBound)
                if let bound = segment.end, bound < gap.upperBound { addGap(bound..<gap.upperBound) }
            }
        } else if let total {
            // Later bytes that are present stay. The body passes over them, and ends with the last gap.
            written = written.clipped(to: total)
            let gaps = written.gaps(upTo: total)
            gaps.forEach { addSeams(of: $0) }
            if let gap = gaps.last { segment.end = min(end ?? gap.upperBound, gap.upperBound) }
        } else {
            written = written.clipped(to: max(offset, written.prefix))
            addSeams(of: segment.start..<Int64.max)
        }
        // If every byte is present, the body only has to prove that.
        if let total, written.prefix >= total { segment.end = min(end ?? total, offset + Self.overlap) }
        // Another body has just overlapped the bytes before.
        if offset == segment.start { seams.remove(offset) }
        segments[Self.first] = segment
        return open()
    }
}

// MARK: - Bytes

extension SegmentPlan {
    /// Accepts the response for a segment. Its body ends at `end`, which may be earlier than requested.
    package mutating func accepted(_ connection: Int, end: Int64) {
        guard var segment = segments[connection] else { return }
        segment.isReceiving = true
        segment.reach = end
        if !segment.isProof, let wanted = segment.end, wanted > end {
            segment.end = end
            segment.isShort = true
            addGap(end..<wanted)
        }
        segments[connection] = segment
    }

    /// The end of the bytes that a segment's connection brings: behind its own bytes, it runs into the next segment's.
    private func stop(of segment: Segment) -> Int64? {
        segment.end.map { end in min(end + Self.overlap, max(end, segment.reach ?? end), max(end, total ?? end)) }
    }

    /// Returns the position of bytes received on a connection; `nil` if the connection no longer has a segment.
    package mutating func place(_ connection: Int, _ count: Int) -> Placement? {
        guard segments[connection] != nil else { return nil }
        let superseded = extend(connection, by: Int64(count))
        guard var segment = segments[connection] else { return nil }
        let room = stop(of: segment).map { $0 - segment.position } ?? .max
        let taken = Int(min(Int64(count), max(0, room)))
        let bytes = segment.position..<segment.position + Int64(taken)
        let own = (segment.start..<max(segment.start, segment.end ?? .max)).clamped(to: bytes)
        var placement = Placement(
            offset: segment.position, count: taken, own: own, isLast: Int64(taken) == room,
            isOverlong: segment.reach.map { segment.position + Int64(count) > $0 } ?? false, superseded: superseded)
        segment.position = bytes.upperBound
        segment.count += Int64(taken)
        placement.endsBody = segment.position == segment.reach
        segments[connection] = segment
        return placement
    }

    /// Extends a body that is about to reach its segment's end over the next segment, if that has no response yet.
    ///
    /// The other connection may still be refused, and by then this body could no longer continue.
    private mutating func extend(_ connection: Int, by count: Int64) -> [Int] {
        var superseded: [Int] = []
        while let segment = segments[connection], let end = segment.end, let reach = segment.reach, end < reach,
            segment.position <= end, segment.position + count >= end
        {
            if absorbGap(connection) { continue }
            let next = segments.first { $0.key != connection && $0.value.position == end && !$0.value.isReceiving }
            guard let (other, neighbour) = next, let far = neighbour.end, Self.reaches(far, from: segment) else { break }
            segments[other] = nil
            moveEnd(of: connection, to: min(far, reach))
            if reach < far { addGap(reach..<far) }
            superseded.append(other)
        }
        return superseded
    }

    /// Whether a segment's body brings enough of the bytes up to `far`. The overlap alone is not enough.
    private static func reaches(_ far: Int64, from segment: Segment) -> Bool {
        guard let end = segment.end, let reach = segment.reach else { return false }
        return reach >= far || reach - end > overlap
    }

    /// Adds written bytes to the coverage, after the placed ones beside them have been compared or kept.
    /// - Returns: Whether they count. Bytes of an abandoned connection do not.
    package mutating func wrote(_ connection: Int, _ range: Range<Int64>) -> Bool {
        guard let segment = segments[connection] else { return false }
        written.insert(range)
        for seam in seams where segment.hasPassed(seam, of: total) { prove(seam) }
        return true
    }

    /// Keeps bytes that a connection has brought of another one's segment, until they can be compared.
    package mutating func keep(_ bytes: [UInt8], at offset: Int64, of connection: Int) {
        guard let segment = segments[connection] else { return }
        let seam = if let end = segment.end, offset >= end { end } else { segment.start }
        late.append(Late(seam: seam, offset: offset, bytes: bytes))
    }

    /// Removes and returns the late bytes that can be compared, since their own connections have brought them.
    package mutating func takeComparable() -> [Late] {
        guard !late.isEmpty else { return [] }
        let comparable = late.filter { written.gaps(in: $0.offset..<$0.offset + Int64($0.bytes.count)).isEmpty }
        late.removeAll { comparable.contains($0) }
        for seam in Set(comparable.map(\.seam)).intersection(passedSeams) { prove(seam) }
        return comparable
    }

    private mutating func prove(_ seam: Int64) {
        if late.contains(where: { $0.seam == seam }) {
            passedSeams.insert(seam)
        } else {
            seams.remove(seam)
        }
    }

    /// Notes that bytes of two bodies will meet at the ends of a gap.
    private mutating func addSeams(of gap: Range<Int64>) {
        for seam in [gap.lowerBound, gap.upperBound] where seam > 0 && seam < total ?? .max { seams.insert(seam) }
    }

    /// Lets a connection's body go on over the end of its segment.
    private mutating func moveEnd(of connection: Int, to far: Int64) {
        guard let end = segments[connection]?.end else { return }
        // The bytes at the end may be present, as the overlap of the connection behind it.
        if written.present(in: end..<end + 1).isEmpty { seams.remove(end) }
        segments[connection]?.end = far
        addSeams(of: far..<Int64.max)
    }
}

// MARK: - Ends

extension SegmentPlan {
    /// Ends a connection, and decides what follows.
    package mutating func ended(_ connection: Int, _ ending: Ending) -> Consequence {
        guard let segment = segments.removeValue(forKey: connection) else { return consequence([]) }
        if segment.end == nil { return ending == .orderly ? .complete : .stuck }
        if segment.endsInOverlap { checked.insert(segment.start) }
        if segment.isProof { endProof(segment, ending) }
        if segment.remainder > 0, let end = segment.end { addGap(segment.position..<end) }
        if ending == .broken, !limits.isWorthwhile(segment) { limits.connections = max(1, segments.count) }
        // If the last connection broke off, the retry policy decides when to ask again.
        if ending == .broken, segments.isEmpty { return consequence([]) }
        let openings = open()
        return consequence(openings)
    }

    /// Handles a response with the whole file to a request for a segment: the origin sends no ranges now.
    ///
    /// If other connections receive bytes, they continue without this one. Otherwise its body brings everything that is
    /// missing. Present bytes stay, although they are sent again.
    /// - Returns: Connections to close, which had no response yet; `nil` if the body is not accepted.
    package mutating func takeWhole(_ connection: Int) -> [Int]? {
        let others = segments.filter { $0.key != connection }
        guard let total, let last = written.gaps(upTo: total).last, !others.values.contains(where: { $0.isReceiving }) else {
            return nil
        }
        var segment = Segment(position: 0, start: written.prefix, end: last.upperBound, reach: total)
        segment.isReceiving = true
        segments = [connection: segment]
        gaps = []
        written.gaps(upTo: total).forEach { addSeams(of: $0) }
        isDivided = false
        limits.connections = 1
        return Array(others.keys)
    }

    /// Requests everything that is missing from other sources, in ranges, after the present source has failed.
    /// - Returns: Connections to open.
    package mutating func goOnInRanges(total: Int64) -> [Opening] {
        self.total = total
        isDivided = true
        segments = [:]
        written = written.clipped(to: total)
        gaps = written.gaps(upTo: total)
        return open()
    }

    private func consequence(_ openings: [Opening]) -> Consequence {
        if !segments.isEmpty { return .goOn(openings) }
        return gaps.isEmpty && (total == nil || isWhole) ? .complete : .stuck
    }
}

// MARK: - Dividing

extension SegmentPlan {
    /// Assigns ranges to as many connections as the limit allows.
    private mutating func open() -> [Opening] {
        guard isDivided else { return [] }
        addProofs()
        var opened: [Int] = []
        while segments.count < limits.connections, let (range, overlap) = takeGap() ?? takeHalf() {
            segments[nextConnection] = Segment(
                position: range.lowerBound - overlap, start: range.lowerBound, end: range.upperBound, reach: range.upperBound,
                isProof: range.isEmpty)
            opened.append(nextConnection)
            nextConnection += 1
        }
        absorbGaps()
        // Later connections may have taken bytes of the earlier ones.
        return opened.compactMap { connection in
            guard let segment = segments[connection], let end = segment.end else { return nil }
            let reach = min(end + Self.overlap, max(end, total ?? end))
            segments[connection]?.reach = reach
            return Opening(connection: connection, range: segment.position..<reach)
        }
    }

    /// Takes the first gap. The connection before it has ended, or ends with its body, so the new one begins before the gap.
    private mutating func takeGap() -> (range: Range<Int64>, overlap: Int64)? {
        guard !gaps.isEmpty else { return nil }
        let gap = gaps.removeFirst()
        if gap.isEmpty { return (gap, gap.lowerBound - (proofs[gap.lowerBound] ?? max(0, gap.lowerBound - Self.overlap))) }
        addSeams(of: gap)
        if checked.remove(gap.lowerBound) != nil {
            seams.remove(gap.lowerBound)
            return (gap, 0)
        }
        return (gap, min(Self.overlap, gap.lowerBound))
    }

    /// Adds empty gaps for the seams that no body in transfer will prove.
    private mutating func addProofs() {
        for seam in seams.subtracting(unprovable).subtracting(passedSeams) where written.gaps(in: seam - 1..<seam + 1).isEmpty {
            let isUnderWay = segments.values.contains { segment in
                let stop = stop(of: segment) ?? .max
                return segment.begin < seam && (segment.start == seam || stop >= min(seam + Self.overlap, total ?? .max))
            }
            if !isUnderWay, !gaps.contains(seam..<seam) { gaps.append(seam..<seam) }
        }
    }

    private mutating func endProof(_ segment: Segment, _ ending: Ending) {
        let seam = segment.start
        if segment.position >= min(seam + Self.overlap, total ?? .max) {
            prove(seam)
        } else if ending == .orderly, segment.position == segment.reach, segment.position - segment.begin >= Self.worthwhileProof
        {
            // The origin sends less than it is asked for.
            proofs[seam] = segment.position
        } else {
            unprovable.insert(seam)
        }
    }

    /// Takes half of the largest remainder of a connection, whose body runs into the other half.
    private mutating func takeHalf() -> (range: Range<Int64>, overlap: Int64)? {
        // The order of a dictionary varies. Of equal remainders, the oldest connection's is divided.
        let richest = segments.max { left, right in
            (left.value.remainder, right.key) < (right.value.remainder, left.key)
        }
        guard let (connection, segment) = richest, let end = segment.end, segment.remainder >= 2 * limits.smallestSegment
        else { return nil }
        // No two connections write to the same page of the file.
        let middle = (end - segment.remainder / 2 + Self.page - 1) / Self.page * Self.page
        segments[connection]?.end = middle
        seams.insert(middle)
        return (middle..<end, 0)
    }

    /// Adds the missing bytes of a range to the gaps.
    private mutating func addGap(_ range: Range<Int64>) {
        gaps += written.gaps(in: range)
        gaps.sort { $0.lowerBound < $1.lowerBound }
    }

    /// Extends segments over the gaps behind them, as far as their bodies reach. This saves requests.
    private mutating func absorbGaps() {
        for connection in segments.keys { while absorbGap(connection) {} }
    }

    /// Extends a connection's segment over the gap behind it.
    /// - Returns: Whether there was such a gap.
    private mutating func absorbGap(_ connection: Int) -> Bool {
        guard let segment = segments[connection], segment.isReceiving, let reach = segment.reach, let end = segment.end,
            segment.position <= end, end < reach, let index = gaps.firstIndex(where: { $0.lowerBound == end && !$0.isEmpty }),
            Self.reaches(gaps[index].upperBound, from: segment)
        else { return false }
        let gap = gaps.remove(at: index)
        let far = min(gap.upperBound, reach)
        moveEnd(of: connection, to: far)
        if far < gap.upperBound { gaps.insert(far..<gap.upperBound, at: index) }
        return true
    }
}
