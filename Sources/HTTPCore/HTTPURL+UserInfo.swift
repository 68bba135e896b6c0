/// User names and passwords in URLs (RFC 3986 §3.2.1). They are sent as a field, and are never shown.
extension HTTPURL {
    /// The URL without them.
    public var withoutUserInfo: HTTPURL {
        // `description` leaves user information out, and is a URL.
        hasUserInfo ? HTTPURL(description) ?? self : self
    }

    /// The value of an `Authorization` field with them (the Basic scheme: RFC 7617); `nil` without a user name.
    public var basicAuthorization: String? {
        guard let userInfo else { return nil }
        var credentials = PercentEncoding.decodeBytes(userInfo.utf8) ?? Array(userInfo.utf8)
        if !userInfo.utf8.contains(UInt8(ascii: ":")) { credentials.append(UInt8(ascii: ":")) }
        return "Basic " + Self.base64(credentials)
    }

    /// RFC 4648 §4.
    static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for position in 0..<4 {
                text.append(position <= group.count ? alphabet[bits >> (18 - 6 * position) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
