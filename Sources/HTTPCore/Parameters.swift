/// Parses `name=value` parameters separated by semicolons (RFC 9110 §5.6.6) as tolerantly as browsers do. It accepts
/// white space around the equals sign, values without required quotes, and unclosed quotes.
struct Parameters: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    /// Creates a parser of the bytes after the first semicolon.
    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    /// Returns the next parameter: its name in lowercase, and its value without quotes and escapes. Parts without `=`
    /// are skipped.
    mutating func next() -> (name: String, value: [UInt8])? {
        while !rest.isEmpty {
            let nameEnd = rest.firstIndex { $0 == ASCII.equals || $0 == ASCII.semicolon } ?? rest.endIndex
            let name = rest[..<nameEnd].trimmingWhiteSpace
            guard nameEnd < rest.endIndex, rest[nameEnd] == ASCII.equals else {
                rest = rest[nameEnd...].dropFirst()
                continue
            }
            rest = rest[(nameEnd + 1)...]
            while let byte = rest.first, ASCII.isWhiteSpace(byte) { rest = rest.dropFirst() }
            let value = rest.first == ASCII.doubleQuote ? takeQuoted() : takeUnquoted()
            if !name.isEmpty {
                return (String(fieldText: name.map(ASCII.lowercased)), value)
            }
        }
        return nil
    }

    private mutating func takeUnquoted() -> [UInt8] {
        let end = rest.firstIndex(of: ASCII.semicolon) ?? rest.endIndex
        let value = rest[..<end].trimmingWhiteSpace
        rest = rest[end...].dropFirst()
        return Array(value)
    }

    private mutating func takeQuoted() -> [UInt8] {
        var value: [UInt8] = []
        var index = rest.startIndex + 1
        while index < rest.endIndex, rest[index] != ASCII.doubleQuote {
            // RFC 9110 §5.6.4: a backslash quotes the next byte.
            if rest[index] == ASCII.backslash, index + 1 < rest.endIndex { index += 1 }
            value.append(rest[index])
            index += 1
        }
        // Text between the closing quote and the next semicolon is ignored.
        let end = rest[Swift.min(index, rest.endIndex)...].firstIndex(of: ASCII.semicolon) ?? rest.endIndex
        rest = rest[end...].dropFirst()
        return value
    }
}
