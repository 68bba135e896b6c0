/// The attributes in a start tag, as they are written: the ranges of each name and value.
struct XMLAttributes: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var index: Int
    private let end: Int

    /// Creates the attributes in the part of a start tag after its name.
    init(_ bytes: [UInt8], in range: Range<Int>) {
        self.bytes = bytes
        (index, end) = (range.lowerBound, range.upperBound)
    }

    mutating func next() -> (name: Range<Int>, value: Range<Int>)? {
        while index < end {
            while index < end, XMLReader.isSpace(bytes[index]) || bytes[index] == UInt8(ascii: "/") { index += 1 }
            let start = index
            while index < end, !XMLReader.isSpace(bytes[index]), bytes[index] != UInt8(ascii: "=") { index += 1 }
            let name = start..<index
            skipSpace()
            guard index < end, bytes[index] == UInt8(ascii: "=") else { continue }
            index += 1
            skipSpace()
            return index < end ? (name, value()) : nil
        }
        return nil
    }

    private mutating func skipSpace() {
        while index < end, XMLReader.isSpace(bytes[index]) { index += 1 }
    }

    private mutating func value() -> Range<Int> {
        let start = index
        let quote = bytes[index]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            while index < end, !XMLReader.isSpace(bytes[index]) { index += 1 }
            return start..<index
        }
        let close = bytes[(start + 1)..<end].firstIndex(of: quote) ?? end
        index = Swift.min(close + 1, end)
        return (start + 1)..<close
    }
}
