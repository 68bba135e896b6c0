/// The rate limit of requests to one source: a bucket of tokens. Each token returns a fixed time after its use. So
/// no period of that length has more requests than there are tokens, whenever it begins.
///
/// A request can reserve a time in the near future; reserved times are in order of the requests. Throttling by the
/// source closes the budget for a while.
struct RateBudget: Sendable {
    /// The result of asking for a time to send a request.
    enum Grant: Equatable {
        /// The time at which the request may be sent, now or later.
        case at(ContinuousClock.Instant)
        /// No time is available soon; the next one is this far away.
        case refused(retryAfter: Duration)
    }

    /// The number of tokens, at least 1.
    let tokens: Int
    /// The time after which a used token returns.
    let period: Duration
    /// The maximum time until a reserved request.
    let longestWait: Duration
    /// The initial and maximum delays after throttling.
    let backoff: Duration
    let longestBackoff: Duration

    /// The past and reserved times of use of the tokens that have not returned, in order.
    private var uses: [ContinuousClock.Instant] = []
    private var closedUntil: ContinuousClock.Instant?
    private var nextBackoff: Duration

    init(
        tokens: Int, period: Duration = .seconds(60), longestWait: Duration, backoff: Duration, longestBackoff: Duration
    ) {
        self.tokens = max(1, tokens)
        self.period = period
        self.longestWait = longestWait
        self.backoff = backoff
        self.longestBackoff = longestBackoff
        nextBackoff = backoff
    }

    /// Reserves a time for a request, or returns the delay until one is available.
    /// - Parameter shares: The number of replicas with an equal share of the tokens, 1 or more.
    mutating func take(at now: ContinuousClock.Instant, of shares: Int = 1) -> Grant {
        if let wait = closure(at: now) { return .refused(retryAfter: wait) }
        // With less than one token per replica, tokens return more slowly.
        let period = shares > tokens ? period * shares / tokens : period
        let tokens = max(1, tokens / shares)
        uses.removeAll { $0.advanced(by: period) <= now }
        var time = now
        // With n tokens, a request waits for the token of the n-th last use. Reserved uses count as well.
        if uses.count >= tokens { time = max(now, uses[uses.count - tokens].advanced(by: period)) }
        // Not before times that are already reserved.
        if let last = uses.last { time = max(time, last) }
        let wait = now.duration(to: time)
        if wait > longestWait { return .refused(retryAfter: wait) }
        uses.append(time)
        return .at(time)
    }

    /// Returns a token that was reserved for this time and not used.
    mutating func release(_ time: ContinuousClock.Instant) {
        if let index = uses.lastIndex(of: time) { uses.remove(at: index) }
    }

    /// The remaining delay after throttling; `nil` if there is none.
    func closure(at now: ContinuousClock.Instant) -> Duration? {
        guard let closedUntil, closedUntil > now else { return nil }
        return now.duration(to: closedUntil)
    }

    /// Records throttling by the source, with the delay that it asked for, or `nil`. Returns the delay until the next
    /// request.
    mutating func throttled(at now: ContinuousClock.Instant, retryAfter: Duration?) -> Duration {
        let wait = min(max(retryAfter ?? nextBackoff, .seconds(1)), longestBackoff)
        // Responses to several concurrent requests count once.
        if closure(at: now) == nil { nextBackoff = min(nextBackoff * 2, longestBackoff) }
        closedUntil = max(closedUntil ?? now, now.advanced(by: wait))
        return closure(at: now) ?? wait
    }

    /// Records a successful response.
    mutating func succeeded() {
        nextBackoff = backoff
    }
}
