/// The quoted strings of fields: RFC 9110 §5.6.4.
public enum QuotedString {
    /// Encloses text in double quotes, and escapes quotes and backslashes in it. Controls, which are illegal, become
    /// spaces.
    public static func encode(_ text: String) -> String {
        var bytes: [UInt8] = [ASCII.doubleQuote]
        for byte in text.utf8 {
            if byte == ASCII.doubleQuote || byte == ASCII.backslash { bytes.append(ASCII.backslash) }
            bytes.append(ASCII.isControl(byte) && byte != ASCII.horizontalTab ? ASCII.space : byte)
        }
        bytes.append(ASCII.doubleQuote)
        return String(decoding: bytes, as: UTF8.self)
    }
}
