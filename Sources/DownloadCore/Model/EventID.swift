/// A point in the order of events: an epoch, and the number of a change within it. Both rise.
public struct EventID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The epoch: one instance of a single service, or the database of a fleet. Later instances have greater epochs,
    /// even if the clock was set back.
    public let epoch: UInt64
    /// The number of changes so far in the epoch.
    public let sequence: UInt64

    /// The id before all events.
    package static let none = EventID(epoch: 0, sequence: 0)

    /// Creates an event id.
    /// - Parameters:
    ///   - epoch: The epoch.
    ///   - sequence: The number of changes so far in the epoch.
    public init(epoch: UInt64, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    /// Parses the form of ``description``, which a `Last-Event-ID` field has; `nil` for anything else.
    public init?(parsing text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = UInt64(parts[0], radix: 36), let sequence = UInt64(parts[1]) else { return nil }
        self.init(epoch: epoch, sequence: sequence)
    }

    /// The written form: `<epoch in base 36>-<sequence>`.
    public var description: String { "\(String(epoch, radix: 36))-\(sequence)" }

    /// Both numbers in one, which has the same order.
    package var value: UInt128 { UInt128(epoch) << 64 | UInt128(sequence) }

    /// Whether the left id is earlier.
    public static func < (left: EventID, right: EventID) -> Bool {
        (left.epoch, left.sequence) < (right.epoch, right.sequence)
    }
}
