/// Counts the attempts of one download without progress since its last user command.
///
/// Progress means more bytes of the file than ever before. Bytes that only replace earlier ones do not count. An origin
/// that always breaks off at the same place, and cannot resume, would otherwise be fetched for ever.
package struct RetryBudget: Sendable, Equatable {
    /// The number of consecutive attempts without progress.
    private(set) var attemptsWithoutProgress = 0
    private var furthest: Int64
    /// Whether an attempt has been repeated because the disk was full although it has free bytes.
    var hasWaitedForRoom = false

    /// Creates a budget for a download with this many bytes.
    init(furthest: Int64 = 0) {
        self.furthest = furthest
    }

    /// Whether the download fails if the next attempt fails and brings nothing.
    func isLastAttempt(_ policy: RetryPolicy) -> Bool { attemptsWithoutProgress + 1 >= policy.maximumAttempts }

    /// Decides what follows a failed attempt that ended with `bytesReceived` bytes of the file present.
    mutating func verdict(
        on failure: DownloadFailure,
        bytesReceived: Int64,
        retryAfter: Duration? = nil,
        policy: RetryPolicy,
        using random: inout some RandomNumberGenerator
    ) -> RetryPolicy.Verdict {
        guard failure.retryable else { return .fail }
        if bytesReceived > furthest {
            furthest = bytesReceived
            attemptsWithoutProgress = 0
        }
        // The origin still prepares the file, so the attempt has not failed.
        if failure.isNotReady, policy.maximumAttempts > 1 {
            let delay = policy.delay(afterAttemptsWithoutProgress: 1, retryAfter: retryAfter, using: &random)
            return .retry(after: max(policy.firstDelay, delay))
        }
        attemptsWithoutProgress += 1
        guard attemptsWithoutProgress < policy.maximumAttempts else { return .fail }
        return .retry(
            after: policy.delay(afterAttemptsWithoutProgress: attemptsWithoutProgress, retryAfter: retryAfter, using: &random))
    }
}
