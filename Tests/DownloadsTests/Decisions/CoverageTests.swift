import TestSupport
import Testing

@testable import DownloadCore

struct CoverageTests {
    @Test(
        "Merges adjacent ranges",
        arguments: [
            ([0..<10], [0..<10]),
            ([0..<10, 10..<20], [0..<20]),
            ([10..<20, 0..<10], [0..<20]),
            ([0..<10, 20..<30], [0..<10, 20..<30]),
            ([0..<10, 20..<30, 10..<20], [0..<30]),
            ([0..<10, 20..<30, 5..<25], [0..<30]),
            ([20..<30, 0..<5, 10..<15, 4..<21], [0..<30]),
            ([5..<5], []),
            ([0..<10, 2..<4], [0..<10]),
        ] as [([Range<Int64>], [Range<Int64>])])
    func merges(inserted: [Range<Int64>], expected: [Range<Int64>]) {
        var coverage = Coverage()
        for range in inserted { coverage.insert(range) }
        #expect(coverage.ranges == expected)
        #expect(coverage.byteCount == expected.reduce(0) { $0 + Int64($1.count) })
    }

    @Test("Gaps are the missing ranges")
    func gaps() {
        var coverage = Coverage()
        #expect(coverage.gaps(upTo: 100) == [0..<100])
        #expect(coverage.gaps(upTo: 0) == [])
        coverage.insert(10..<20)
        coverage.insert(50..<100)
        #expect(coverage.gaps(upTo: 100) == [0..<10, 20..<50])
        #expect(coverage.gaps(upTo: 60) == [0..<10, 20..<50])
        #expect(coverage.gaps(upTo: 120) == [0..<10, 20..<50, 100..<120])
        #expect(coverage.prefix == 0)
        #expect(coverage.end == 100)
        coverage.insert(0..<10)
        #expect(coverage.prefix == 20)
        #expect(coverage.clipped(to: 55).ranges == [0..<20, 50..<55])
        #expect(coverage.clipped(to: 0) == Coverage())
    }

    @Test(
        "An outline has a maximum number of ranges, and merges those with the smallest gaps",
        arguments: [
            (9, [0..<10, 12..<20, 30..<40, 45..<50]),
            (4, [0..<10, 12..<20, 30..<40, 45..<50]),
            (3, [0..<20, 30..<40, 45..<50]),
            (2, [0..<20, 30..<50]),
            (1, [0..<50]),
        ] as [(Int, [Range<Int64>])])
    func outline(limit: Int, expected: [Range<Int64>]) {
        var coverage = Coverage()
        for range in [0..<10, 12..<20, 30..<40, 45..<50] as [Range<Int64>] { coverage.insert(range) }
        #expect(coverage.outline(atMost: limit) == expected)
    }

    @Test("A record survives a round trip, and an impossible one is not trusted")
    func recorded() {
        var coverage = Coverage(prefix: 10)
        coverage.insert(40..<60)
        let segments = coverage.segments(total: 100)
        #expect(segments == [SyncedSegment(start: 0, end: 40, synced: 10), SyncedSegment(start: 40, end: 100, synced: 60)])
        #expect(Coverage(segments) == coverage)
        #expect(
            Coverage([SyncedSegment(start: -5, end: nil, synced: 10), SyncedSegment(start: 9, end: 20, synced: 3)]) == Coverage())
    }

    @Test(
        "Opens a coverage where bytes on both sides of a place are present",
        arguments: [
            ([10], [0..<10, 11..<20, 30..<40]), ([0, 20, 25, 30, 40], [0..<20, 30..<40]),
            ([10, 11, 19, 31], [0..<10, 12..<19, 30..<31, 32..<40]), ([], [0..<20, 30..<40]),
        ] as [(Set<Int64>, [Range<Int64>])])
    func opened(_ places: Set<Int64>, _ expected: [Range<Int64>]) {
        var coverage = Coverage()
        coverage.insert(0..<20)
        coverage.insert(30..<40)
        #expect(coverage.opened(at: places).ranges == expected)
    }
}
