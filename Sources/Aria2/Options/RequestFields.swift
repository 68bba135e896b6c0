internal import DownloadCore
internal import HTTPCore

/// The header fields of a download, from the options `header`, `user-agent`, `referer`, `http-user` and `http-passwd`.
enum RequestFields {
    /// - Parameters:
    ///   - options: The options of the call.
    ///   - url: The URL of the download; its user name and password are sent unless the options have others.
    static func read(_ options: OptionReader, for url: HTTPURL) throws(RPCError) -> RequestHeaders {
        var headers = RequestHeaders()
        func add(_ name: FieldName, _ value: String, _ option: String) throws(RPCError) {
            do throws(RequestHeaders.Fault) {
                try headers.append(name, value, joiningValues: true)
            } catch {
                switch error {
                // Browser extensions pass on all fields of a request, with those that a transfer sets itself.
                case .belongsToConnection, .belongsToResuming: return
                case .longName: throw .badOption(option, badName)
                case .badValue, .repeated:
                    throw .badOption(
                        option, "A value has at most \(DownloadLimits.headerValue) bytes without line breaks or other controls.")
                case .tooMany: throw .badOption(option, "A download takes at most \(DownloadLimits.headers) fields.")
                }
            }
        }
        for line in options.lines("header") {
            let line = line.utf8.last == 0x0D ? String(line.unicodeScalars.dropLast()) : line
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else {
                if line.allSatisfy(\.isWhitespace) { continue }
                throw .badOption("header", "Write a field as 'Name: value'.")
            }
            guard let name = FieldName(String(line[..<colon])) else {
                throw .badOption("header", badName)
            }
            try add(name, trimmed(line[line.utf8.index(after: colon)...]), "header")
        }
        func addUnlessThere(_ name: FieldName, _ value: String?, _ option: String) throws(RPCError) {
            guard let value, !value.isEmpty, !headers.contains(name) else { return }
            try add(name, value, option)
        }
        try addUnlessThere(FieldName(constant: "User-Agent"), options.text("user-agent"), "user-agent")
        let referer = options.text("referer")
        try addUnlessThere(FieldName(constant: "Referer"), referer == "*" ? url.withoutUserInfo.string : referer, "referer")
        var credentials = url.basicAuthorization
        if let user = options.text("http-user"), !user.isEmpty {
            credentials = "Basic " + Base64.encode(Array("\(user):\(options.text("http-passwd") ?? "")".utf8))
        }
        try addUnlessThere(.authorization, credentials, "http-user")
        return headers
    }

    private static let badName = "The name of the field is not valid (RFC 9110 §5.1)."

    private static func trimmed(_ text: Substring) -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let bytes = text.utf8.drop(while: isSpace)
        var end = bytes.endIndex
        while end > bytes.startIndex, isSpace(bytes[bytes.index(before: end)]) { end = bytes.index(before: end) }
        return String(Substring(bytes[bytes.startIndex..<end]))
    }
}

/// A URL as people paste it.
enum PastedURL {
    /// Parses an http or https URL; percent-encodes characters that a URL may not contain, as aria2 does. `nil` for
    /// anything else.
    static func parse(_ text: String) -> HTTPURL? {
        guard text.utf8.count <= DownloadLimits.url else { return nil }
        var bytes = text.utf8.drop { $0 <= 0x20 }
        while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "\\") {
                encoded.append(UInt8(ascii: "%"))
                let digits = Array("0123456789ABCDEF".utf8)
                encoded.append(digits[Int(byte >> 4)])
                encoded.append(digits[Int(byte & 15)])
            } else {
                encoded.append(byte)
            }
        }
        return HTTPURL(String(decoding: encoded, as: UTF8.self))
    }
}
