import System

/// The hosts of recent failures, for all threads. Their names are looked up anew for each connection.
///
/// libcurl keeps the addresses of a name for a minute. With an address that is gone, all attempts of a download could
/// fail in this time.
final class FailedHosts: Sendable {
    /// The time for which a failure is remembered. libcurl looks up older addresses again.
    static let memory: Duration = .seconds(60)
    /// The maximum number of hosts. When it is reached, all are removed.
    static let capacity = 4_096

    private let failures = Locked<[String: ContinuousClock.Instant]>([:])

    /// Records that a request to a host failed.
    func insert(_ host: String, now: ContinuousClock.Instant) {
        failures.withLock { failures in
            if failures.count >= Self.capacity { failures.removeAll() }
            failures[host] = now
        }
    }

    /// Whether a request to a host has failed recently.
    func contains(_ host: String, now: ContinuousClock.Instant) -> Bool {
        failures.withLock { $0[host].map { $0.duration(to: now) < Self.memory } ?? false }
    }
}
