internal import Downloads
internal import System

/// What was made of versions of downloads last, so that it need not be made again.
///
/// A version is never changed: what is found here is what would be made now. The oldest gives way.
final class VersionCache<Value: Sendable>: Sendable {
    private struct Contents {
        var values: [DownloadVersion: Value] = [:]
        /// Versions in the order in which they came, with what they cost; those before `first` have given way.
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

    /// An empty one.
    /// - Parameter capacity: how much all values may cost together.
    init(capacity: Int) {
        self.capacity = capacity
    }

    /// What was made of a version.
    func find(_ version: DownloadVersion) -> Value? {
        contents.withLock { $0.values[version] }
    }

    /// Keeps what was made of a version, unless that alone would take more than an eighth of the room.
    func keep(_ value: Value, _ version: DownloadVersion, cost: Int) {
        guard cost <= capacity / 8 else { return }
        contents.withLock { contents in
            // Another may have made it at the same time.
            guard contents.values[version] == nil else { return }
            contents.values[version] = value
            contents.order.append((version, cost))
            contents.cost += cost
            while contents.cost > capacity { contents.dropFirst() }
        }
    }
}
