package import System

/// The byte ranges of a file that are present, in order of position. No two of them touch. Pure.
package struct Coverage: Sendable, Equatable {
    /// The ranges, none of them empty.
    package private(set) var ranges: [Range<Int64>] = []

    /// Creates an empty coverage.
    package init() {}

    /// Creates a coverage of the first `count` bytes.
    package init(prefix count: Int64) {
        if count > 0 { ranges = [0..<count] }
    }

    /// Creates a coverage of the bytes that segments have on disk.
    ///
    /// Invalid segments, such as those with a negative position or an end before their start, add nothing.
    package init(_ segments: [SyncedSegment]) {
        for segment in segments where segment.start >= 0 && segment.synced > segment.start {
            insert(segment.start..<segment.synced)
        }
    }

    /// The number of present bytes.
    package var byteCount: Int64 { ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } }

    /// The number of present bytes before the first gap.
    package var prefix: Int64 {
        guard let first = ranges.first, first.lowerBound == 0 else { return 0 }
        return first.upperBound
    }

    /// The offset behind the last present byte.
    package var end: Int64 { ranges.last?.upperBound ?? 0 }

    /// Returns the ranges as they are recorded once they have been synced.
    /// - Parameter fingerprints: The fingerprint of each range; empty if they are unknown.
    package func segments(total: Int64?, fingerprints: [Fingerprint] = []) -> [SyncedSegment] {
        ranges.enumerated().map { index, range in
            let next = index + 1 < ranges.count ? ranges[index + 1].lowerBound : total
            return SyncedSegment(
                start: range.lowerBound, end: next, synced: range.upperBound,
                fingerprint: fingerprints.count == ranges.count ? fingerprints[index] : nil)
        }
    }

    /// Returns the missing ranges before `total`.
    package func gaps(upTo total: Int64) -> [Range<Int64>] {
        var gaps: [Range<Int64>] = []
        var position: Int64 = 0
        for range in ranges where position < total {
            if range.lowerBound > position { gaps.append(position..<min(range.lowerBound, total)) }
            position = range.upperBound
        }
        if position < total { gaps.append(position..<total) }
        return gaps
    }

    /// Returns the missing ranges within a range.
    package func gaps(in range: Range<Int64>) -> [Range<Int64>] {
        var gaps: [Range<Int64>] = []
        var position = range.lowerBound
        for held in ranges where held.upperBound > position && held.lowerBound < range.upperBound {
            if held.lowerBound > position { gaps.append(position..<held.lowerBound) }
            position = held.upperBound
        }
        if position < range.upperBound { gaps.append(position..<range.upperBound) }
        return gaps
    }

    /// Returns the present ranges within a range.
    package func present(in range: Range<Int64>) -> [Range<Int64>] {
        ranges.filter { $0.upperBound > range.lowerBound && $0.lowerBound < range.upperBound }.map { $0.clamped(to: range) }
    }

    /// Returns at most `limit` ranges for a progress bar. If there are more, ranges with the smallest gaps
    /// between them are joined.
    package func outline(atMost limit: Int) -> [Range<Int64>] {
        guard ranges.count > limit else { return ranges }
        let gaps = zip(ranges, ranges.dropFirst()).map { $1.lowerBound - $0.upperBound }
        // The widest gap to close. At most `limit - 1` gaps are wider.
        let passedOver = gaps.sorted()[ranges.count - limit - 1]
        var outline = Array(ranges.prefix(1))
        for (gap, range) in zip(gaps, ranges.dropFirst()) {
            if gap <= passedOver, let last = outline.popLast() {
                outline.append(last.lowerBound..<range.upperBound)
            } else {
                outline.append(range)
            }
        }
        return outline
    }

    /// Returns the coverage before `end`.
    package func clipped(to end: Int64) -> Coverage {
        var clipped = Coverage()
        clipped.ranges = ranges.filter { $0.lowerBound < end }.map { $0.lowerBound..<min($0.upperBound, end) }
        return clipped
    }

    /// Returns the coverage without the byte behind each of these places, if the one before it is present as well.
    package func opened(at places: Set<Int64>) -> Coverage {
        guard !places.isEmpty else { return self }
        var coverage = Coverage()
        for range in ranges {
            var start = range.lowerBound
            for place in places.sorted() where range.lowerBound < place && place < range.upperBound {
                if start < place { coverage.ranges.append(start..<place) }
                start = place + 1
            }
            if start < range.upperBound { coverage.ranges.append(start..<range.upperBound) }
        }
        return coverage
    }

    /// Returns the coverage if a file of `size` bytes holds all of it; otherwise an empty one.
    ///
    /// A shorter file is another state of the file. Its first bytes may be missing too, and read as zeros.
    package func held(by size: Int64) -> Coverage { size >= end ? self : Coverage() }

    /// Adds received bytes.
    package mutating func insert(_ new: Range<Int64>) {
        guard !new.isEmpty else { return }
        // Bytes arrive one after another, so nearly always one range only grows.
        if let index = ranges.firstIndex(where: { $0.upperBound == new.lowerBound }),
            index + 1 == ranges.count || ranges[index + 1].lowerBound > new.upperBound
        {
            ranges[index] = ranges[index].lowerBound..<new.upperBound
            return
        }
        var merged = new
        var others: [Range<Int64>] = []
        for range in ranges {
            if range.upperBound < merged.lowerBound || range.lowerBound > merged.upperBound {
                others.append(range)
            } else {
                merged = min(range.lowerBound, merged.lowerBound)..<max(range.upperBound, merged.upperBound)
            }
        }
        let index = others.firstIndex { $0.lowerBound > merged.lowerBound } ?? others.count
        others.insert(merged, at: index)
        ranges = others
    }
}
