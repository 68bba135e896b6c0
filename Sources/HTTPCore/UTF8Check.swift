/// An incremental check for UTF-8: RFC 3629 §4. It fails at the first byte that makes the text invalid.
struct UTF8Check: Sendable {
    /// The number of bytes that the current character lacks.
    private var missing: UInt8 = 0
    /// The range of the next such byte.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// Whether the text ends with a complete character.
    var isComplete: Bool { missing == 0 }

    /// Checks the next bytes; returns false if the text is not UTF-8. The value must not be used after that.
    mutating func accept(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            if missing == 0 {
                index = Self.endOfASCII(bytes, from: index)
                guard index < bytes.count else { return true }
                guard begin(bytes[index]) else { return false }
            } else {
                guard bytes[index] >= lowest, bytes[index] <= highest else { return false }
                missing -= 1
                lowest = 0x80
                highest = 0xBF
            }
            index += 1
        }
        return true
    }

    /// Begins a character of several bytes; returns false if the byte cannot begin one.
    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0...0xEF:
            missing = 2
            // Excludes overlong forms and surrogates.
            if byte == 0xE0 { lowest = 0xA0 }
            if byte == 0xED { highest = 0x9F }
        case 0xF0...0xF4:
            missing = 3
            // Excludes overlong forms and values beyond U+10FFFF.
            if byte == 0xF0 { lowest = 0x90 }
            if byte == 0xF4 { highest = 0x8F }
        default: return false
        }
        return true
    }

    /// The offset of the first byte from `start` that is not ASCII, or the end. It examines 32 bytes at a time, which
    /// the compiler vectorises.
    private static func endOfASCII(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index <= bytes.count - 32 {
            let block = bytes.extracting(index..<index + 32)
            var all: UInt8 = 0
            for index in 0..<32 { all |= block[index] }
            guard all < 0x80 else { break }
            index += 32
        }
        while index < bytes.count, bytes[index] < 0x80 { index += 1 }
        return index
    }
}
