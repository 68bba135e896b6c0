/// A validator that names one version of a representation: RFC 9110 §8.8.3.
public struct EntityTag: Sendable, Hashable {
    /// The text between the quotes. It is compared character by character and has no other meaning.
    public let opaque: String
    /// Whether the tag asserts only equivalence, not identical bytes.
    public let isWeak: Bool

    /// Creates a tag to send. Quotes, spaces and controls in `opaque`, which are illegal in a tag, become `_`.
    public init(opaque: String, isWeak: Bool = false) {
        let isLegal = opaque.utf8.allSatisfy { ByteSet.entityTag.contains($0) }
        self.opaque =
            isLegal
            ? opaque
            : String(decoding: opaque.utf8.map { ByteSet.entityTag.contains($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        self.isWeak = isWeak
    }

    /// Parses one tag, `"xyzzy"` or `W/"xyzzy"`; nil for anything else, such as a tag without quotes.
    public init?(parsing text: String) {
        self.init(parsing: Array(text.utf8)[...])
    }

    /// Parses one tag from a field value's bytes. If they are not UTF-8, ``opaque`` is their text in ISO-8859-1.
    public init?(parsing bytes: ArraySlice<UInt8>) {
        var rest = bytes.trimmingWhiteSpace
        guard let tag = EntityTag.take(from: &rest), rest.isEmpty else { return nil }
        self = tag
    }

    /// Removes one tag from the beginning of `rest`; nil if there is none.
    static func take(from rest: inout ArraySlice<UInt8>) -> EntityTag? {
        var bytes = rest
        let isWeak = bytes.starts(with: "W/".utf8)
        if isWeak { bytes = bytes.dropFirst(2) }
        guard bytes.first == ASCII.doubleQuote else { return nil }
        bytes = bytes.dropFirst()
        guard let end = bytes.firstIndex(where: { !ByteSet.entityTag.contains($0) }), bytes[end] == ASCII.doubleQuote
        else { return nil }
        rest = bytes[(end + 1)...]
        return EntityTag(opaque: String(fieldText: bytes[..<end]), isWeak: isWeak)
    }

    /// Appends the tag in the form of a field value.
    func encode(into bytes: inout [UInt8]) {
        if isWeak { bytes.append(contentsOf: "W/".utf8) }
        bytes.append(ASCII.doubleQuote)
        bytes.append(contentsOf: opaque.utf8)
        bytes.append(ASCII.doubleQuote)
    }

    /// Whether a field value consists of this tag in the form of ``encode(into:)``.
    func isSpelled(_ value: Span<UInt8>) -> Bool {
        let text = opaque.utf8.span
        let start = isWeak ? 3 : 1
        guard value.count == start + text.count + 1, value[start - 1] == ASCII.doubleQuote,
            value[value.count - 1] == ASCII.doubleQuote,
            !isWeak || (value[0] == UInt8(ascii: "W") && value[1] == ASCII.slash)
        else { return false }
        for index in text.indices where value[start + index] != text[index] { return false }
        return true
    }

    /// Whether a client's tag is this one, or the one that a compressing proxy makes of it: weak, or with the name of a coding
    /// as in `"xyzzy-gzip"` or `"xyzzy--gzip"`.
    func isNamed(by tag: EntityTag) -> Bool {
        let (own, named) = (opaque.utf8, tag.opaque.utf8)
        guard named.starts(with: own) else { return false }
        let end = named.dropFirst(own.count)
        return end.isEmpty || Self.codings.contains { end.elementsEqual("-\($0)".utf8) || end.elementsEqual("--\($0)".utf8) }
    }

    private static let codings = ["gzip", "br", "zstd", "deflate", "bzip2"]

    /// Whether both are strong and equal: RFC 9110 §8.8.3.2.
    public func stronglyMatches(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && weaklyMatches(other)
    }

    /// Whether both are equal except for weakness: RFC 9110 §8.8.3.2.
    public func weaklyMatches(_ other: EntityTag) -> Bool {
        // `==` on strings takes canonically equivalent characters as equal.
        opaque.utf8.elementsEqual(other.opaque.utf8)
    }
}

extension EntityTag {
    /// Whether both are equal byte by byte, weakness included.
    public static func == (left: EntityTag, right: EntityTag) -> Bool {
        left.isWeak == right.isWeak && left.weaklyMatches(right)
    }

    /// Hashes the opaque text and the weakness.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(opaque)
        hasher.combine(isWeak)
    }
}

extension EntityTag: CustomStringConvertible {
    /// The tag in a field: `W/"xyzzy"`.
    public var description: String {
        var bytes: [UInt8] = []
        encode(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
