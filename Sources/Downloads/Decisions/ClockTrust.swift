internal import HTTPCore

/// Decides by which time records, files and keys are deleted for their age.
///
/// The clock on the wall can be wrong: set by hand, by a time server, or restored with a virtual machine. A clock that jumps forward would
/// make everything look old at once. So a time that lies ahead is not believed before it has held for ``probation`` by a clock that
/// cannot be set; until then the old time runs on. A clock that is set back is believed at once: that deletes nothing.
struct ClockTrust: Sendable {
    /// How long a time that lies ahead has to hold.
    static let probation: Duration = .seconds(300)
    /// A step forward up to this is believed at once: it makes nothing much older, and a service may have been off for so long.
    static let tolerance: Duration = .seconds(60)

    private struct Candidate: Sendable {
        let offset: Duration
        let since: Duration
    }

    private let probation: Duration
    /// The believed time since 1970, less the uptime.
    private var offset: Duration
    private var candidate: Candidate?

    /// - Parameters:
    ///   - lastKnown: the newest time that an earlier run has recorded; `nil`: there is none, and the clock is believed.
    ///   - wall: the clock on the wall.
    ///   - uptime: the clock that cannot be set, from any start.
    init(lastKnown: Timestamp?, wall: Timestamp, uptime: Duration, probation: Duration = Self.probation) {
        self.probation = probation
        offset = (lastKnown ?? wall).sinceEpoch - uptime
        _ = time(wall: wall, uptime: uptime)
    }

    /// Whether the clock shows a time that is not believed yet.
    var isOnProbation: Bool { candidate != nil }

    /// Takes both clocks.
    /// - Returns: the time by which may be deleted.
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
