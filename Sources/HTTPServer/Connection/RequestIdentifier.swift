internal import HTTPCore

/// Makes names for requests that bring none: 64 bits that don't repeat within a loop, as 13 characters of base 32.
struct RequestIdentifier {
    private var counter = UInt64.random(in: .min ... .max)

    /// The client's own name if it is one: 1–128 letters, digits and `-_.:/+=`. Nothing that could be mistaken
    /// for something else in a log.
    static func accepted(_ fields: borrowing Fields) -> String? {
        guard let bytes = fields.bytes(.xRequestId), !bytes.isEmpty, bytes.count <= 128 else { return nil }
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "+"),
                UInt8(ascii: "="):
                continue
            default: return nil
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A new name. Short enough for a String that needs no storage of its own.
    mutating func next() -> String {
        counter &+= 0x9E37_79B9_7F4A_7C15
        // The finishing steps of SplitMix64: neighbours look unrelated, and no two values meet.
        var bits = counter
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        bits ^= bits >> 31
        var digits = InlineArray<13, UInt8>(repeating: 0)
        for index in digits.indices {
            let digit = UInt8(truncatingIfNeeded: bits & 31)
            digits[index] = digit < 10 ? 0x30 + digit : 0x61 + digit - 10
            bits >>= 5
        }
        guard let text = try? UTF8Span(validating: digits.span) else { return "" }
        return String(copying: text)
    }
}
