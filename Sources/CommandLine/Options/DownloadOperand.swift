public import HTTPCore

/// One thing to download, as an operand or a line of a list names it.
public enum DownloadOperand: Sendable, Equatable {
    /// A URL, as given.
    case url(HTTPURL)
    /// Results of the last search, counted from 1.
    case results(ClosedRange<Int>)

    /// Results that one range may name.
    private static let mostResults = 1000

    /// Reads a URL, a number, or two numbers with a hyphen between; `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil }
        if numbers.count == parts.count, let first = numbers.first, let last = numbers.last {
            guard first >= 1, first <= last, last <= Self.mostResults else { return nil }
            self = .results(first...last)
        } else if let url = HTTPURL(text) {
            self = .url(url)
        } else {
            return nil
        }
    }
}
