/// Decides when a failed attempt is repeated: after exponential delays with full jitter, never
/// earlier than the origin asks.
package struct RetryPolicy: Sendable, Equatable {
    /// The maximum of the first delay.
    package var firstDelay: Duration
    /// The maximum of all delays that the origin has not asked for.
    package var longestDelay: Duration
    /// The maximum `Retry-After` that is honoured, so that an origin cannot defer a download for ever.
    package var longestRetryAfter: Duration
    /// The number of consecutive attempts without progress after which the download fails.
    ///
    /// ``RetryChoice/forEver`` for none. With the other defaults, the delays between them add up to one minute on average and two minutes at most. An
    /// origin restarts in less, and users do not wait too long for the failure.
    package var maximumAttempts: Int
    /// Further statuses after which a request is repeated.
    package var statuses: [Int] = []

    package init(
        firstDelay: Duration = .seconds(1),
        longestDelay: Duration = .seconds(60),
        longestRetryAfter: Duration = .seconds(86_400),
        maximumAttempts: Int = 8
    ) {
        self.firstDelay = firstDelay
        self.longestDelay = longestDelay
        self.longestRetryAfter = longestRetryAfter
        self.maximumAttempts = maximumAttempts
    }

    /// Returns the policy with a client's or the operator's choice.
    package func applying(_ choice: RetryChoice) -> RetryPolicy {
        var policy = self
        policy.maximumAttempts = choice.attempts ?? maximumAttempts
        policy.longestDelay = choice.longestDelay.map { .seconds($0) } ?? longestDelay
        policy.statuses = choice.statuses ?? statuses
        return policy
    }

    /// Returns a failure that is retried if its status is one of ``statuses``.
    package func judging(_ failure: DownloadFailure) -> DownloadFailure {
        var failure = failure
        if failure.code == .httpStatus, let status = failure.httpStatus, statuses.contains(status) { failure.retryable = true }
        return failure
    }

    /// The decision after a failure.
    package enum Verdict: Sendable, Equatable {
        /// Another attempt follows after the delay.
        case retry(after: Duration)
        /// The download has failed.
        case fail
    }

    /// Returns the delay after `count` consecutive attempts without progress, including the one that just failed.
    ///
    /// - Parameters:
    ///   - count: The number of attempts, at least 1.
    ///   - retryAfter: The delay that the origin asked for; `nil` for none.
    ///   - random: The source of the jitter.
    package func delay(
        afterAttemptsWithoutProgress count: Int, retryAfter: Duration?, using random: inout some RandomNumberGenerator
    ) -> Duration {
        let most = longestDelay(afterAttemptsWithoutProgress: count)
        // A fraction of 53 random bits takes one draw from any generator.
        let jittered = most * (Double(random.next() >> 11) / Double(1 << 53))
        guard let retryAfter else { return jittered }
        return max(jittered, min(retryAfter, longestRetryAfter))
    }

    /// Returns the maximum delay after `count` attempts without progress, unless the origin asks for more.
    package func longestDelay(afterAttemptsWithoutProgress count: Int) -> Duration {
        var most = min(firstDelay, longestDelay)
        for _ in 1..<max(min(count, 64), 1) where most < longestDelay {
            most = min(most * 2, longestDelay)
        }
        return most
    }
}

// MARK: - Temporary failures

extension RetryPolicy {
    /// Whether a failure of this kind may pass without a command.
    package static func retries(_ code: FailureCode, httpStatus: Int? = nil) -> Bool {
        switch code {
        case .connectionFailed, .timedOut, .transferBroken, .unexpectedEmpty: true
        case .httpStatus: httpStatus.map(retriesStatus) ?? false
        // The partial bytes are kept, so that a command can resume these downloads. But a full disk, a
        // wrong certificate or a forbidden destination does not repair itself. An entity that keeps
        // changing would be fetched for ever.
        case .destinationForbidden, .checksumMismatch, .mediaTypeMismatch, .insufficientStorage, .tooManyRedirects,
            .unsupportedEncoding, .tlsFailure, .entityChanged, .ioError:
            false
        }
    }

    /// Whether a request may succeed after a response with this status.
    static func retriesStatus(_ status: Int) -> Bool {
        switch status {
        // 408 Request Timeout, 425 Too Early, 429 Too Many Requests, and the server errors that may soon pass. A
        // widespread cache sends those from 520 on if its origin fails in any way, except 526 for a wrong certificate.
        case 408, 425, 429, 500, 502, 503, 504, 520...525, 527, 530: true
        default: false
        }
    }
}
