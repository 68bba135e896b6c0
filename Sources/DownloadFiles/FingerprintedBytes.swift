package import DownloadCore
package import System

/// Byte ranges of a part file with their fingerprints. It is a pure value.
package struct FingerprintedBytes: Sendable, Equatable {
    /// The ranges.
    package private(set) var coverage = Coverage()
    /// The fingerprint of each range.
    package private(set) var fingerprints: [Fingerprint] = []

    /// Creates a value without bytes.
    package init() {}

    /// Creates the durable bytes of a record. Without all fingerprints, no range is known.
    package init(_ durable: [SyncedSegment]) {
        let coverage = Coverage(durable)
        let fingerprints = durable.filter { $0.length > 0 }.compactMap(\.fingerprint)
        guard coverage.ranges.count == fingerprints.count else { return }
        self.coverage = coverage
        self.fingerprints = fingerprints
    }

    /// Replaces the ranges by another coverage's, and keeps the fingerprints of the ranges within them.
    /// - Returns: The bytes without fingerprints, by the number of their new range.
    mutating func advance(to other: Coverage) -> [(range: Int, gaps: [Range<Int64>])] {
        var kept = Coverage()
        var advanced = [Fingerprint](repeating: Fingerprint(), count: other.ranges.count)
        for (old, fingerprint) in zip(coverage.ranges, fingerprints) {
            guard let range = other.ranges.firstIndex(where: { $0.contains(old) }) else { continue }
            kept.insert(old)
            advanced[range] += fingerprint
        }
        coverage = other
        fingerprints = advanced
        return other.ranges.enumerated().map { ($0, kept.gaps(in: $1)) }
    }

    /// Adds the bytes of a gap to a range.
    mutating func add(_ fingerprint: Fingerprint, to range: Int) {
        fingerprints[range] += fingerprint
    }
}

/// A comparison of a file's bytes, read from the start, with their fingerprints. It is a pure value.
struct FingerprintComparison: Sendable {
    private let coverage: Coverage
    private let expected: Fingerprint
    private var found = Fingerprint()

    init(_ known: FingerprintedBytes) {
        coverage = known.coverage
        expected = known.fingerprints.reduce(Fingerprint(), +)
    }

    /// Adds the bytes at an offset.
    mutating func update(_ bytes: RawSpan, at offset: Int64) {
        let end = offset + Int64(bytes.byteCount)
        for range in coverage.ranges where range.lowerBound < end && range.upperBound > offset {
            let common = range.clamped(to: offset..<end)
            let piece = bytes.extracting(Int(common.lowerBound - offset)..<Int(common.upperBound - offset))
            found += Fingerprint(of: piece, at: common.lowerBound)
        }
    }

    /// Returns whether the first `length` bytes contradict the fingerprints. All of them must have been added.
    func isContradicted(by length: Int64) -> Bool { length >= coverage.end && found != expected }
}
