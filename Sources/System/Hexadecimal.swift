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
        let digits = [UInt8](capacity: 2 * bytes.count) { output in
            for byte in bytes {
                output.append(digit(of: byte >> 4))
                output.append(digit(of: byte & 15))
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Encodes a number as sixteen lower-case digits.
    public static func encode(_ value: UInt64) -> String {
        encode((0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * $0)) })
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
