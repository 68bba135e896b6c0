import HTTPCore

/// Dates as feeds write them: RFC 822 with its wrong variants, and ISO 8601.
enum FeedDate {
    /// Parses a date; `nil` if it has no day. A missing time is midnight, a missing or unknown zone UTC.
    static func parse(_ text: String) -> Timestamp? {
        guard text.utf8.count <= 200, let trimmed = FeedBuilder.plain(text) else { return nil }
        let bytes = trimmed.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }[...]
        return iso(bytes) ?? mail(bytes)
    }

    // MARK: - ISO 8601

    /// Parses, in lower case, `2002-10-02T15:00:00+02:00`, its parts from the front, and `20021002T150000Z`.
    private static func iso(_ text: ArraySlice<UInt8>) -> Timestamp? {
        var scanner = Scanner(rest: text)
        guard let year = scanner.number(digits: 4) else { return nil }
        guard scanner.isAtEnd || scanner.takes("-") || scanner.isDigit else { return nil }
        let month = scanner.number(digits: 2) ?? 1
        _ = scanner.takes("-")
        let day = scanner.number(digits: 2) ?? 1
        guard scanner.takes("t") || scanner.takes(" ") else {
            return scanner.isAtEnd ? moment(year, month, day, seconds: 0, offset: 0) : nil
        }
        let hour = scanner.number(digits: 2) ?? 0
        _ = scanner.takes(":")
        let minute = scanner.number(digits: 2) ?? 0
        _ = scanner.takes(":")
        let second = scanner.number(digits: 2) ?? 0
        if scanner.takes(".") || scanner.takes(",") { scanner.skipDigits() }
        _ = scanner.takes(" ")
        guard let offset = offset(scanner.rest) else { return nil }
        return moment(year, month, day, seconds: hour * 3600 + minute * 60 + second, offset: offset)
    }

    // MARK: - RFC 822

    /// Parses, in lower case, `Wed, 02 Oct 2002 15:00:00 +0200`, with its parts in most orders and without most of them.
    private static func mail(_ text: ArraySlice<UInt8>) -> Timestamp? {
        var (day, month, year): (Int?, Int?, Int?)
        var time: Int?
        var zone = 0
        var isAfternoon: Bool?
        var rest = text.drop(while: isSeparator)
        while !rest.isEmpty {
            let word = rest.prefix { !isSeparator($0) }
            rest = rest[word.endIndex...].drop(while: isSeparator)
            if time == nil, word.contains(UInt8(ascii: ":")), let seconds = self.time(word) {
                time = seconds
            } else if month == nil, let found = self.month(word) {
                month = found
            } else if let dash = dashed(word) {
                (day, month, year) = (dash.day, dash.month, dash.year)
            } else if let (number, digits) = number(word) {
                if day == nil, digits <= 2 {
                    day = number
                } else if year == nil, digits == 2 || digits == 4 {
                    year = digits == 4 ? number : number < 70 ? 2000 + number : 1900 + number
                }
            } else if time != nil, word.elementsEqual("am".utf8) || word.elementsEqual("pm".utf8) {
                isAfternoon = word.first == UInt8(ascii: "p")
            } else if time != nil, let found = offset(word) {
                zone = found
            }
        }
        guard let day, let month, let year else { return nil }
        var seconds = time ?? 0
        if let isAfternoon, seconds / 3600 <= 12 {
            seconds = seconds % (12 * 3600) + (isAfternoon ? 12 * 3600 : 0)
        }
        return moment(year, month, day, seconds: seconds, offset: zone)
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: ","), UInt8(ascii: "("), UInt8(ascii: ")"): true
        default: false
        }
    }

    /// Parses the day of the month with a suffix: `2`, `02`, `2nd`.
    private static func number(_ word: ArraySlice<UInt8>) -> (value: Int, digits: Int)? {
        let digits = word.prefix(while: isDigit)
        guard !digits.isEmpty, digits.count <= 4 else { return nil }
        let rest = word[digits.endIndex...]
        guard rest.isEmpty || ["st", "nd", "rd", "th", "."].contains(where: { rest.elementsEqual($0.utf8) }) else { return nil }
        return (value(digits), digits.count)
    }

    /// Parses `02-Oct-2002`.
    private static func dashed(_ word: ArraySlice<UInt8>) -> (day: Int, month: Int, year: Int)? {
        guard word.contains(UInt8(ascii: "-")) else { return nil }
        let parts = word.split(separator: UInt8(ascii: "-"))
        guard parts.count == 3, let day = number(parts[0])?.value, let month = month(parts[1]), let year = number(parts[2])?.value
        else { return nil }
        return (day, month, year < 70 ? 2000 + year : year < 100 ? 1900 + year : year)
    }

    private static func month(_ word: ArraySlice<UInt8>) -> Int? {
        guard word.count >= 3 else { return nil }
        let start = packed(word.prefix(3))
        return months.firstIndex(of: start).map { $0 + 1 }
    }

    /// The first three letters of each month.
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"].map {
        packed($0.utf8)
    }

    /// Returns the bytes of a short word as one number.
    private static func packed(_ word: some Sequence<UInt8>) -> UInt32 { word.reduce(0) { $0 << 8 | UInt32($1) } }

    /// Parses `15:00`, `15:00:00` or `15:00:00.123`, in seconds.
    private static func time(_ word: ArraySlice<UInt8>) -> Int? {
        var seconds = 0
        var count = 0
        var rest = word
        repeat {
            let digits = rest.prefix(while: isDigit)
            guard (1...2).contains(digits.count), count < 3 else { return nil }
            seconds = seconds * 60 + value(digits)
            count += 1
            rest = rest[digits.endIndex...].drop { $0 != UInt8(ascii: ":") }.dropFirst()
        } while !rest.isEmpty
        return count == 1 ? nil : count == 2 ? seconds * 60 : seconds
    }

    // MARK: - Zones

    /// Returns the offset of a zone in seconds: `+0200`, `+02:00`, `GMT+2`, `EST`; `nil` for other texts.
    private static func offset(_ zone: ArraySlice<UInt8>) -> Int? {
        let name = zone.prefix { $0 &- 0x61 < 26 }
        let known = name.isEmpty ? 0 : zones[String(decoding: name, as: UTF8.self)]
        let rest = zone[name.endIndex...]
        guard let sign = rest.first else { return known ?? (name.count <= 5 ? 0 : nil) }
        // The minus sign of typesetters has three bytes.
        let isWest = sign == UInt8(ascii: "-") || rest.starts(with: "−".utf8)
        guard isWest || sign == UInt8(ascii: "+") else { return nil }
        let digits = rest.dropFirst(sign < 0x80 ? 1 : 3).filter { $0 != UInt8(ascii: ":") }
        guard (1...6).contains(digits.count), digits.allSatisfy(isDigit) else { return nil }
        let number = value(digits[...])
        let (hours, minutes) = digits.count <= 2 ? (number, 0) : (number / 100, number % 100)
        guard hours <= 26, minutes < 60 else { return nil }
        return (known ?? 0) + (hours * 3600 + minutes * 60) * (isWest ? -1 : 1)
    }

    /// The offsets of zones in seconds, by their names in lower case.
    private static let zones: [String: Int] = {
        let hours: [String: Double] = [
            "z": 0, "ut": 0, "utc": 0, "gmt": 0, "wet": 0, "bst": 1, "west": 1, "cet": 1, "mez": 1, "cest": 2, "mesz": 2,
            "eet": 2, "eest": 3, "msk": 3, "ist": 5.5, "jst": 9, "kst": 9, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
            "ast": -4, "adt": -3, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7,
            "akst": -9, "akdt": -8, "hst": -10, "et": -5, "ct": -6, "mt": -7, "pt": -8,
        ]
        return hours.mapValues { Int($0 * 3600) }
    }()

    private static func moment(_ year: Int, _ month: Int, _ day: Int, seconds: Int, offset: Int) -> Timestamp? {
        // Earlier years are the zero times of programs, such as `0001-01-01`, and shortened ones.
        guard (1000...9999).contains(year), let midnight = Timestamp(year: year, month: month, day: day),
            (0...90_000).contains(seconds)
        else { return nil }
        return Timestamp(millisecondsSinceEpoch: midnight.millisecondsSinceEpoch + Int64(seconds - offset) * 1000)
    }

    // MARK: - Digits

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    /// Returns the number that a few digits stand for.
    private static func value(_ digits: ArraySlice<UInt8>) -> Int { digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } }

    /// Reads the parts of an ISO date.
    private struct Scanner {
        private(set) var rest: ArraySlice<UInt8>

        var isAtEnd: Bool { rest.isEmpty }
        var isDigit: Bool { rest.first.map(FeedDate.isDigit) ?? false }

        init(rest: ArraySlice<UInt8>) { self.rest = rest }

        mutating func takes(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }

        mutating func number(digits: Int) -> Int? {
            let piece = rest.prefix(digits)
            guard piece.count == digits, piece.allSatisfy(FeedDate.isDigit) else { return nil }
            rest = rest.dropFirst(digits)
            return value(piece)
        }

        mutating func skipDigits() { rest = rest.drop(while: FeedDate.isDigit) }
    }
}
