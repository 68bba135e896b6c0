import HTTPCore

/// The Basic authentication scheme: RFC 7617.
enum BasicCredentials {
    /// The value of an Authorization field for the user information of a URL, `name:password` with percent-encoding.
    static func encode(userInfo: String) -> String {
        var bytes = PercentEncoding.decodeBytes(userInfo.utf8) ?? Array(userInfo.utf8)
        if !userInfo.utf8.contains(UInt8(ascii: ":")) { bytes.append(UInt8(ascii: ":")) }
        return "Basic " + base64(bytes)
    }

    /// RFC 4648 §4.
    private static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = 0
            for byte in group { bits = bits << 8 | Int(byte) }
            bits <<= 8 * (3 - group.count)
            for position in 0..<4 {
                text.append(position <= group.count ? alphabet[bits >> (18 - 6 * position) & 0x3f] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
