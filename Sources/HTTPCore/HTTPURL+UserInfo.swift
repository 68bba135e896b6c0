/// User names and passwords in URLs (RFC 3986 §3.2.1). They are sent as what they mean, and kept out of what is shown.
extension HTTPURL {
    /// The URL without them.
    public var withoutUserInfo: HTTPURL {
        guard hasUserInfo else { return self }
        let host = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return HTTPURL("\(scheme)://\(host):\(port)\(path)\(query.map { "?" + $0 } ?? "")") ?? self
    }

    /// What an `Authorization` field says instead (RFC 7617); `nil` without a user name.
    public var basicAuthorization: String? {
        guard let userInfo else { return nil }
        let pair = userInfo.utf8.contains(UInt8(ascii: ":")) ? userInfo : userInfo + ":"
        guard let bytes = PercentEncoding.decodeBytes(pair.utf8) else { return nil }
        return "Basic " + Self.base64(bytes)
    }

    /// RFC 4648 §4.
    static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let group = Array(rest.prefix(3))
            rest = rest.dropFirst(3)
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for position in 0..<4 {
                text.append(position <= group.count ? alphabet[bits >> (18 - 6 * position) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
