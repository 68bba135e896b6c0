/// Whether bytes that come in pieces are UTF-8: RFC 3629 §4. Says no at the first byte after which they can't be any more.
struct UTF8Check: Sendable {
    /// How many bytes of a character are still to come.
    private var missing: UInt8 = 0
    /// What the next of them may be.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// Whether no character is incomplete.
    var isComplete: Bool { missing == 0 }

    /// Takes the next bytes; false if they don't belong into UTF-8. Then it must not be used any more.
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

    /// The first byte of a character that has several.
    private mutating func begin(_ byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0...0xEF:
            missing = 2
            // Neither longer than need be, nor a surrogate.
            if byte == 0xE0 { lowest = 0xA0 }
            if byte == 0xED { highest = 0x9F }
        case 0xF0...0xF4:
            missing = 3
            // Nor beyond U+10FFFF.
            if byte == 0xF0 { lowest = 0x90 }
            if byte == 0xF4 { highest = 0x8F }
        default: return false
        }
        return true
    }

    /// Where the bytes that begin at `start` are no longer ASCII; or the end. Looks at 32 at a time, which the compiler does at once.
    private static func endOfASCII(_ bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index <= bytes.count - 32 {
            let block = bytes.extracting(index..<index + 32)
            var all: UInt8 = 0
            for place in 0..<32 { all |= block[place] }
            guard all < 0x80 else { break }
            index += 32
        }
        while index < bytes.count, bytes[index] < 0x80 { index += 1 }
        return index
    }
}
