extension HTTPURL {
    /// Removes possible secrets from all URLs in a text, of any scheme: user information, query and fragment. A
    /// URL ends only at white space, so text after it may be removed, too.
    public static func withoutSecrets(in text: String) -> String {
        guard text.utf8.contains(ASCII.colon) else { return text }
        let bytes = Array(text.utf8)
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        var isInURL = false
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == ASCII.colon, bytes[index...].starts(with: "://".utf8) {
                kept += "://".utf8
                index += 3
                isInURL = true
                let end =
                    bytes[index...].firstIndex {
                        $0 == ASCII.slash || $0 == ASCII.questionMark || $0 == UInt8(ascii: "#") || $0 <= ASCII.space
                    } ?? bytes.count
                if let at = bytes[index..<end].lastIndex(of: UInt8(ascii: "@")) { index = at + 1 }
                kept += bytes[index..<end]
                index = end
            } else if isInURL, byte == ASCII.questionMark || byte == UInt8(ascii: "#") {
                index = bytes[index...].firstIndex { $0 <= ASCII.space } ?? bytes.count
            } else {
                if byte <= ASCII.space { isInURL = false }
                kept.append(byte)
                index += 1
            }
        }
        return String(decoding: kept, as: UTF8.self)
    }
}
