/// The prefix of all paths of a service that shares its host with others: `/pawl`. Empty for a service with a host of
/// its own.
public struct PathPrefix: Sendable, Hashable {
    /// The prefix in a URL, without a trailing slash. It needs no escapes in URLs, JSON or HTML.
    public let text: String

    /// The empty prefix.
    public static let none = PathPrefix(text: "")

    private init(text: String) {
        self.text = text
    }

    /// Parses segments of letters, digits, `-`, `.`, `_` and `~`, each after a slash. A trailing slash is removed, so
    /// that `/` is ``none``. Nil for anything else, including the segments `.` and `..`. Empty segments are refused,
    /// since a link that begins with two slashes would name a host.
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

    /// The maximum length in bytes, without a trailing slash.
    public static let longest = 255

    /// Whether the prefix is empty.
    public var isEmpty: Bool { text.isEmpty }

    /// Appends another prefix to this one.
    public static func + (left: PathPrefix, right: PathPrefix) -> PathPrefix {
        PathPrefix(text: left.text + right.text)
    }

    /// Whether this prefix ends with another one.
    public func ends(with other: PathPrefix) -> Bool { text.hasSuffix(other.text) }
}
