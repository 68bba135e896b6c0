import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadTransfer
@testable import Downloads

struct SegmentPlanTests {
    static let mib: Int64 = 1 << 20
    static let overlap = ResumeDecision.overlap

    /// A plan whose first response is the whole file.
    static func plan(_ total: Int64, connections: Int, dividing: Bool = true) -> (SegmentPlan, [SegmentPlan.Opening]) {
        var plan = SegmentPlan(limits: SegmentPlan.Limits(connections: connections))
        let openings = plan.begin(at: 0, end: total, total: total, dividing: dividing)
        return (plan, openings)
    }

    @Test("Divides a large file evenly")
    func evenly() {
        let (plan, openings) = Self.plan(64 * Self.mib, connections: 4)
        #expect(plan.segments[0]?.end == 16 * Self.mib)
        #expect(
            Set(openings.map(\.range)) == [
                16 * Self.mib..<32 * Self.mib + Self.overlap, 32 * Self.mib..<48 * Self.mib + Self.overlap,
                48 * Self.mib..<64 * Self.mib,
            ])
    }

    @Test(
        "One connection fetches an indivisible file",
        arguments: [
            (8 << 20 - 1, 4, true), (64 << 20, 1, true), (64 << 20, 4, false),
        ] as [(Int64, Int, Bool)])
    func undivided(total: Int64, connections: Int, dividing: Bool) {
        let (plan, openings) = Self.plan(total, connections: connections, dividing: dividing)
        #expect(openings == [])
        #expect(plan.segments[0]?.end == total)
    }

    @Test("A file of unknown length ends with its body")
    func unknownLength() {
        var plan = SegmentPlan(limits: SegmentPlan.Limits(connections: 4))
        #expect(plan.begin(at: 0, end: nil, total: nil, dividing: true) == [])
        let placement = plan.place(0, 1000)
        #expect(placement == SegmentPlan.Placement(offset: 0, count: 1000, own: 0..<1000, isLast: false, isOverlong: false))
        let counts = plan.wrote(0, 0..<1000)
        #expect(counts)
        #expect(plan.ended(0, .orderly) == .complete)
        #expect(plan.written.prefix == 1000)
    }

    /// Present ranges in MiB of a file of 64 MiB, and the resulting requests.
    @Test(
        "After a failure of the first source, the gaps are requested from others",
        arguments: [
            ([], 1, [0..<64]), ([], 2, [0..<32, 32..<64]), ([0..<4], 1, [4..<64]), ([0..<4], 2, [4..<34, 34..<64]),
            ([0..<4, 16..<32], 4, [4..<16, 32..<40, 40..<48, 48..<64]), ([0..<60, 61..<64], 4, [60..<61]), ([0..<64], 4, []),
        ] as [([Range<Int64>], Int, [Range<Int64>])])
    func handedOver(there: [Range<Int64>], connections: Int, asked: [Range<Int64>]) {
        var written = Coverage()
        for range in there { written.insert(range.lowerBound * Self.mib..<range.upperBound * Self.mib) }
        var plan = SegmentPlan(written: written, limits: SegmentPlan.Limits(connections: connections))
        let openings = plan.goOnInRanges(total: 64 * Self.mib)
        let ranges = openings.map(\.range).sorted { $0.lowerBound < $1.lowerBound }
        // Each overlaps the bytes before a gap, and those behind its range.
        let gaps = Set(written.gaps(upTo: 64 * Self.mib).map(\.lowerBound))
        #expect(
            ranges
                == asked.map { range in
                    let (start, end) = (range.lowerBound * Self.mib, range.upperBound * Self.mib)
                    return max(0, start - (gaps.contains(start) ? Self.overlap : 0))..<min(end + Self.overlap, 64 * Self.mib)
                })
        #expect(plan.written == written)
        #expect(plan.segments[SegmentPlan.first] == nil)
        #expect(plan.isWhole == asked.isEmpty)
    }

    @Test("The only connection that ends without bytes leaves its segment to another")
    func onlyOne() {
        var plan = SegmentPlan(limits: SegmentPlan.Limits(connections: 1))
        let first = plan.goOnInRanges(total: 1_000)
        #expect(first == [SegmentPlan.Opening(connection: 1, range: 0..<1_000)])
        #expect(plan.ended(1, .orderly) == .goOn([SegmentPlan.Opening(connection: 2, range: 0..<1_000)]))
        #expect(plan.ended(2, .broken) == .stuck)
    }

    @Test("Does not fetch present bytes again")
    func resumed() {
        var written = Coverage(prefix: 4 * Self.mib)
        written.insert(16 * Self.mib..<20 * Self.mib)
        written.insert(32 * Self.mib..<64 * Self.mib)
        var plan = SegmentPlan(written: written, limits: SegmentPlan.Limits(connections: 2))
        let openings = plan.begin(at: 4 * Self.mib, end: 64 * Self.mib, total: 64 * Self.mib, dividing: true)
        #expect(plan.segments[0]?.position == 4 * Self.mib)
        #expect(plan.segments[0]?.end == 16 * Self.mib)
        #expect(openings.map(\.range) == [20 * Self.mib - Self.overlap..<32 * Self.mib + Self.overlap])
    }

    @Test("A finished connection takes half of the slowest one's remaining bytes")
    func steals() {
        var (plan, openings) = Self.plan(32 * Self.mib, connections: 2)
        #expect(openings.map(\.range) == [16 * Self.mib..<32 * Self.mib])
        plan.accepted(openings[0].connection, end: 32 * Self.mib)
        _ = plan.place(0, 4 << 20)
        _ = plan.wrote(0, 0..<4 * Self.mib)
        _ = plan.place(openings[0].connection, 16 << 20)
        _ = plan.wrote(openings[0].connection, 16 * Self.mib..<32 * Self.mib)
        let consequence = plan.ended(openings[0].connection, .orderly)
        #expect(consequence == .goOn([SegmentPlan.Opening(connection: 2, range: 10 * Self.mib..<16 * Self.mib + Self.overlap)]))
        #expect(plan.segments[0]?.end == 10 * Self.mib)
    }

    @Test("Refused connections return their ranges to the continuing body")
    func refused() {
        var (plan, openings) = Self.plan(64 * Self.mib, connections: 4)
        for opening in openings { #expect(plan.ended(opening.connection, .broken) == .goOn([])) }
        #expect(plan.segments[0]?.end == 64 * Self.mib)
        #expect(plan.gaps == [])
        #expect(plan.limits.connections == 1)
        openings = []
    }

    @Test("A continuing body takes over from a connection without a response")
    func takesOver() {
        let (initial, openings) = Self.plan(32 * Self.mib, connections: 2)
        var plan = initial
        let placement = plan.place(0, 17 << 20)
        #expect(placement?.count == 17 << 20)
        #expect(placement?.superseded == [openings[0].connection])
        #expect(plan.segments[0]?.end == 32 * Self.mib)
        let late = plan.place(openings[0].connection, 10)
        #expect(late == nil)
        #expect(plan.ended(openings[0].connection, .orderly) == .goOn([]))
    }

    @Test("Replaces a connection that broke off after some bytes, but not the last one")
    func broken() {
        let (initial, openings) = Self.plan(32 * Self.mib, connections: 2)
        var plan = initial
        let other = openings[0].connection
        plan.accepted(other, end: 32 * Self.mib)
        _ = plan.place(other, 1 << 20)
        _ = plan.wrote(other, 16 * Self.mib..<17 * Self.mib)
        #expect(
            plan.ended(other, .broken)
                == .goOn([SegmentPlan.Opening(connection: 2, range: 17 * Self.mib - Self.overlap..<32 * Self.mib)]))
        #expect(plan.ended(2, .broken) == .goOn([]))
        #expect(plan.ended(0, .broken) == .stuck)
    }

    /// 64 MiB over four connections. The first has ended after 8 MiB.
    static func withoutFirst() -> (SegmentPlan, [SegmentPlan.Opening]) {
        var (plan, openings) = plan(64 * mib, connections: 4)
        _ = plan.place(0, 8 << 20)
        _ = plan.wrote(0, 0..<8 * mib)
        _ = plan.ended(0, .broken)
        return (plan, openings)
    }

    @Test("Refuses a whole file in place of a segment while another connection receives it")
    func wholeBesides() {
        var (plan, openings) = Self.plan(64 * Self.mib, connections: 4)
        #expect(plan.takeWhole(openings[0].connection) == nil)
        #expect(plan.ended(openings[0].connection, .broken) == .goOn([]))
        #expect(plan.limits.connections == 3)
        (plan, openings) = Self.withoutFirst()
        plan.accepted(openings[1].connection, end: openings[1].range.upperBound)
        #expect(plan.takeWhole(openings[0].connection) == nil)
    }

    @Test("A whole file without another receiver fills the gaps, and present bytes stay")
    func wholeAlone() throws {
        var (plan, openings) = Self.withoutFirst()
        let last = try #require(openings.last)
        plan.accepted(last.connection, end: last.range.upperBound)
        _ = plan.place(last.connection, 16 << 20)
        _ = plan.wrote(last.connection, last.range)
        _ = plan.ended(last.connection, .orderly)
        let asked = Set(plan.segments.keys)
        let connection = try #require(asked.min())
        #expect(plan.takeWhole(connection).map(Set.init) == asked.subtracting([connection]))
        #expect(plan.written.byteCount == 24 * Self.mib)
        let count = (48 << 20) + Int(Self.overlap)
        let placement = plan.place(connection, 50 << 20)
        #expect(
            placement
                == SegmentPlan.Placement(
                    offset: 0, count: count, own: 8 * Self.mib..<48 * Self.mib, isLast: true, isOverlong: false))
        _ = plan.wrote(connection, 0..<48 * Self.mib)
        #expect(plan.isWhole)
        #expect(plan.ended(connection, .orderly) == .complete)
    }

    @Test("A body from the start skips present bytes, and ends with the last gap")
    func fromTheStart() {
        var written = Coverage(prefix: 1000)
        written.insert(3000..<4000)
        for (end, stop) in [(4000, 3000), (2000, 2000)] as [(Int64, Int64)] {
            var plan = SegmentPlan(written: written)
            #expect(plan.begin(at: 0, end: end, total: 4000, dividing: false) == [])
            #expect(plan.written == written)
            #expect(plan.place(0, 2000)?.isLast == (stop == 2000))
            #expect(plan.segments[0]?.isShort == (end < 4000))
        }
    }

    @Test(
        "Requests missing bytes of a short response again at once only if it had many",
        arguments: [(10, 1), (64 << 10, 1), (1 << 20, 2)] as [(Int64, Int)])
    func short(count: Int64, connections: Int) {
        let (initial, openings) = Self.plan(32 * Self.mib, connections: 2)
        var plan = initial
        let other = openings[0]
        plan.accepted(other.connection, end: other.range.lowerBound + count)
        _ = plan.place(other.connection, Int(count))
        _ = plan.wrote(other.connection, other.range.lowerBound..<other.range.lowerBound + count)
        #expect(plan.segments[other.connection]?.isShort == true)
        let isWorthwhile = plan.segments[other.connection].map(plan.limits.isWorthwhile)
        #expect(isWorthwhile == (connections == 2))
        _ = plan.ended(other.connection, isWorthwhile == true ? .orderly : .broken)
        #expect(plan.segments.count == connections)
    }

    @Test("Notices more bytes than announced, and leaves those beyond the segment to others")
    func surplus() {
        let (initial, openings) = Self.plan(64 * Self.mib, connections: 4)
        var plan = initial
        for opening in openings { plan.accepted(opening.connection, end: opening.range.upperBound) }
        let most = plan.place(0, 15 << 20)
        #expect(most?.isLast == false)
        let rest = plan.place(0, 2 << 20)
        let count = (1 << 20) + Int(Self.overlap)
        #expect(
            rest
                == SegmentPlan.Placement(
                    offset: 15 * Self.mib, count: count, own: 15 * Self.mib..<16 * Self.mib, isLast: true, isOverlong: false)
        )
        var (single, _) = Self.plan(100, connections: 1)
        #expect(single.place(0, 101)?.isOverlong == true)
    }

    // MARK: - Simulation

    /// A random origin and its connections. For each 1024 bytes, it counts the writers and notes the last one.
    struct Simulation {
        var random: SplitMix
        var plan: SegmentPlan
        let total: Int64
        /// Offset, end of the body and arrival of the head for each open connection.
        var open: [Int: (range: Range<Int64>, isAccepted: Bool)] = [:]
        var writers: [UInt8]
        /// The connection of each 1024 bytes, numbered over all attempts.
        var owners: [Int]
        /// The connections whose bytes have been compared: each points to one that it was compared with.
        var links: [Int: Int] = [:]
        /// The maximum number of attempts.
        var attempts = 0
        /// The percentages of refused connections, and of pieces that break a connection.
        var refusals = 20
        var breaks = 1
        /// The blocks that ended attempts have left out at seams.
        var holes = 0
        /// One of so many events stops the attempt.
        var stops = 500

        init(seed: UInt64) {
            random = SplitMix(seed: seed)
            total = Int64(Int.random(in: 8 << 10...40 << 10, using: &random)) * 1024
            writers = [UInt8](repeating: 0, count: Int(total / 1024))
            owners = [Int](repeating: -1, count: Int(total / 1024))
            plan = SegmentPlan(limits: SegmentPlan.Limits(connections: 1))
        }

        mutating func run() -> Bool {
            var written = Coverage()
            while attempts < 200 {
                attempts += 1
                let limit = Int.random(in: 1...8, using: &random)
                plan = SegmentPlan(written: written, limits: SegmentPlan.Limits(connections: limit))
                let start = max(0, written.prefix - ResumeDecision.overlap)
                open = [SegmentPlan.first: (start..<total, true)]
                note(plan.begin(at: start, end: total, total: total, dividing: true))
                while let connection = open.keys.sorted().randomElement(using: &random),
                    Int.random(in: 0..<stops, using: &random) > 0
                {
                    guard step(connection) else { continue }
                    if plan.isWhole { return plan.gaps == [] }
                }
                written = blocks(plan.proven)
                holes += Int((plan.written.byteCount - written.byteCount) / 1024)
            }
            return false
        }

        /// The blocks of 1024 bytes that are present as a whole.
        private func blocks(_ coverage: Coverage) -> Coverage {
            var blocks = Coverage()
            for start in stride(from: 0, to: total, by: 1024) where coverage.gaps(in: start..<start + 1024).isEmpty {
                blocks.insert(start..<start + 1024)
            }
            return blocks
        }

        /// Whether comparisons connect all connections whose bytes are in the file.
        mutating func isConnected() -> Bool {
            return Set(owners.map { root($0) }).count == 1
        }

        private func root(_ connection: Int) -> Int {
            var root = connection
            while let next = links[root] { root = next }
            return root
        }

        private mutating func compare(_ connection: Int, _ range: Range<Int64>) {
            for index in range.lowerBound / 1024..<range.upperBound / 1024 where owners[Int(index)] >= 0 {
                let (left, right) = (root(connection), root(owners[Int(index)]))
                if left != right { links[left] = right }
            }
        }

        private mutating func note(_ openings: [SegmentPlan.Opening]) {
            for opening in openings { open[opening.connection] = (opening.range, false) }
        }

        /// One random event of a connection; returns whether all is done.
        private mutating func step(_ connection: Int) -> Bool {
            guard let (range, isAccepted) = open[connection] else { return false }
            let chance = Int.random(in: 0..<100, using: &random)
            if !isAccepted {
                if chance < refusals { return end(connection, .broken) }
                // Sometimes fewer bytes than requested, but more than an overlap.
                let end =
                    chance < refusals + 10 && range.upperBound - range.lowerBound > 256 << 10
                    ? range.lowerBound + max(1024, (range.upperBound - range.lowerBound) / 2048 * 1024) : range.upperBound
                open[connection] = (range.lowerBound..<min(end, range.upperBound), true)
                plan.accepted(connection, end: min(end, range.upperBound))
                return false
            }
            if chance < breaks { return end(connection, .broken) }
            let left = range.upperBound - range.lowerBound
            // Often a piece ends with the segment, and the next one breaks the connection.
            let rest = plan.segments[connection]?.end.map { $0 - range.lowerBound } ?? left
            let count = min(left, rest > 0 ? rest : left, Int64(Int.random(in: 1...512, using: &random)) * 1024)
            if rest == 0, chance < 30 { return end(connection, .broken) }
            guard count > 0, let placement = plan.place(connection, Int(count)), !placement.isOverlong else {
                return end(connection, .orderly)
            }
            for other in placement.superseded where end(other, .orderly) { return true }
            take(placement, connection)
            open[connection] = (range.lowerBound + Int64(placement.count)..<range.upperBound, true)
            if placement.isLast || count == left { return end(connection, chance < 10 ? .broken : .orderly) }
            return false
        }

        private mutating func take(_ placement: SegmentPlan.Placement, _ connection: Int) {
            let own = placement.own
            let whole = placement.offset..<placement.offset + Int64(placement.count)
            let number = attempts * 1_000 + connection
            for range in plan.written.present(in: whole) { compare(number, range) }
            for beside in [whole.lowerBound..<own.lowerBound, own.upperBound..<whole.upperBound] {
                for range in plan.written.gaps(in: beside) {
                    var bytes = [UInt8](repeating: 0, count: Int(range.upperBound - range.lowerBound))
                    for index in 0..<8 { bytes[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
                    plan.keep(bytes, at: range.lowerBound, of: connection)
                }
            }
            for range in plan.written.gaps(in: own) {
                for index in range.lowerBound / 1024..<range.upperBound / 1024 {
                    writers[Int(index)] += 1
                    owners[Int(index)] = number
                }
            }
            _ = plan.wrote(connection, own)
            for late in plan.takeComparable() {
                let number = late.bytes.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
                compare(number, late.offset..<late.offset + Int64(late.bytes.count))
            }
        }

        private mutating func end(_ connection: Int, _ ending: SegmentPlan.Ending) -> Bool {
            open[connection] = nil
            switch plan.ended(connection, ending) {
            case .goOn(let openings): note(openings)
            case .complete: return true
            case .stuck: break
            }
            return false
        }
    }

    /// SplitMix64: reproducible.
    struct SplitMix: RandomNumberGenerator {
        var state: UInt64
        init(seed: UInt64) { state = seed }
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    @Test("Writes every byte exactly once, whatever breaks", arguments: 1...150 as ClosedRange<UInt64>)
    func everyByteOnce(seed: UInt64) {
        var simulation = Simulation(seed: seed)
        let isDone = simulation.run()
        #expect(isDone)
        let repeated = simulation.writers.reduce(0) { $0 + Int($1) - 1 }
        #expect(!simulation.writers.contains(0) && repeated <= simulation.holes)
        let isConnected = simulation.isConnected()
        #expect(isConnected, "the bytes of some connections have met no others")
    }

    @Test("If all others are refused, the first body brings everything", arguments: 1...50 as ClosedRange<UInt64>)
    func refusedForEver(seed: UInt64) {
        var simulation = Simulation(seed: seed)
        (simulation.refusals, simulation.breaks, simulation.stops) = (100, 0, .max)
        let isDone = simulation.run()
        #expect(isDone)
        #expect(simulation.attempts == 1)
        let wrong = simulation.writers.filter { $0 != 1 }.count
        #expect(wrong == 0)
    }
}
