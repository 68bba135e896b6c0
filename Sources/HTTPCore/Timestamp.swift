/// A moment to the millisecond, printed as RFC 3339 in UTC: `2026-11-21T09:16:07.123Z`.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970-01-01T00:00:00Z without leap seconds, in the years 0–9999.
    public let millisecondsSinceEpoch: Int64

    /// A moment; those outside the years 0–9999 are clamped, for a timestamp has four digits of year.
    public init(millisecondsSinceEpoch: Int64) {
        self.millisecondsSinceEpoch = min(
            max(millisecondsSinceEpoch, CivilDate.earliestSecond * 1000), CivilDate.latestSecond * 1000 + 999)
    }

    /// Orders by time.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.millisecondsSinceEpoch < right.millisecondsSinceEpoch
    }

    /// The whole second it is in, for date fields.
    public var httpDate: HTTPDate {
        HTTPDate(secondsSinceEpoch: (millisecondsSinceEpoch - (millisecondsSinceEpoch % 1000 + 1000) % 1000) / 1000)
    }

    /// Appends 24 bytes: `2026-11-21T09:16:07.123Z`.
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

    /// Reads an RFC 3339 date-time with any offset and any number of fraction digits, of which three count; nil for
    /// anything else. A leap second is the one after 59. Lowercase `t` and `z` are accepted (RFC 3339 §5.6), a space for
    /// the `T` is not.
    public init?(parsing text: String) {
        var rest = Array(text.utf8)[...]

        func takeNumber(_ digits: Int) -> Int? {
            guard rest.count >= digits, let value = rest.prefix(digits).decimalValue else { return nil }
            rest = rest.dropFirst(digits)
            return Int(value)
        }
        func take(_ byte: UInt8) -> Bool {
            guard let first = rest.first, first == byte || ASCII.isAlpha(byte) && first == byte | 0x20 else { return false }
            rest = rest.dropFirst()
            return true
        }

        guard let year = takeNumber(4), take(UInt8(ascii: "-")), let month = takeNumber(2), take(UInt8(ascii: "-")),
            let day = takeNumber(2), let date = CivilDate(year: year, month: month, day: day), take(UInt8(ascii: "T")),
            let hour = takeNumber(2), hour < 24, take(ASCII.colon), let minute = takeNumber(2), minute < 60,
            take(ASCII.colon), let second = takeNumber(2), second <= 60
        else { return nil }
        var milliseconds = 0
        if take(UInt8(ascii: ".")) {
            let digits = rest.prefix(while: ASCII.isDigit)
            guard !digits.isEmpty else { return nil }
            var scale = 100
            for digit in digits.prefix(3) {
                milliseconds += Int(digit &- 0x30) * scale
                scale /= 10
            }
            rest = rest.dropFirst(digits.count)
        }
        var offset = 0
        if !take(UInt8(ascii: "Z")) {
            let isBehind = rest.first == UInt8(ascii: "-")
            guard isBehind || rest.first == UInt8(ascii: "+") else { return nil }
            rest = rest.dropFirst()
            guard let hours = takeNumber(2), hours < 24, take(ASCII.colon), let minutes = takeNumber(2), minutes < 60
            else { return nil }
            offset = (hours * 60 + minutes) * (isBehind ? -60 : 60)
        }
        guard rest.isEmpty else { return nil }
        let seconds = date.daysSinceEpoch * 86_400 + hour * 3600 + minute * 60 + second - offset
        self.init(millisecondsSinceEpoch: Int64(seconds * 1000 + milliseconds))
    }
}

extension Timestamp: CustomStringConvertible {
    /// `2026-11-21T09:16:07.123Z`.
    public var description: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        encode(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
