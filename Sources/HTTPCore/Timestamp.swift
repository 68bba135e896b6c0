/// A moment with a resolution of one millisecond. Its text is RFC 3339 in UTC: `2026-11-21T09:16:07.123Z`.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970-01-01T00:00:00Z without leap seconds, in the years 0–9999.
    public let millisecondsSinceEpoch: Int64

    /// Creates a timestamp. Moments outside the years 0–9999 are clamped, since the text has four digits of the year.
    public init(millisecondsSinceEpoch: Int64) {
        self.millisecondsSinceEpoch = min(
            max(millisecondsSinceEpoch, CivilDate.earliestSecond * 1000), CivilDate.latestSecond * 1000 + 999)
    }

    /// Orders by time.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.millisecondsSinceEpoch < right.millisecondsSinceEpoch
    }

    /// Appends the text of 24 bytes: `2026-11-21T09:16:07.123Z`.
    public func encode(into bytes: inout [UInt8]) {
        let milliseconds = Int(millisecondsSinceEpoch)
        var days = milliseconds / 86_400_000
        var rest = milliseconds % 86_400_000
        if rest < 0 {
            rest += 86_400_000
            days -= 1
        }
        let date = CivilDate(daysSinceEpoch: days)
        bytes.append(decimal: date.year, width: 4)
        bytes.append(UInt8(ascii: "-"))
        bytes.append(decimal: date.month, width: 2)
        bytes.append(UInt8(ascii: "-"))
        bytes.append(decimal: date.day, width: 2)
        bytes.append(UInt8(ascii: "T"))
        bytes.append(decimal: rest / 3_600_000, width: 2)
        bytes.append(ASCII.colon)
        bytes.append(decimal: rest / 60_000 % 60, width: 2)
        bytes.append(ASCII.colon)
        bytes.append(decimal: rest / 1000 % 60, width: 2)
        bytes.append(UInt8(ascii: "."))
        bytes.append(decimal: rest % 1000, width: 3)
        bytes.append(UInt8(ascii: "Z"))
    }
}

extension Timestamp: CustomStringConvertible {
    /// The text in UTC: `2026-11-21T09:16:07.123Z`.
    public var description: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        encode(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension Timestamp {
    /// Creates the start of a day in UTC; `nil` if the calendar lacks it.
    /// - Parameters:
    ///   - year: The year, 0–9999.
    ///   - month: The month, 1–12.
    ///   - day: The day of the month, 1–31.
    public init?(year: Int, month: Int, day: Int) {
        guard let date = CivilDate(year: year, month: month, day: day) else { return nil }
        self.init(millisecondsSinceEpoch: Int64(date.daysSinceEpoch) * 86_400_000)
    }
}
