/// Quoted strings of fields: RFC 9110 §5.6.4.
enum QuotedString {
    /// The text in double quotes, its quotes and backslashes escaped; controls, which can't be sent, become spaces.
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = [ASCII.doubleQuote]
        for byte in text.utf8 {
            if byte == ASCII.doubleQuote || byte == ASCII.backslash { bytes.append(ASCII.backslash) }
            bytes.append(ASCII.isControl(byte) && byte != ASCII.horizontalTab ? ASCII.space : byte)
        }
        bytes.append(ASCII.doubleQuote)
        return String(decoding: bytes, as: UTF8.self)
    }
}
