/// Decides whether a request is tried again, and after which pause. Pure: it is told of chance.
struct RetryPolicy: Sendable {
    let tries: Int
    let firstPause: Duration

    /// The longest pause; a caller waits for all of them.
    private static let longestPause: Duration = .seconds(5)

    /// How long to wait after a try, counted from 1, that failed in a way that may pass; nil: it was the last.
    /// - Parameter chance: from 0 to 1. It takes off up to a half, so that those who failed together do not come back together.
    func pause(afterTry number: Int, chance: Double) -> Duration? {
        guard number < tries else { return nil }
        var pause = firstPause
        for _ in 1..<max(1, min(number, 20)) { pause = min(pause * 2, Self.longestPause) }
        return min(pause, Self.longestPause) * (1 - min(max(chance, 0), 1) / 2)
    }
}
