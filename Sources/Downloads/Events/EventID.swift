/// Names one point in the order of events: the run of the service, and the number of the transition within it.
public struct EventID: Sendable, Hashable, CustomStringConvertible {
    /// The run of the service that counted; another run's numbers mean nothing here.
    public let epoch: UInt64
    /// Transitions so far.
    public let sequence: UInt64

    /// - Parameters:
    ///   - epoch: the run of the service.
    ///   - sequence: transitions so far.
    public init(epoch: UInt64, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    /// Reads the form that ``description`` writes, as a `Last-Event-ID` field carries it.
    public init?(parsing text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = UInt64(parts[0], radix: 36), let sequence = UInt64(parts[1]) else { return nil }
        self.init(epoch: epoch, sequence: sequence)
    }

    /// `<epoch in base 36>-<sequence>`.
    public var description: String { "\(String(epoch, radix: 36))-\(sequence)" }
}
