public import HTTPCore

/// A file to download, as an operand or a line of a list names it.
public enum DownloadOperand: Sendable, Equatable {
    /// A URL, as given.
    case url(HTTPURL)
    /// Results of the last search or listing of parts, counted from 1.
    case results(ClosedRange<Int>)
    /// An item by its id, such as `itunes:263301273`. The service checks the source.
    case item(String)

    /// The maximum number of a result.
    private static let maximumResult = 1000

    /// Parses a URL, a number, two numbers with a hyphen, or an id; `nil` for anything else.
    public init?(_ text: String) {
        if let (first, last) = Self.numbers(text) {
            guard first >= 1, first <= last, last <= Self.maximumResult else { return nil }
            self = .results(first...last)
        } else if let url = HTTPURL(text) {
            self = .url(url)
        } else if Self.isID(text) {
            self = .item(text)
        } else {
            return nil
        }
    }

    /// Parses a number, or two numbers with a hyphen, such as `2-4`; `nil` for anything else. The first one may be the
    /// greater one.
    public static func numbers(_ text: String) -> (first: Int, last: Int)? {
        let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil }
        guard numbers.count == parts.count, let first = numbers.first, let last = numbers.last else { return nil }
        return (first, last)
    }

    /// Whether a text has the form of an id: a source's name, a colon and the source's own id. A text like a URL is not
    /// an id.
    private static func isID(_ text: String) -> Bool {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, !parts[1].hasPrefix("//"), !["http", "https"].contains(parts[0]) else {
            return false
        }
        return !parts[0].isEmpty && parts[0].utf8.allSatisfy { (0x61...0x7A).contains($0) }
    }
}
