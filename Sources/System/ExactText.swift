/// Text from clients or origins that is compared and hashed by its bytes.
///
/// Swift compares text by canonical equivalence: `"caf\u{e9}"` equals `"cafe\u{301}"`, and Å (U+00C5) equals the
/// ångström sign (U+212B). As keys of dictionaries, such texts must differ. SQLite, PostgreSQL and HTTP compare bytes,
/// too.
public struct ExactText: Sendable, Hashable {
    /// The text.
    public let text: String

    /// Wraps a text.
    public init(_ text: String) {
        self.text = text
    }

    /// Whether both have the same bytes.
    public static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.isExactly(right.text)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        // Eight bytes at a time: single bytes cost several times as much.
        var word: UInt64 = 0
        var count = 0
        for byte in text.utf8 {
            word = word << 8 | UInt64(byte)
            count += 1
            if count & 7 == 0 { hasher.combine(word) }
        }
        hasher.combine(word)
        hasher.combine(count)
    }
}

extension String {
    /// Whether both texts have the same bytes of UTF-8.
    @inlinable
    public func isExactly(_ other: String) -> Bool {
        // Most texts differ in length.
        guard utf8.count == other.utf8.count else { return false }
        let (bytes, others) = (utf8Span.span, other.utf8Span.span)
        return bytes.indices.allSatisfy { bytes[$0] == others[$0] }
    }
}

extension [String] {
    /// Whether the array contains a text, compared byte by byte.
    public func containsExactly(_ text: String) -> Bool {
        contains { $0.isExactly(text) }
    }

    /// Whether both arrays have the same texts in the same order, compared byte by byte.
    public func isExactly(_ other: [String]) -> Bool {
        elementsEqual(other) { $0.isExactly($1) }
    }
}
