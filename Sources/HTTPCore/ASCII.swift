/// The bytes that delimit messages, with their names in RFC 5234, and arithmetic on ASCII letters and digits.
enum ASCII {
    static let horizontalTab: UInt8 = 0x09
    static let lineFeed: UInt8 = 0x0A
    static let carriageReturn: UInt8 = 0x0D
    static let space: UInt8 = 0x20
    static let doubleQuote: UInt8 = 0x22
    static let percent: UInt8 = 0x25
    static let comma: UInt8 = 0x2C
    static let slash: UInt8 = 0x2F
    static let colon: UInt8 = 0x3A
    static let semicolon: UInt8 = 0x3B
    static let equals: UInt8 = 0x3D
    static let questionMark: UInt8 = 0x3F
    static let backslash: UInt8 = 0x5C

    /// Maps `A`–`Z` to `a`–`z`, and every other byte to itself.
    static func lowercased(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// Whether the byte is SP or HTAB, which are white space in RFC 9110 §5.6.3.
    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == space || byte == horizontalTab
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10
    }

    static func isAlpha(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26
    }

    /// Whether the byte is a C0 control or DEL.
    static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F
    }

    /// The value of a hexadecimal digit, 0–15; nil for any other byte.
    static func hexValue(_ byte: UInt8) -> UInt8? {
        if byte &- 0x30 < 10 { return byte &- 0x30 }
        let offset = (byte | 0x20) &- 0x61
        return offset < 6 ? offset &+ 10 : nil
    }

    /// The uppercase hexadecimal digit of the low four bits of `value`.
    static func hexDigit(_ value: UInt8) -> UInt8 {
        let low = value & 0x0F
        return low < 10 ? 0x30 &+ low : 0x37 &+ low
    }

    /// The byte in an error's text: itself in quotes if visible, otherwise its number.
    static func describe(_ byte: UInt8) -> String {
        if byte > 0x20 && byte < 0x7F { return "'\(Character(UnicodeScalar(byte)))'" }
        return "byte 0x\(Character(UnicodeScalar(hexDigit(byte >> 4))))\(Character(UnicodeScalar(hexDigit(byte))))"
    }
}
