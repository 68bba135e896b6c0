extension HTTPDate {
    /// Parses the three forms that recipients must accept, exactly by their grammar: `Sun, 06 Nov 1994 08:49:37 GMT`,
    /// `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
    ///
    /// The name of the day must be valid, but is not compared with the date. The second form has two digits of the
    /// year. With `now`, a year more than 50 years ahead means the past one, as the RFC requires. Without it, 70–99 are
    /// 1970–1999 and 00–69 are 2000–2069.
    public init?(parsing text: String, now: HTTPDate? = nil) {
        self.init(parsing: Array(text.utf8)[...], now: now)
    }

    /// Parses a date from the bytes of a field value.
    public init?(parsing bytes: ArraySlice<UInt8>, now: HTTPDate? = nil) {
        var scanner = DateScanner(bytes)
        if scanner.takeName(of: CivilDate.longDayNames) {
            // Tried first, since the long names begin with the short ones.
            guard let date = scanner.takeRFC850Date(now: now) else { return nil }
            self = date
        } else if scanner.takeName(of: CivilDate.dayNames) {
            guard let date = scanner.peek == ASCII.comma ? scanner.takeFixedDate() : scanner.takeAsctimeDate() else {
                return nil
            }
            self = date
        } else {
            return nil
        }
    }
}

extension DateScanner {
    fileprivate mutating func takeFixedDate() -> HTTPDate? {
        guard take(", "), let day = takeNumber(digits: 2), take(" "), let month = takeMonth(), take(" "),
            let year = takeNumber(digits: 4), take(" "), let time = takeTime(), take(" GMT")
        else { return nil }
        return date(year, month, day, time)
    }

    fileprivate mutating func takeRFC850Date(now: HTTPDate?) -> HTTPDate? {
        guard take(", "), let day = takeNumber(digits: 2), take("-"), let month = takeMonth(), take("-"),
            let shortYear = takeNumber(digits: 2), take(" "), let time = takeTime(), take(" GMT")
        else { return nil }
        guard let now else { return date(shortYear + (shortYear < 70 ? 2000 : 1900), month, day, time) }
        let thisYear = CivilDate(daysSinceEpoch: Int(now.secondsSinceEpoch) / 86_400).year
        // RFC 9110 §5.6.7: more than 50 years ahead means the most recent past year with these digits.
        var year = thisYear - thisYear % 100 + shortYear
        if year - thisYear > 50 { year -= 100 }
        return date(year, month, day, time)
    }

    fileprivate mutating func takeAsctimeDate() -> HTTPDate? {
        guard take(" "), let month = takeMonth(), take(" ") else { return nil }
        guard let day = take(" ") ? takeNumber(digits: 1) : takeNumber(digits: 2), take(" "),
            let time = takeTime(), take(" "), let year = takeNumber(digits: 4)
        else { return nil }
        return date(year, month, day, time)
    }

    private func date(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> HTTPDate? {
        guard rest.isEmpty, let civil = CivilDate(year: year, month: month, day: day) else { return nil }
        return HTTPDate(secondsSinceEpoch: Int64(civil.daysSinceEpoch * 86_400 + time))
    }
}
