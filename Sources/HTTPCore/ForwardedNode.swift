/// A sender of a request, as a proxy identifies it: RFC 7239 §6.
public enum ForwardedNode: Sendable, Hashable {
    /// An address, and the port if it was given. An IPv4-mapped address becomes IPv4.
    case address(IPAddress, port: Int?)
    /// A node whose address the proxy does not have or does not reveal: `unknown`, or an identifier such as `_gazonk`.
    case hidden

    /// Parses a node in the form of `Forwarded`, with brackets around IPv6; nil for anything else.
    init?(parsing text: ArraySlice<UInt8>) {
        var name = text
        var port: Int?
        if text.first == UInt8(ascii: "[") {
            guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            name = text[...end]
        } else if let colon = text.firstIndex(of: ASCII.colon) {
            name = text[..<colon]
        }
        if name.endIndex < text.endIndex {
            guard text[name.endIndex] == ASCII.colon else { return nil }
            let digits = text[(name.endIndex + 1)...]
            if !Self.isObfuscated(digits) {
                guard (1...5).contains(digits.count), digits.allSatisfy(ASCII.isDigit) else { return nil }
                port = digits.reduce(0) { $0 * 10 + Int($1 &- 0x30) }
                if let port, port > 65535 { return nil }
            }
        }
        if name.equalsIgnoringCase("unknown") || Self.isObfuscated(name) {
            self = .hidden
            return
        }
        let isBracketed = name.first == UInt8(ascii: "[")
        let address = IPAddress(parsing: String(decoding: isBracketed ? name.dropFirst().dropLast() : name, as: UTF8.self))
        switch address {
        case .v6 where isBracketed, .v4 where !isBracketed: break
        default: return nil
        }
        guard let address else { return nil }
        self = .address(address.unmapped, port: port)
    }

    /// Parses a member of `X-Forwarded-For`, which no standard describes. It also accepts IPv6 without brackets; nil
    /// for anything else.
    public init?(parsingMember text: String) {
        if let address = IPAddress(parsing: text) {
            self = .address(address.unmapped, port: nil)
        } else {
            self.init(parsing: Array(text.utf8)[...])
        }
    }

    /// Whether the text is an obfuscated identifier or port: RFC 7239 §6.3.
    private static func isObfuscated(_ text: ArraySlice<UInt8>) -> Bool {
        text.count > 1 && text.first == UInt8(ascii: "_")
            && text.dropFirst().allSatisfy { byte in
                ASCII.isAlpha(byte) || ASCII.isDigit(byte) || ".-_".utf8.contains(byte)
            }
    }
}
