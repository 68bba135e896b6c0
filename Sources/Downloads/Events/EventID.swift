/// Names one point in the order of events: the run of the service, and the number of the change within it. Both rise.
public struct EventID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The run of the service that counted. A later run has a greater one, whatever the clock says.
    public let epoch: UInt64
    /// Changes so far in that run.
    public let sequence: UInt64

    /// Before every event.
    static let none = EventID(epoch: 0, sequence: 0)

    /// - Parameters:
    ///   - epoch: the run of the service.
    ///   - sequence: changes so far in that run.
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

    /// Both in one number, which is in the same order.
    var value: UInt128 { UInt128(epoch) << 64 | UInt128(sequence) }

    /// The earlier one is the lesser.
    public static func < (left: EventID, right: EventID) -> Bool {
        (left.epoch, left.sequence) < (right.epoch, right.sequence)
    }
}
