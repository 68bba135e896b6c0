/// Tells what one download looked like at one moment from what it looked like at any other: equal versions, equal values.
public struct DownloadVersion: Sendable, Hashable {
    /// Which of the snapshots that were ever published.
    let publication: UInt64
    /// The counters that go on between two of them.
    let bytesReceived: Int64
    let bytesPerSecond: Int64
    let stalled: Bool
    let segments: Int
    let waitingFor: WaitingReason?

    /// Hashes what nearly always tells two apart.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(publication)
        hasher.combine(bytesReceived)
    }
}

extension Download {
    /// Which version this is; `nil` for a value that didn't come from the index.
    public var version: DownloadVersion? {
        guard publication > 0 else { return nil }
        return DownloadVersion(
            publication: publication, bytesReceived: bytesReceived, bytesPerSecond: bytesPerSecond, stalled: stalled,
            segments: segments, waitingFor: waitingFor)
    }
}
