/// The version of a download at one moment. Equal versions mean equal values, positions in the queue apart.
public struct DownloadVersion: Sendable, Hashable {
    /// The number of the publication in the index.
    let publication: UInt64
    /// Values that change between two publications.
    let bytesReceived: Int64
    let bytesPerSecond: Int64
    let stalled: Bool
    let segments: Int
    let waitingFor: WaitingReason?

    /// Hashes the values that nearly always distinguish two versions.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(publication)
        hasher.combine(bytesReceived)
    }
}

extension Download {
    /// The version of this value; `nil` for a value that did not come from the index.
    public var version: DownloadVersion? {
        guard publication > 0 else { return nil }
        return DownloadVersion(
            publication: publication, bytesReceived: bytesReceived, bytesPerSecond: bytesPerSecond, stalled: stalled,
            segments: segments, waitingFor: waitingFor)
    }
}
