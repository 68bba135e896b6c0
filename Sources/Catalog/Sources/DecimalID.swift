/// Ids that are numbers.
enum DecimalID {
    /// Whether the text is a number within 64 bits, written in digits as the source itself writes it.
    static func isValid(_ text: Substring) -> Bool {
        guard let number = Int64(text), number >= 0 else { return false }
        return text == String(number)[...]
    }
}
