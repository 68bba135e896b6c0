extension HTTPURL {
    /// The components of a URL after RFC 3986 §3, checked and normalised.
    struct Parts {
        var scheme: String
        var userInfo: String?
        var host: String
        /// Nil if none was written.
        var port: Int?
        var path: String
        var query: String?

        init?(_ bytes: [UInt8]) {
            guard let colon = bytes.firstIndex(of: ASCII.colon) else { return nil }
            let scheme = bytes[..<colon]
            if scheme.equalsIgnoringCase("http") {
                self.scheme = "http"
            } else if scheme.equalsIgnoringCase("https") {
                self.scheme = "https"
            } else {
                return nil
            }
            guard bytes[colon...].starts(with: "://".utf8) else { return nil }
            let rest = bytes[(colon + 3)...]
            let authorityEnd =
                rest.firstIndex { $0 == ASCII.slash || $0 == ASCII.questionMark || $0 == UInt8(ascii: "#") } ?? rest.endIndex
            var authority = rest[..<authorityEnd]
            // The last `@`: what is in front of it can't reach the host, whatever it looks like.
            if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
                guard let text = Parts.text(authority[..<at], keeping: .registeredName, and: ASCII.colon) else { return nil }
                userInfo = text
                authority = authority[(at + 1)...]
            }
            guard let parsed = Authority(host: authority), parsed.port != 0 else { return nil }
            port = parsed.port
            let isLiteral = parsed.host.first == UInt8(ascii: "[")
            // An escape in a host is refused with the rest: whether it is decoded before it is resolved depends on who does it.
            guard isLiteral || HostName.isPossible(parsed.host) else { return nil }
            let bare = isLiteral ? parsed.host.dropFirst().dropLast() : parsed.host
            host = String(decoding: bare.map(ASCII.lowercased), as: UTF8.self)
            let fragment = rest[authorityEnd...].firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
            guard Parts.isPrintable(rest[fragment...]) else { return nil }
            let pathAndQuery = rest[authorityEnd..<fragment]
            let question = pathAndQuery.firstIndex(of: ASCII.questionMark) ?? pathAndQuery.endIndex
            guard let path = Parts.text(pathAndQuery[..<question], keeping: .requestTarget) else { return nil }
            self.path = path.isEmpty ? "/" : path
            if question < pathAndQuery.endIndex {
                guard let text = Parts.text(pathAndQuery[(question + 1)...], keeping: .requestTarget) else { return nil }
                query = text
            }
        }

        /// The component with what isn't ASCII percent-encoded, and so what browsers encode (`"`, `<`, `>`). Nil for spaces,
        /// controls, backslashes and text that isn't UTF-8.
        static func text(_ bytes: ArraySlice<UInt8>, keeping kept: ByteSet, and other: UInt8? = nil) -> String? {
            guard isPrintable(bytes) else { return nil }
            var result: [UInt8] = []
            result.reserveCapacity(bytes.count)
            for byte in bytes {
                if kept.contains(byte) || byte == ASCII.percent || byte == other {
                    result.append(byte)
                } else {
                    result.append(ASCII.percent)
                    result.append(ASCII.hexDigit(byte >> 4))
                    result.append(ASCII.hexDigit(byte))
                }
            }
            return String(decoding: result, as: UTF8.self)
        }

        private static func isPrintable(_ bytes: ArraySlice<UInt8>) -> Bool {
            bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != ASCII.backslash }
                && String(validating: bytes, as: UTF8.self) != nil
        }
    }
}
