/// A validator that names one version of a representation: RFC 9110 §8.8.3.
public struct EntityTag: Sendable, Hashable {
    /// What stands between the quotes. Compared character by character; means nothing else.
    public let opaque: String
    /// Whether it says "equivalent" only, and not "the same bytes".
    public let isWeak: Bool

    /// A tag to be sent. Quotes, spaces and controls in `opaque`, which can't be sent, become `_`.
    public init(opaque: String, isWeak: Bool = false) {
        let isLegal = opaque.utf8.allSatisfy { ByteSet.entityTag.contains($0) }
        self.opaque =
            isLegal
            ? opaque
            : String(decoding: opaque.utf8.map { ByteSet.entityTag.contains($0) ? $0 : UInt8(ascii: "_") }, as: UTF8.self)
        self.isWeak = isWeak
    }

    /// Reads one tag: `"xyzzy"` or `W/"xyzzy"`; nil for anything else, such as one without quotes.
    public init?(parsing text: String) {
        self.init(parsing: Array(text.utf8)[...])
    }

    /// Reads one tag from a field value's bytes. If they are not UTF-8, ``opaque`` is their text in ISO-8859-1.
    public init?(parsing bytes: ArraySlice<UInt8>) {
        var rest = bytes.trimmingWhiteSpace
        guard let tag = EntityTag.take(from: &rest), rest.isEmpty else { return nil }
        self = tag
    }

    /// Takes one tag off the beginning of `rest`; nil if none is there.
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

    /// Appends the tag as it stands in a field.
    func encode(into bytes: inout [UInt8]) {
        if isWeak { bytes.append(contentsOf: "W/".utf8) }
        bytes.append(ASCII.doubleQuote)
        bytes.append(contentsOf: opaque.utf8)
        bytes.append(ASCII.doubleQuote)
    }

    /// Whether a field's value is this tag alone, as ``encode(into:)`` spells it.
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

    /// Whether both are strong and the same: RFC 9110 §8.8.3.2.
    public func stronglyMatches(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && weaklyMatches(other)
    }

    /// Whether both are the same, weak or not: RFC 9110 §8.8.3.2.
    public func weaklyMatches(_ other: EntityTag) -> Bool {
        // Not by `==`, to which differently composed characters are the same.
        opaque.utf8.elementsEqual(other.opaque.utf8)
    }
}

extension EntityTag {
    /// Whether both are the same, byte by byte, weakness included.
    public static func == (left: EntityTag, right: EntityTag) -> Bool {
        left.isWeak == right.isWeak && left.weaklyMatches(right)
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(opaque)
        hasher.combine(isWeak)
    }
}

extension EntityTag: CustomStringConvertible {
    /// As in a field: `W/"xyzzy"`.
    public var description: String {
        var bytes: [UInt8] = []
        encode(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
