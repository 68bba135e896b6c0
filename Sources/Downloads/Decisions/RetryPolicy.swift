import HTTPCore

/// When a failed attempt is tried again: exponential delays with full jitter, never earlier than the origin asks.
struct RetryPolicy: Sendable, Equatable {
    /// The most the first delay can be.
    var firstDelay: Duration
    /// The most any delay of ours can be.
    var longestDelay: Duration
    /// The most of a `Retry-After` that is honoured: an origin may not park a download for good.
    var longestRetryAfter: Duration
    /// Attempts in a row without progress after which the download fails. With the other defaults the delays between them add up
    /// to one minute on average and two at most: longer than a restart of an origin takes, short enough to be told of.
    var maximumAttempts: Int

    init(
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

    /// What follows a failure.
    enum Verdict: Sendable, Equatable {
        /// Try again when the delay has passed.
        case retry(after: Duration)
        /// The download has failed.
        case giveUp
    }

    /// The delay after so many attempts without progress, the one that just failed included.
    ///
    /// - Parameters:
    ///   - count: At least 1.
    ///   - retryAfter: What the origin asked for, if it did.
    ///   - random: Where the jitter comes from.
    func delay(
        afterAttemptsWithoutProgress count: Int, retryAfter: Duration?, using random: inout some RandomNumberGenerator
    ) -> Duration {
        let most = longestDelay(afterAttemptsWithoutProgress: count)
        // 53 random bits as a fraction: one draw, whatever the generator gives.
        let jittered = most * (Double(random.next() >> 11) / Double(1 << 53))
        guard let retryAfter else { return jittered }
        return max(jittered, min(retryAfter, longestRetryAfter))
    }

    /// The most that the delay after so many attempts without progress can be, unless the origin asks for more.
    func longestDelay(afterAttemptsWithoutProgress count: Int) -> Duration {
        var most = min(firstDelay, longestDelay)
        for _ in 1..<max(min(count, 64), 1) where most < longestDelay {
            most = min(most * 2, longestDelay)
        }
        return most
    }
}

// MARK: - What may pass by itself

extension RetryPolicy {
    /// Whether a failure of that kind may pass by itself.
    static func retries(_ code: FailureCode, httpStatus: Int? = nil) -> Bool {
        switch code {
        case .connectionFailed, .timedOut, .transferBroken: true
        case .httpStatus: httpStatus.map(retriesStatus) ?? false
        // The partial bytes are kept, so that a command can resume them; but a full disk, a wrong certificate or a forbidden
        // destination do not repair themselves, and an entity that keeps changing would be fetched for ever.
        case .destinationForbidden, .checksumMismatch, .mediaTypeMismatch, .insufficientStorage, .tooManyRedirects,
            .unsupportedEncoding, .tlsFailure, .entityChanged, .ioError:
            false
        }
    }

    /// Whether a response with that status is worth asking again.
    static func retriesStatus(_ status: Int) -> Bool {
        switch status {
        // 408 Request Timeout, 425 Too Early, 429 Too Many Requests, and the server errors that are about a moment;
        // 522 and 524 are a widespread cache's words for an origin that does not respond.
        case 408, 425, 429, 500, 502, 503, 504, 522, 524: true
        default: false
        }
    }
}

// MARK: - Retry-After

extension RetryPolicy {
    /// The delay that a Retry-After field asks for (RFC 9110 §10.2.3): seconds, or a date; `nil` if it is neither.
    ///
    /// - Parameters:
    ///   - value: The field's value.
    ///   - date: The Date field's value: an origin means its own clock, which need not be ours.
    ///   - now: The time here, for when there is no Date.
    static func delay(fromRetryAfter value: String, date: String?, now: Timestamp) -> Duration? {
        if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number too long to be read asks for longer than anybody waits.
            return .seconds(min(Int64(value) ?? .max, 1 << 32))
        }
        guard let time = HTTPDate(parsing: value) else { return nil }
        let start = date.flatMap { HTTPDate(parsing: $0) }?.secondsSinceEpoch ?? now.millisecondsSinceEpoch / 1_000
        return .seconds(max(time.secondsSinceEpoch - start, 0))
    }
}
