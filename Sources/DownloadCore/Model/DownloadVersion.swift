/// The version of a download at one moment. Equal versions mean equal values, positions in the queue apart.
public struct DownloadVersion: Sendable, Hashable {
    /// The number of the publication in the index.
    @usableFromInline package let publication: UInt64
    /// Values that change between two publications.
    @usableFromInline package let bytesReceived: Int64
    package let bytesPerSecond: Int64
    package let stalled: Bool
    package let segments: Int
    package let waitingFor: WaitingReason?

    package init(
        publication: UInt64, bytesReceived: Int64, bytesPerSecond: Int64, stalled: Bool, segments: Int, waitingFor: WaitingReason?
    ) {
        self.publication = publication
        self.bytesReceived = bytesReceived
        self.bytesPerSecond = bytesPerSecond
        self.stalled = stalled
        self.segments = segments
        self.waitingFor = waitingFor
    }

    /// Hashes the values that nearly always distinguish two versions.
    @inlinable public func hash(into hasher: inout Hasher) {
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
