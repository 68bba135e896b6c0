/// A number of bytes, or of bytes per second, in the form that users write: `2M`, `500k`, `1.5G`, `4096`.
public struct ByteCount: Sendable, Equatable {
    /// The accepted form, for messages. It follows "bytes" or "bytes per second".
    public static let accepted = "0 or more, optionally with K, M, G or T for 1024 each, such as 2M"

    /// The number of bytes, 0 or more.
    public let bytes: Int64

    /// Parses a number and an optional unit in either case. Only a number with a unit may have a fraction.
    ///
    /// `nil` for any other text, and for a number that exceeds 63 bits.
    public init?(parsing text: String) {
        var digits = text[...]
        var unit: Int64 = 1
        switch digits.last {
        case "k", "K": unit = 1 << 10
        case "m", "M": unit = 1 << 20
        case "g", "G": unit = 1 << 30
        case "t", "T": unit = 1 << 40
        default: break
        }
        if unit > 1 { digits.removeLast() }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap(Self.number), parts.count == 1 || parts.count == 2 && unit > 1 else { return nil }
        let (wholeBytes, overflow) = whole.multipliedReportingOverflow(by: unit)
        guard !overflow else { return nil }
        guard parts.count == 2 else {
            self.bytes = wholeBytes
            return
        }
        // With more than six digits, `fraction * unit` could overflow.
        guard parts[1].count <= 6, let fraction = Self.number(parts[1]) else { return nil }
        var scale: Int64 = 1
        for _ in parts[1] { scale *= 10 }
        let (sum, sumOverflow) = wholeBytes.addingReportingOverflow(fraction * unit / scale)
        guard !sumOverflow else { return nil }
        self.bytes = sum
    }

    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(text)
    }
}
