/// The natural order of names: `2.mp3` before `10.mp3`, ignoring case.
enum NaturalOrder {
    /// Whether the first name precedes the second. Names that are otherwise equal are ordered by bytes.
    static func precedes(_ first: String, _ second: String) -> Bool {
        var (left, right) = (Array(first.utf8)[...], Array(second.utf8)[...])
        while let (a, b) = left.first.flatMap({ a in right.first.map { (a, $0) } }) {
            if isDigit(a), isDigit(b) {
                let (x, y) = (takeNumber(&left), takeNumber(&right))
                // Without leading zeros, the number with more digits is larger.
                if x.count != y.count { return x.count < y.count }
                if !x.elementsEqual(y) { return x.lexicographicallyPrecedes(y) }
            } else {
                if lowercased(a) != lowercased(b) { return lowercased(a) < lowercased(b) }
                left.removeFirst()
                right.removeFirst()
            }
        }
        if left.isEmpty != right.isEmpty { return left.isEmpty }
        return first.utf8.lexicographicallyPrecedes(second.utf8)
    }

    private static func takeNumber(_ text: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let number = text.prefix(while: isDigit)
        text = text.dropFirst(number.count)
        return number.drop { $0 == UInt8(ascii: "0") }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
