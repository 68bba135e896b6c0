/// A document of JSON with faults: its texts are mended, and it can be cut behind an element of its array.
struct BrokenJSON {
    /// The document.
    private(set) var text: [UInt8] = []
    /// The offsets behind the elements of arrays that are members of the document's object.
    private var ends: [Int] = []

    /// Mends the texts of a document.
    init(_ bytes: [UInt8]) {
        // Invalid bytes become U+FFFD.
        let bytes = Array(String(decoding: bytes, as: UTF8.self).utf8)
        text.reserveCapacity(bytes.count + 2)
        var depth = 0
        var isText = false
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\\") where isText:
                let escape = Self.escape(bytes[index...])
                text += escape.text
                index += escape.length
                continue
            case UInt8(ascii: "\""): isText.toggle()
            case ..<0x20 where isText:
                text.append(UInt8(ascii: " "))
                index += 1
                continue
            case UInt8(ascii: "{") where !isText, UInt8(ascii: "[") where !isText: depth += 1
            case UInt8(ascii: "}") where !isText, UInt8(ascii: "]") where !isText:
                depth -= 1
                if depth == 2, byte == UInt8(ascii: "}") { ends.append(text.count + 1) }
            default: break
            }
            text.append(byte)
            index += 1
        }
    }

    /// Cuts the document behind the last element of an array that ends before an offset.
    mutating func cut(before offset: Int) {
        guard let end = ends.last(where: { $0 <= offset }) else { return }
        text.removeSubrange(end...)
        text += Array("]}".utf8)
    }

    /// Returns an escape sequence, and the number of bytes that it has in the document. Half of a surrogate pair becomes
    /// U+FFFD (RFC 8259 §8.2).
    private static func escape(_ bytes: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, length: Int) {
        guard let first = unit(bytes) else { return (bytes.prefix(2), min(2, bytes.count)) }
        guard (0xD800...0xDFFF).contains(first) else { return (bytes.prefix(6), 6) }
        let isPair = first < 0xDC00 && unit(bytes.dropFirst(6)).map { (0xDC00...0xDFFF).contains($0) } ?? false
        return isPair ? (bytes.prefix(12), 12) : (ArraySlice("\\ufffd".utf8), 6)
    }

    /// Returns the code unit of a sequence such as `\u20ac`; `nil` for other texts.
    private static func unit(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        guard bytes.starts(with: "\\u".utf8), bytes.count >= 6 else { return nil }
        let digits = bytes.dropFirst(2).prefix(4)
        guard digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }) else { return nil }
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    }
}
