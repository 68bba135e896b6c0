/// Percent-encoding of RFC 3986 §2.1, always of UTF-8.
public enum PercentEncoding {
    /// Decodes percent-encoded text. Nil if an escape is not `%` and two hexadecimal digits, or if the result is not
    /// UTF-8.
    ///
    /// `plusIsSpace` reads `+` as a space, as in forms and queries.
    public static func decode(_ bytes: some Collection<UInt8>, plusIsSpace: Bool = false) -> String? {
        decodeBytes(bytes, plusIsSpace: plusIsSpace).flatMap { String(validUTF8: $0.span) }
    }

    /// Decodes percent-encoded bytes; nil if an escape is invalid.
    public static func decodeBytes(_ bytes: some Collection<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes.makeIterator()
        while let byte = rest.next() {
            if byte == ASCII.percent {
                guard let first = rest.next().flatMap(ASCII.hexValue), let second = rest.next().flatMap(ASCII.hexValue)
                else { return nil }
                result.append(first << 4 | second)
            } else if byte == UInt8(ascii: "+"), plusIsSpace {
                result.append(ASCII.space)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    /// Encodes a path segment or query value: all but the unreserved characters (RFC 3986 §2.3).
    public static func encodeComponent(_ text: String) -> String {
        encode(text.utf8, keeping: .unreserved)
    }

    /// Encodes a fragment as written: characters that a URL cannot have, and no escapes (RFC 3986 §3.5).
    public static func encodeFragment(_ text: String) -> String {
        encode(text.utf8) { ByteSet.requestTarget.contains($0) || $0 == ASCII.percent }
    }

    /// Encodes a name or value of application/x-www-form-urlencoded. Unlike ``encodeComponent(_:)``, it encodes a space
    /// as `+`, keeps `*`, and encodes `~` (WHATWG URL §5.2).
    public static func encodeForm(_ text: String) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if byte == ASCII.space {
                result.append(UInt8(ascii: "+"))
            } else {
                append(byte, isKept: ByteSet.formText.contains(byte), to: &result)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Encodes names and values as one application/x-www-form-urlencoded text.
    public static func encodeForm(_ items: some Sequence<QueryItem>) -> String {
        items.map { "\(encodeForm($0.name))=\(encodeForm($0.value))" }.joined(separator: "&")
    }

    static func encode(_ bytes: some Collection<UInt8>, keeping kept: ByteSet) -> String {
        encode(bytes) { kept.contains($0) }
    }

    static func encode(_ bytes: some Collection<UInt8>, where isKept: (UInt8) -> Bool) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes { append(byte, isKept: isKept(byte), to: &result) }
        return String(decoding: result, as: UTF8.self)
    }

    static func append(_ byte: UInt8, isKept: Bool, to result: inout [UInt8]) {
        if isKept {
            result.append(byte)
        } else {
            result.append(ASCII.percent)
            result.append(ASCII.hexDigit(byte >> 4))
            result.append(ASCII.hexDigit(byte))
        }
    }
}
