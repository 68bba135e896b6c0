/// Ids that are decimal numbers.
enum DecimalID {
    /// Whether the text is a number of 1–18 digits without leading zeros, as the sources write them. The number 0 is
    /// not an id.
    static func isValid(_ text: Substring) -> Bool {
        (1...18).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "0")
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
