/// Decides whether and after which pause a request is repeated. A pure value: the caller passes the random number.
struct StorageRetryPolicy: Sendable {
    let tries: Int
    let firstPause: Duration

    /// The maximum pause; a caller waits for all pauses.
    private static let longestPause: Duration = .seconds(5)

    /// The pause after a try, counted from 1, that failed transiently; `nil` after the last one.
    /// - Parameter chance: A random number from 0 to 1. It shortens the pause by up to a half, so that requests that
    ///   failed together are not repeated together.
    func pause(afterTry number: Int, chance: Double) -> Duration? {
        guard number < tries else { return nil }
        var pause = firstPause
        for _ in 1..<max(1, min(number, 20)) { pause = min(pause * 2, Self.longestPause) }
        return min(pause, Self.longestPause) * (1 - min(max(chance, 0), 1) / 2)
    }
}
