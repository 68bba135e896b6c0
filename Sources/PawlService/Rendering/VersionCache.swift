internal import DownloadCore
internal import System

/// A value derived from a version of a resource.
protocol VersionValue: AnyObject, Sendable {
    associatedtype Version: NumberedVersion
    var version: Version { get }
    /// The approximate size in bytes.
    var cost: Int { get }
}

/// A version of a resource.
protocol NumberedVersion: Equatable, Sendable {
    /// The number of the publication that the version begins with. Later ones have a higher number.
    var publication: UInt64 { get }
}

extension DownloadVersion: NumberedVersion {}

/// A version that lasts from one publication to the next.
extension UInt64: NumberedVersion {
    var publication: UInt64 { self }
}

/// A cache of values derived from versions of resources.
///
/// A version never changes, so a cached value is never out of date. The number of its publication determines the places
/// that a version can have, so finding one needs no hash. When the cache is full, the oldest values are removed.
final class VersionCache<Value: VersionValue>: Sendable {
    private struct Contents {
        /// The number of columns, a power of two. A version has its place in one column.
        let columns: Int
        /// The values, row by row; empty before the first one.
        var values: [Value?] = []
        /// The next place to be emptied when the cache is full.
        var hand = 0
        var cost = 0

        func column(of version: Value.Version) -> Int {
            Int(truncatingIfNeeded: version.publication) & (columns - 1)
        }

        func find(_ version: Value.Version) -> Value? {
            var place = column(of: version)
            while place < values.count {
                if let value = values[place], value.version == version { return value }
                place += columns
            }
            return nil
        }

        mutating func insert(_ value: Value) {
            if values.isEmpty { values = Array(repeating: nil, count: columns * VersionCache.rows) }
            let place = place(for: value.version)
            empty(place)
            values[place] = value
            cost += value.cost
        }

        /// The place for a version: a free one, or else the oldest value's.
        private func place(for version: Value.Version) -> Int {
            var (best, oldest) = (column(of: version), UInt64.max)
            for place in stride(from: best, to: values.count, by: columns) {
                guard let age = values[place]?.version.publication else { return place }
                if age < oldest { (best, oldest) = (place, age) }
            }
            return best
        }

        private mutating func empty(_ place: Int) {
            guard let value = values[place] else { return }
            cost -= value.cost
            values[place] = nil
        }

        /// Empties the next place. Successive versions were inserted in this order.
        mutating func dropNext() {
            empty(hand)
            hand = (hand + 1) % values.count
        }
    }

    /// The number of places in a column.
    private static var rows: Int { 4 }
    /// The typical cost of a value. There are twice as many places as values of this cost.
    private static var typicalCost: Int { 1024 }

    private let capacity: Int
    private let contents: Locked<Contents>

    /// Creates an empty cache.
    /// - Parameter capacity: The maximum total cost of all values.
    init(capacity: Int) {
        self.capacity = capacity
        var columns = 1
        while columns * Self.rows * Self.typicalCost < 2 * capacity { columns *= 2 }
        contents = Locked(Contents(columns: columns))
    }

    /// The value of a version; `nil` if it is not cached.
    func find(_ version: Value.Version) -> Value? {
        contents.withLock { $0.find(version) }
    }

    /// Caches a value, unless it costs more than an eighth of the capacity.
    func keep(_ value: Value) {
        guard value.cost <= capacity / 8 else { return }
        contents.withLock { contents in
            // Another thread may have inserted it before.
            guard contents.find(value.version) == nil else { return }
            while contents.cost + value.cost > capacity { contents.dropNext() }
            contents.insert(value)
        }
    }
}
