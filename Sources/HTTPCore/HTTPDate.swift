/// A date of HTTP's fields, in UTC with a resolution of one second: RFC 9110 §5.6.7.
public struct HTTPDate: Sendable, Hashable, Comparable {
    /// Seconds since 1970-01-01T00:00:00Z without leap seconds, in the years 0–9999.
    public let secondsSinceEpoch: Int64

    /// Creates a date. Dates outside the years 0–9999 are clamped, since the form has four digits of the year.
    public init(secondsSinceEpoch: Int64) {
        self.secondsSinceEpoch = min(max(secondsSinceEpoch, CivilDate.earliestSecond), CivilDate.latestSecond)
    }

    /// Orders by time.
    public static func < (left: HTTPDate, right: HTTPDate) -> Bool {
        left.secondsSinceEpoch < right.secondsSinceEpoch
    }

    /// Appends the date as an IMF-fixdate, 29 bytes: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public func encode(into bytes: inout [UInt8]) {
        let seconds = Int(secondsSinceEpoch)
        var days = seconds / 86_400
        var second = seconds % 86_400
        if second < 0 {
            second += 86_400
            days -= 1
        }
        let date = CivilDate(daysSinceEpoch: days)
        bytes.append(contentsOf: CivilDate.dayNames[CivilDate.weekday(daysSinceEpoch: days)].utf8)
        bytes.append(ASCII.comma)
        bytes.append(ASCII.space)
        bytes.append(decimal: date.day, width: 2)
        bytes.append(ASCII.space)
        bytes.append(contentsOf: CivilDate.monthNames[date.month - 1].utf8)
        bytes.append(ASCII.space)
        bytes.append(decimal: date.year, width: 4)
        bytes.append(ASCII.space)
        bytes.append(decimal: second / 3600, width: 2)
        bytes.append(ASCII.colon)
        bytes.append(decimal: second / 60 % 60, width: 2)
        bytes.append(ASCII.colon)
        bytes.append(decimal: second % 60, width: 2)
        bytes.append(contentsOf: " GMT".utf8)
    }
}

extension HTTPDate: CustomStringConvertible {
    /// The date as an IMF-fixdate.
    public var description: String {
        var bytes: [UInt8] = []
        encode(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
