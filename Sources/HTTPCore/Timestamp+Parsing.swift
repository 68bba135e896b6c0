extension Timestamp {
    /// Parses an RFC 3339 date-time with any offset and any number of fraction digits. The first three count.
    /// Nil for anything else. A leap second is 60. Lowercase `t` and `z` are accepted (RFC 3339 §5.6); a space for the
    /// `T` is not.
    public init?(parsing text: String) {
        var scanner = DateScanner(Array(text.utf8)[...])
        guard let date = scanner.takeISODate(), scanner.take(character: UInt8(ascii: "t")), let time = scanner.takeTime(),
            let milliseconds = scanner.takeFraction(), let offset = scanner.takeOffset(), scanner.rest.isEmpty
        else { return nil }
        let seconds = date.daysSinceEpoch * 86_400 + time - offset
        self.init(millisecondsSinceEpoch: Int64(seconds * 1000 + milliseconds))
    }
}

extension DateScanner {
    /// Takes a date such as `2026-11-21`.
    fileprivate mutating func takeISODate() -> CivilDate? {
        guard let year = takeNumber(digits: 4), take("-"), let month = takeNumber(digits: 2), take("-"),
            let day = takeNumber(digits: 2)
        else { return nil }
        return CivilDate(year: year, month: month, day: day)
    }

    /// Takes a fraction such as `.123`, in milliseconds; 0 if there is none.
    fileprivate mutating func takeFraction() -> Int? {
        guard take(".") else { return 0 }
        guard let digits = takeDigits() else { return nil }
        var milliseconds = 0
        for index in 0..<3 {
            milliseconds = milliseconds * 10 + (digits.dropFirst(index).first.map { Int($0 &- 0x30) } ?? 0)
        }
        return milliseconds
    }

    /// Takes an offset, `Z` or one such as `+01:30`, in seconds.
    fileprivate mutating func takeOffset() -> Int? {
        if take(character: UInt8(ascii: "z")) { return 0 }
        let isBehind = take("-")
        guard isBehind || take("+"), let hours = takeNumber(digits: 2), hours < 24, take(":"),
            let minutes = takeNumber(digits: 2), minutes < 60
        else { return nil }
        return (hours * 60 + minutes) * (isBehind ? -60 : 60)
    }
}
