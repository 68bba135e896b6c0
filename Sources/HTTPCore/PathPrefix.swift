/// What stands before every path of a service that shares its host with others: `/pawl`. Empty for one that has the host for itself.
public struct PathPrefix: Sendable, Hashable {
    /// The prefix as it stands in a URL, without a slash at its end. It needs no escapes, neither there nor in JSON or HTML.
    public let text: String

    /// None.
    public static let none = PathPrefix(text: "")

    private init(text: String) {
        self.text = text
    }

    /// Parses segments of letters, digits, `-`, `.`, `_` and `~`, each with a slash before it; a slash behind them is left out, so that `/`
    /// is ``none``. Nil for anything else: `.` and `..`, which are no names, and empty segments, with which a link would name a host.
    public init?(parsing text: String) {
        guard text.utf8.first == ASCII.slash else { return nil }
        let whole = text.utf8.last == ASCII.slash ? text.dropLast() : text[...]
        guard whole.utf8.count <= Self.longest else { return nil }
        for segment in whole.utf8.split(separator: ASCII.slash, omittingEmptySubsequences: false).dropFirst() {
            guard !segment.isEmpty, segment.allSatisfy(ByteSet.unreserved.contains), !segment.elementsEqual(".".utf8),
                !segment.elementsEqual("..".utf8)
            else { return nil }
        }
        self.text = String(whole)
    }

    /// The longest that is taken, in bytes, without a slash behind it.
    public static let longest = 255

    /// Whether there is none.
    public var isEmpty: Bool { text.isEmpty }

    /// This prefix and another behind it.
    public static func + (left: PathPrefix, right: PathPrefix) -> PathPrefix {
        PathPrefix(text: left.text + right.text)
    }

    /// Whether this one ends with all of another.
    public func ends(with other: PathPrefix) -> Bool { text.hasSuffix(other.text) }
}
