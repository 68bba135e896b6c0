/// A `host [":" port]` of a Host field or a URL: RFC 3986 §3.2, without user information.
public struct Authority {
    /// The host as written, with its brackets; never empty.
    let host: ArraySlice<UInt8>
    /// The port, 0–65535; nil if absent or empty, which RFC 3986 §3.2.3 allows.
    let port: Int?

    /// Parses a registered name, an IPv4 address or a bracketed IP literal, with an optional colon and port. Nil for
    /// anything else.
    init?(host bytes: ArraySlice<UInt8>) {
        guard let parts = Authority.parts(of: bytes.span) else { return nil }
        host = bytes.prefix(parts.hostLength)
        port = parts.port
    }

    /// Whether the bytes are an authority by the rules of ``init(host:)``.
    static func isValid(_ bytes: Span<UInt8>) -> Bool { parts(of: bytes) != nil }

    /// Whether the text is an authority by the rules of ``init(host:)``.
    public static func isValid(_ text: String) -> Bool { isValid(Array(text.utf8).span) }

    private static func parts(of bytes: Span<UInt8>) -> (hostLength: Int, port: Int?)? {
        guard let end = endOfHost(bytes), end > 0 else { return nil }
        guard end < bytes.count else { return (end, nil) }
        guard bytes[end] == ASCII.colon else { return nil }
        guard end + 1 < bytes.count else { return (end, nil) }
        var port = 0
        for index in (end + 1)..<bytes.count {
            guard ASCII.isDigit(bytes[index]) else { return nil }
            port = port * 10 + Int(bytes[index] &- 0x30)
            guard port <= 65535 else { return nil }
        }
        return (end, port)
    }

    private static func endOfHost(_ bytes: Span<UInt8>) -> Int? {
        var end = 0
        if !bytes.isEmpty, bytes[0] == UInt8(ascii: "[") {
            while end < bytes.count, bytes[end] != UInt8(ascii: "]") { end += 1 }
            guard end < bytes.count, isAddressLiteral(bytes.extracting(1..<end)) else { return nil }
            return end + 1
        }
        while end < bytes.count, bytes[end] != ASCII.colon {
            if bytes[end] == ASCII.percent {
                guard bytes.count - end > 2, ASCII.hexValue(bytes[end + 1]) != nil, ASCII.hexValue(bytes[end + 2]) != nil
                else { return nil }
                end += 3
            } else {
                // RFC 3986 allows a comma, but no host name has one. A combined value of two Host lines does.
                guard ByteSet.registeredName.contains(bytes[end]), bytes[end] != ASCII.comma else { return nil }
                end += 1
            }
        }
        return end
    }

    /// Whether the text between brackets is an IPv6 address (RFC 3986 §3.2.2, RFC 4291 §2.2). Zones and literals of
    /// later versions are not accepted, since no server has such an address.
    private static func isAddressLiteral(_ text: Span<UInt8>) -> Bool {
        if case .v6 = IPAddress(parsing: String(fieldText: text)) { true } else { false }
    }
}
