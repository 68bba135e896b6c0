internal import HTTPCore

/// Decides by which time records, files and keys are deleted for their age.
///
/// The wall clock can be wrong: set by hand, by a time server, or restored with a virtual machine. A jump forward would
/// make everything look old at once. The new time is therefore trusted only after it has held for ``probation``,
/// measured by a clock that cannot be set. Until then the old time continues. A clock that is set back is trusted at
/// once, since that deletes nothing.
struct ClockTrust: Sendable {
    /// The time for which a jump forward has to hold.
    static let probation: Duration = .seconds(300)
    /// The largest step forward that is trusted at once. It makes nothing much older, and a service may have been off
    /// for as long.
    static let tolerance: Duration = .seconds(60)

    private struct Candidate: Sendable {
        let offset: Duration
        let since: Duration
    }

    private let probation: Duration
    /// The trusted time since 1970, minus the uptime.
    private var offset: Duration
    private var candidate: Candidate?

    /// Creates the trust at a start.
    /// - Parameters:
    ///   - lastKnown: The newest time that an earlier instance has recorded. `nil` if there is none:
    ///     the wall clock is trusted.
    ///   - wall: The time of the wall clock.
    ///   - uptime: The time of a clock that cannot be set, from any origin.
    init(lastKnown: Timestamp?, wall: Timestamp, uptime: Duration, probation: Duration = Self.probation) {
        self.probation = probation
        offset = (lastKnown ?? wall).sinceEpoch - uptime
        _ = time(wall: wall, uptime: uptime)
    }

    /// Whether the wall clock shows a time that is not trusted yet.
    var isOnProbation: Bool { candidate != nil }

    /// Updates the trusted time from both clocks.
    /// - Returns: The trusted time, by which deletions are decided.
    mutating func time(wall: Timestamp, uptime: Duration) -> Timestamp {
        let found = wall.sinceEpoch - uptime
        if found - offset <= Self.tolerance {
            offset = found
            candidate = nil
        } else if let candidate, found - candidate.offset <= Self.tolerance, candidate.offset - found <= Self.tolerance {
            if uptime - candidate.since >= probation {
                offset = found
                self.candidate = nil
            }
        } else {
            candidate = Candidate(offset: found, since: uptime)
        }
        return Timestamp(millisecondsSinceEpoch: Int64(((offset + uptime) / .milliseconds(1)).rounded()))
    }
}

extension Timestamp {
    fileprivate var sinceEpoch: Duration { .milliseconds(millisecondsSinceEpoch) }
}
