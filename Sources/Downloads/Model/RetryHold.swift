internal import HTTPCore

/// A wait that an origin has asked for with `Retry-After`; it holds over restarts.
struct RetryHold: Sendable, Equatable {
    /// When it ends, by the clock on the wall.
    var until: Timestamp
    /// How long the whole wait is.
    var length: Duration

    init(until: Timestamp, length: Duration) {
        self.until = until
        self.length = length
    }

    /// A wait that begins now.
    init(_ length: Duration, from now: Timestamp) {
        self.init(until: now.advanced(by: length), length: length)
    }

    /// How much of it is left. Never more than the whole: the clock may have been set back since.
    func remaining(at now: Timestamp) -> Duration {
        let left = until.millisecondsSinceEpoch - now.millisecondsSinceEpoch
        return min(max(.milliseconds(left), .zero), length)
    }
}
