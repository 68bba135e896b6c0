/// The value of a field, byte by byte as a peer sent it (RFC 9110 §5.5). Compared as bytes.
///
/// A value that is sent back, such as a validator, must be these bytes. Text cannot stand for them: Swift compares text by canonical
/// equivalence, and a value that is not UTF-8 has no text of its own.
public struct FieldValue: Sendable, Hashable {
    /// The value's bytes, without white space around them.
    public let bytes: [UInt8]

    /// A value from its bytes.
    public init(bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// A value from text, as UTF-8.
    public init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// A value from what ``latin1`` returned. Text with other characters than those of ISO-8859-1 becomes UTF-8.
    public init(latin1 text: String) {
        let isLatin1 = text.unicodeScalars.allSatisfy { $0.value < 0x100 }
        bytes = isLatin1 ? text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(text.utf8)
    }

    /// One character of ISO-8859-1 for each byte: text that can be stored anywhere and that no two values share.
    public var latin1: String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
        return String(text)
    }
}

extension FieldValue: ExpressibleByStringLiteral {
    /// A value from a constant of the program, as UTF-8.
    public init(stringLiteral value: String) { self.init(value) }
}
