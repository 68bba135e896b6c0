package import HTTPCore

/// A wait that an origin has asked for with `Retry-After`. It continues after a restart.
package struct RetryHold: Sendable, Equatable {
    /// The end of the wait, by the wall clock.
    package var until: Timestamp
    /// The length of the whole wait.
    package var length: Duration

    package init(until: Timestamp, length: Duration) {
        self.until = until
        self.length = length
    }

    /// Creates a wait that begins now.
    package init(_ length: Duration, from now: Timestamp) {
        self.init(until: now.advanced(by: length), length: length)
    }

    /// Returns the remaining time. It never exceeds the whole wait, since the clock may have been set back.
    package func remaining(at now: Timestamp) -> Duration {
        let left = until.millisecondsSinceEpoch - now.millisecondsSinceEpoch
        return min(max(.milliseconds(left), .zero), length)
    }
}
