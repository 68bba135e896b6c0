package import DownloadCore
package import HTTPCore

extension Retention {
    /// Returns queries for all downloads that have been kept for long enough.
    package func expired(now: Timestamp) -> [ListQuery] {
        var queries: [ListQuery] = []
        func add(_ states: Set<DownloadState>, _ limit: Duration?) {
            guard let limit else { return }
            // `endedBefore` is exclusive: one millisecond more includes downloads that ended exactly one limit ago.
            let before = now.advanced(by: .milliseconds(1) - limit)
            queries.append(ListQuery(states: states, endedBefore: before))
        }
        add([.completed], completed)
        add([.failed, .cancelled], ended)
        return queries
    }
}
