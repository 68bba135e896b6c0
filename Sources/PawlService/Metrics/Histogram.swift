/// How durations or numbers are spread, in the form Prometheus takes: for each bound, how many were at most that.
struct Histogram: Sendable {
    /// Bounds in seconds. Responses from memory take some 10 µs, those that wait for a commit some milliseconds, those that wait
    /// for a search source up to half a minute.
    static let seconds: [Double] = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]
    /// Bounds of the numbers of changes that are written together, of which the store limits the largest.
    static let changes: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

    let bounds: [Double]
    /// For each bound, and for what is more than all of them, how many fell in between.
    private(set) var counts: [UInt64]
    /// All of them together.
    private(set) var sum = 0.0

    init(_ bounds: [Double] = seconds) {
        self.bounds = bounds
        counts = [UInt64](repeating: 0, count: bounds.count + 1)
    }

    mutating func record(_ value: Double) {
        sum += value
        var index = 0
        while index < bounds.count, value > bounds[index] { index += 1 }
        counts[index] &+= 1
    }
}
