internal import HTTPCore

/// The request fields of a download, from the options `header`, `user-agent`, `referer`, `http-user` and `http-passwd`.
enum RequestFields {
    /// The maximum number of fields and the maximum bytes of a value: all of them are kept with the download.
    static let mostFields = 50
    static let longestValue = 8192

    /// - Parameters:
    ///   - options: The options of the call.
    ///   - url: The URL of the download; its user name and password are sent unless the options have others.
    static func read(_ options: OptionReader, for url: HTTPURL) throws(RPCError) -> [(name: String, value: String)] {
        var fields: [(name: FieldName, value: String)] = []
        func add(_ name: FieldName, _ value: String, _ option: String) throws(RPCError) {
            guard value.utf8.count <= longestValue, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw .badOption(option, "A value has at most \(longestValue) bytes without line breaks and other controls.")
            }
            if isOurs(name) { return }
            if let known = fields.firstIndex(where: { $0.name == name }) {
                // Fields of one name are joined (RFC 9110 §5.3; cookies by RFC 6265 §4.2.1).
                fields[known].value += (name.lowercased == "cookie" ? "; " : ", ") + value
                return
            }
            guard fields.count < mostFields else { throw .badOption(option, "There are at most \(mostFields) fields.") }
            fields.append((name, value))
        }
        for line in options.lines("header") {
            let line = line.utf8.last == 0x0D ? String(line.unicodeScalars.dropLast()) : line
            guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else {
                if line.allSatisfy(\.isWhitespace) { continue }
                throw .badOption("header", "A field is written 'Name: value'.")
            }
            guard let name = FieldName(String(line[..<colon])) else {
                throw .badOption("header", "It has a name that no field can have (RFC 9110 §5.1).")
            }
            try add(name, trimmed(line[line.utf8.index(after: colon)...]), "header")
        }
        func addUnlessThere(_ name: FieldName, _ value: String?, _ option: String) throws(RPCError) {
            guard let value, !value.isEmpty, !fields.contains(where: { $0.name == name }) else { return }
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
        return fields.map { ($0.name.canonical, $0.value) }
    }

    /// Whether a field belongs to the connection or to resuming. Browser extensions pass on all fields of a request.
    private static func isOurs(_ name: FieldName) -> Bool {
        switch name.lowercased {
        case "host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "keep-alive", "expect",
            "proxy-connection", "proxy-authorization", "content-type", "content-encoding", "range", "if-range", "if-match",
            "if-none-match", "if-modified-since", "if-unmodified-since", "accept-encoding":
            true
        default: false
        }
    }

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
    /// The maximum length in bytes, as in the REST API.
    static let longest = 8192

    /// Parses an http or https URL; percent-encodes characters that a URL may not contain, as aria2 does. `nil` for
    /// anything else.
    static func parse(_ text: String) -> HTTPURL? {
        guard text.utf8.count <= longest else { return nil }
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
