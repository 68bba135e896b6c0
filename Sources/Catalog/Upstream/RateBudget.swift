/// How often one source may be asked: a bucket of tokens in which each token comes back a while after it was taken, so that no
/// stretch of time of that length sees more requests than there are tokens, whenever it begins.
///
/// A turn that is not far off can be reserved ahead; turns are given out in order. What the source itself says about us asking
/// too often closes the bucket for a time.
struct RateBudget: Sendable {
    /// What came of asking for a turn.
    enum Turn: Equatable {
        /// The request may be made at this moment, which may be now.
        case at(ContinuousClock.Instant)
        /// There is no turn soon; the next one is so far off.
        case refused(retryAfter: Duration)
    }

    /// How many tokens there are, at least 1.
    let tokens: Int
    /// The time after which a token is back.
    let period: Duration
    /// The longest wait that can be reserved.
    let longestWait: Duration
    /// When the source is left alone at first, for how long, and at most.
    let backoff: Duration
    let longestBackoff: Duration

    /// When each token that isn't back was or will be used, in order.
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

    /// Takes a token, now or ahead of its time, or returns how long there is none.
    /// - Parameter shares: how many have an equal share of the tokens, 1 or more.
    mutating func take(at now: ContinuousClock.Instant, of shares: Int = 1) -> Turn {
        if let wait = closure(at: now) { return .refused(retryAfter: wait) }
        // Where there is less than one token for each, it takes longer to come back.
        let period = shares > tokens ? period * shares / tokens : period
        let tokens = max(1, tokens / shares)
        uses.removeAll { $0.advanced(by: period) <= now }
        var turn = now
        // With n tokens, a use waits for the one n places before it to come back. As many may be reserved ahead as came due.
        if uses.count >= tokens { turn = max(now, uses[uses.count - tokens].advanced(by: period)) }
        // Behind turns that are reserved already: first in, first out.
        if let last = uses.last { turn = max(turn, last) }
        let wait = now.duration(to: turn)
        if wait > longestWait { return .refused(retryAfter: wait) }
        uses.append(turn)
        return .at(turn)
    }

    /// Gives a token back that was taken for this moment and not used.
    mutating func giveBack(_ turn: ContinuousClock.Instant) {
        if let index = uses.lastIndex(of: turn) { uses.remove(at: index) }
    }

    /// How long the source is still to be left alone because it throttled us; nil: it isn't.
    func closure(at now: ContinuousClock.Instant) -> Duration? {
        guard let closedUntil, closedUntil > now else { return nil }
        return now.duration(to: closedUntil)
    }

    /// Records that the source throttled us, and when it wants to be asked again if it said so. Returns how long it is left alone.
    mutating func throttled(at now: ContinuousClock.Instant, retryAfter: Duration?) -> Duration {
        let wait = min(max(retryAfter ?? nextBackoff, .seconds(1)), longestBackoff)
        // Responses to several requests in flight are one occasion, not several.
        if closure(at: now) == nil { nextBackoff = min(nextBackoff * 2, longestBackoff) }
        closedUntil = max(closedUntil ?? now, now.advanced(by: wait))
        return closure(at: now) ?? wait
    }

    /// Records that the source responded properly.
    mutating func succeeded() {
        nextBackoff = backoff
    }
}
