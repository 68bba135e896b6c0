/// Bytes as pairs of hexadecimal digits (RFC 4648 §8).
public enum Hexadecimal {
    /// Decodes an even number of digits in either case; `nil` for anything else.
    public static func decode(_ digits: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var high: UInt8?
        for character in digits {
            guard let digit = value(of: character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        return high == nil ? bytes : nil
    }

    /// Encodes each byte as two lower-case digits.
    public static func encode(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        encode(bytes, into: &digits)
        return String(decoding: digits, as: UTF8.self)
    }

    /// Appends each byte as two lower-case digits.
    public static func encode(_ bytes: [UInt8], into digits: inout [UInt8]) {
        digits.append(addingCapacity: 2 * bytes.count) { output in
            for byte in bytes {
                output.append(digit(of: byte >> 4))
                output.append(digit(of: byte & 15))
            }
        }
    }

    /// Encodes a number as sixteen lower-case digits.
    public static func encode(_ value: UInt64) -> String {
        var digits: [UInt8] = []
        encode(value, into: &digits)
        return String(decoding: digits, as: UTF8.self)
    }

    /// Appends a number as sixteen lower-case digits.
    public static func encode(_ value: UInt64, into digits: inout [UInt8]) {
        digits.append(addingCapacity: 16) { output in
            for shift in stride(from: 60, through: 0, by: -4) {
                output.append(digit(of: UInt8(truncatingIfNeeded: value >> UInt64(shift)) & 15))
            }
        }
    }

    private static func digit(of value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
