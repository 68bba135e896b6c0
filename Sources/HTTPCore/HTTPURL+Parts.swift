extension HTTPURL {
    /// The components of a URL by RFC 3986 §3, checked and normalised.
    struct Parts {
        var scheme: String
        var userInfo: String?
        var host: String
        /// The port; nil if none was written.
        var port: Int?
        var path: String
        var query: String?

        init?(_ bytes: [UInt8]) {
            guard let scheme = Parts.scheme(bytes[...]) else { return nil }
            self.scheme = scheme
            let rest = bytes[(scheme.utf8.count + 3)...]
            let hash = rest.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
            guard Parts.isPrintable(rest[hash...]) else { return nil }
            let authorityEnd = rest[..<hash].firstIndex { $0 == ASCII.slash || $0 == ASCII.questionMark } ?? hash
            guard let (userInfo, host, port) = Parts.authority(rest[..<authorityEnd]) else { return nil }
            (self.userInfo, self.host, self.port) = (userInfo, host, port)
            let question = rest[authorityEnd..<hash].firstIndex(of: ASCII.questionMark) ?? hash
            guard let path = Parts.text(rest[authorityEnd..<question], keeping: .requestTarget),
                let query = Parts.text(rest[question..<hash].dropFirst(), keeping: .requestTarget)
            else { return nil }
            self.path = path.isEmpty ? "/" : path
            self.query = question < hash ? query : nil
        }

        /// The whole URL. The port is omitted if it is the scheme's default.
        var text: String {
            let host = host.utf8.contains(ASCII.colon) ? "[\(host)]" : host
            // The reserved capacity avoids reallocations while the pieces are appended.
            var text = ""
            text.reserveCapacity(host.utf8.count + path.utf8.count + (query?.utf8.count ?? 0) + (userInfo?.utf8.count ?? 0) + 18)
            text += scheme
            text += "://"
            if let userInfo { text += userInfo + "@" }
            text += host
            if let port, port != (scheme == "https" ? 443 : 80) { text += ":\(port)" }
            text += path
            if let query { text += "?" + query }
            return text
        }

        /// The scheme in lowercase; nil unless it is http or https and `://` follows.
        private static func scheme(_ bytes: ArraySlice<UInt8>) -> String? {
            guard let colon = bytes.firstIndex(of: ASCII.colon), bytes[colon...].starts(with: "://".utf8) else { return nil }
            return ["http", "https"].first { bytes[..<colon].equalsIgnoringCase($0) }
        }

        private static func authority(_ bytes: ArraySlice<UInt8>) -> (userInfo: String?, host: String, port: Int?)? {
            var (userInfo, bytes) = (String?.none, bytes)
            // The last `@` ends the user information, so no text before it can become the host.
            if let at = bytes.lastIndex(of: UInt8(ascii: "@")) {
                guard let text = text(bytes[..<at], keeping: .registeredName, and: ASCII.colon) else { return nil }
                userInfo = text
                bytes = bytes[(at + 1)...]
            }
            guard let parsed = Authority(host: bytes), parsed.port != 0 else { return nil }
            let isLiteral = parsed.host.first == UInt8(ascii: "[")
            // A host with an escape is refused, too: resolvers differ in whether they decode it first.
            guard isLiteral || HostName.isPossible(parsed.host) else { return nil }
            let bare = isLiteral ? parsed.host.dropFirst().dropLast() : parsed.host
            return (userInfo, String(decoding: bare.map(ASCII.lowercased), as: UTF8.self), parsed.port)
        }

        /// Percent-encodes the non-ASCII characters of a component, and those that browsers encode (`"`, `<`, `>`). Nil
        /// for spaces, controls, backslashes and text that is not UTF-8.
        static func text(_ bytes: ArraySlice<UInt8>, keeping kept: ByteSet, and other: UInt8? = nil) -> String? {
            guard isPrintable(bytes) else { return nil }
            return PercentEncoding.encode(bytes) { kept.contains($0) || $0 == ASCII.percent || $0 == other }
        }

        private static func isPrintable(_ bytes: ArraySlice<UInt8>) -> Bool {
            var isASCII = true
            for byte in bytes {
                guard byte > 0x20, byte != 0x7F, byte != ASCII.backslash else { return false }
                if byte >= 0x80 { isASCII = false }
            }
            return isASCII || (try? UTF8Span(validating: bytes.span)) != nil
        }
    }
}
