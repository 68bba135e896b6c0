/// How durations are spread, in the form Prometheus takes: for each bound, how many were at most that long.
struct Histogram: Sendable {
    /// The bounds in seconds. Responses from memory take some 10 µs, those that wait for a commit some milliseconds, those that wait
    /// for a search source up to half a minute.
    static let bounds: [Double] = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]

    /// For each bound, and for what is longer than all of them, how many fell in between.
    private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    /// All durations together, in seconds.
    private(set) var sum = 0.0

    mutating func record(seconds: Double) {
        sum += seconds
        var index = 0
        while index < Self.bounds.count, seconds > Self.bounds[index] { index += 1 }
        counts[index] &+= 1
    }
}
