extension HTTPURL {
    /// A URL by RFC 3986 §3, checked and normalised.
    struct Parser {
        /// The whole URL. The port is omitted if it is the scheme's default.
        private(set) var text: [UInt8] = []
        /// The position of the host in the text, without its brackets.
        private(set) var host = 0..<0
        /// The port; the scheme's default if none was written.
        private(set) var port: Int
        /// The position of the path in the text, up to the question mark of the query.
        private(set) var path = 0..<0

        init?(_ bytes: ArraySlice<UInt8>) {
            guard let scheme = Parser.scheme(bytes) else { return nil }
            let usual = scheme.utf8.count == 5 ? 443 : 80
            port = usual
            let rest = bytes.dropFirst(scheme.utf8.count + 3)
            let hash = rest.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
            guard Parser.isPrintable(rest[hash...]) else { return nil }
            let authorityEnd = rest[..<hash].firstIndex { $0 == ASCII.slash || $0 == ASCII.questionMark } ?? hash
            // The default port is omitted, an empty path becomes a slash.
            text.reserveCapacity(bytes.count + 1)
            text += scheme.utf8
            text += "://".utf8
            guard takeAuthority(rest[..<authorityEnd]) else { return nil }
            if port != usual { text += ":\(port)".utf8 }

            let start = text.count
            let question = rest[authorityEnd..<hash].firstIndex(of: ASCII.questionMark) ?? hash
            guard Parser.append(rest[authorityEnd..<question], keeping: .requestTarget, to: &text) else { return nil }
            if text.count == start { text.append(ASCII.slash) }
            path = start..<text.count
            if question < hash {
                text.append(ASCII.questionMark)
                guard Parser.append(rest[(question + 1)..<hash], keeping: .requestTarget, to: &text) else { return nil }
            }
        }

        /// Returns the scheme in lowercase; nil unless it is http or https and `://` follows.
        private static func scheme(_ bytes: ArraySlice<UInt8>) -> String? {
            guard let colon = bytes.firstIndex(of: ASCII.colon), bytes[colon...].starts(with: "://".utf8) else { return nil }
            return ["http", "https"].first { bytes[..<colon].equalsIgnoringCase($0) }
        }

        private mutating func takeAuthority(_ bytes: ArraySlice<UInt8>) -> Bool {
            var bytes = bytes
            // The last `@` ends the user information, so no text before it can become the host.
            if let at = bytes.lastIndex(of: UInt8(ascii: "@")) {
                guard Parser.append(bytes[..<at], keeping: .registeredName, and: ASCII.colon, to: &text) else { return false }
                text.append(UInt8(ascii: "@"))
                bytes = bytes[(at + 1)...]
            }
            guard let parsed = Authority(host: bytes), parsed.port != 0 else { return false }
            let isLiteral = parsed.host.first == UInt8(ascii: "[")
            // A host with an escape is refused, too: resolvers differ in whether they decode it first.
            guard isLiteral || HostName.isPossible(parsed.host) else { return false }
            let start = text.count
            text += parsed.host.lazy.map(ASCII.lowercased)
            host = isLiteral ? (start + 1)..<(text.count - 1) : start..<text.count
            port = parsed.port ?? port
            return true
        }

        /// Returns a path or query with the characters encoded that ``append(_:keeping:and:to:)`` encodes; nil if it refuses it.
        static func component(_ bytes: ArraySlice<UInt8>) -> String? {
            var text: [UInt8] = []
            return append(bytes, keeping: .requestTarget, to: &text) ? String(decoding: text, as: UTF8.self) : nil
        }

        /// Appends a component. Percent-encodes its characters outside ASCII, and those that browsers encode (`"`, `<`, `>`).
        ///
        /// Returns false for spaces, controls, backslashes and text that is not UTF-8.
        private static func append(
            _ bytes: ArraySlice<UInt8>, keeping kept: ByteSet, and other: UInt8 = ASCII.percent, to text: inout [UInt8]
        ) -> Bool {
            guard isPrintable(bytes) else { return false }
            for byte in bytes {
                PercentEncoding.append(byte, isKept: kept.contains(byte) || byte == ASCII.percent || byte == other, to: &text)
            }
            return true
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
