/// Ids that are numbers.
enum DecimalID {
    /// Whether the text is a number of 1–18 digits, without zeros in front, as the sources write them. None has the number 0.
    static func isValid(_ text: Substring) -> Bool {
        (1...18).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "0")
            && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
