/// Reads the parts of a date in order. Each `take` returns false or nil, and consumes nothing, if its part is not next.
struct DateScanner {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var peek: UInt8? { rest.first }

    mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    /// Takes a letter in either case; `lowercase` is its lowercase form.
    mutating func take(character lowercase: UInt8) -> Bool {
        guard let first = rest.first, ASCII.lowercased(first) == lowercase else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func takeName(of names: [String]) -> Bool {
        names.contains { take($0) }
    }

    mutating func takeMonth() -> Int? {
        CivilDate.monthNames.firstIndex { take($0) }.map { $0 + 1 }
    }

    mutating func takeNumber(digits: Int) -> Int? {
        guard rest.count >= digits, let value = rest.prefix(digits).decimalValue else { return nil }
        rest = rest.dropFirst(digits)
        return Int(value)
    }

    /// Takes all digits that are next, at least one.
    mutating func takeDigits() -> ArraySlice<UInt8>? {
        let digits = rest.prefix(while: ASCII.isDigit)
        rest = rest.dropFirst(digits.count)
        return digits.isEmpty ? nil : digits
    }

    /// Takes a time such as `08:49:37`, in seconds. A leap second is 60.
    mutating func takeTime() -> Int? {
        guard let hour = takeNumber(digits: 2), take(":"), let minute = takeNumber(digits: 2), take(":"),
            let second = takeNumber(digits: 2), hour < 24, minute < 60, second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }
}
