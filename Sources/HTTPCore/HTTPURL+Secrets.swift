extension HTTPURL {
    /// A text without what may be secret in the URLs that stand in it, be it one URL or many, of whatever scheme: user information,
    /// query and fragment. A URL ends at white space only: rather too much is left out than too little.
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
