internal import DownloadCore
internal import Downloads
internal import System

/// A cache of values derived from versions of downloads.
///
/// A version never changes, so a cached value is never out of date. When the cache is full, the oldest entries are
/// removed.
final class VersionCache<Value: Sendable>: Sendable {
    private struct Contents {
        var values: [DownloadVersion: Value] = [:]
        /// Versions in order of insertion with their costs; those before `first` have been removed.
        var order: [(version: DownloadVersion, cost: Int)] = []
        var first = 0
        var cost = 0

        mutating func dropFirst() {
            let oldest = order[first]
            values[oldest.version] = nil
            cost -= oldest.cost
            first += 1
            guard first > 256, first > order.count / 2 else { return }
            order.removeFirst(first)
            first = 0
        }
    }

    private let capacity: Int
    private let contents = Locked(Contents())

    /// Creates an empty cache.
    /// - Parameter capacity: The maximum total cost of all values.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The value of a version; `nil` if it is not cached.
    func find(_ version: DownloadVersion) -> Value? {
        contents.withLock { $0.values[version] }
    }

    /// Caches the value of a version, unless it costs more than an eighth of the capacity.
    func keep(_ value: Value, _ version: DownloadVersion, cost: Int) {
        guard cost <= capacity / 8 else { return }
        contents.withLock { contents in
            // Another thread may have inserted it meanwhile.
            guard contents.values[version] == nil else { return }
            contents.values[version] = value
            contents.order.append((version, cost))
            contents.cost += cost
            while contents.cost > capacity { contents.dropFirst() }
        }
    }
}
