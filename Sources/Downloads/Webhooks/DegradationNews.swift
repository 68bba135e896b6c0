internal import DownloadCore

/// Decides when an impairment of the service is news.
struct DegradationNews: Sendable {
    private var known: [StoreCondition.Degradation] = []
    /// Whether something has failed since the last test of the service.
    private(set) var isSuspected = false

    /// Whether the service should be tested without a request: after a failure, and until it works again.
    var needsTest: Bool { isSuspected || !known.isEmpty }

    /// Notes a failure that may show an impairment.
    mutating func suspect() {
        isSuspected = true
    }

    /// Notes the result of a test.
    /// - Returns: Whether an impairment has begun since the last result.
    mutating func note(_ found: [StoreCondition.Degradation]) -> Bool {
        isSuspected = false
        defer { known = found }
        return found.contains { !known.contains($0) }
    }
}
