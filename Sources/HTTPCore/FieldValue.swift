/// The value of a field, as the bytes that a peer sent (RFC 9110 §5.5). Values are compared as bytes.
///
/// A value that is sent back, such as a validator, must have these bytes. Text cannot represent them: Swift compares
/// text by canonical equivalence, and a value that is not UTF-8 has no text.
public struct FieldValue: Sendable, Hashable {
    /// The value's bytes, without surrounding white space.
    public let bytes: [UInt8]

    /// Creates a value from its bytes.
    public init(bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// Creates a value from text, as UTF-8.
    public init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// Creates a value from the text of ``latin1``. Text with characters outside ISO-8859-1 becomes UTF-8.
    public init(latin1 text: String) {
        // Nearly all values are ASCII.
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            bytes = Array(text.utf8)
            return
        }
        let isLatin1 = text.unicodeScalars.allSatisfy { $0.value < 0x100 }
        bytes = isLatin1 ? text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } : Array(text.utf8)
    }

    /// The bytes as characters of ISO-8859-1, one each. The text can be stored anywhere, and different values have
    /// different texts.
    public var latin1: String {
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
        return String(text)
    }
}

extension FieldValue: ExpressibleByStringLiteral {
    /// Creates a value from a literal, as UTF-8.
    public init(stringLiteral value: String) { self.init(value) }
}
