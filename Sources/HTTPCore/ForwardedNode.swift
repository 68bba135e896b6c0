/// Who sent a request on, as proxies say it: RFC 7239 §6.
public enum ForwardedNode: Sendable, Hashable {
    /// An address, an IPv4-mapped one as IPv4, and the port if it was given.
    case address(IPAddress, port: Int?)
    /// Somebody of whom the proxy doesn't know or tell the address: `unknown`, or a name of its own such as `_gazonk`.
    case hidden

    /// A node as `Forwarded` has it: IPv6 stands in brackets. Nil for anything else.
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

    /// A member of `X-Forwarded-For`, which no standard describes: as above, or IPv6 without brackets.
    public init?(parsingMember text: String) {
        if let address = IPAddress(parsing: text) {
            self = .address(address.unmapped, port: nil)
        } else {
            self.init(parsing: Array(text.utf8)[...])
        }
    }

    /// RFC 7239 §6.3: what stands for a name or a port that is not to be told.
    private static func isObfuscated(_ text: ArraySlice<UInt8>) -> Bool {
        text.count > 1 && text.first == UInt8(ascii: "_")
            && text.dropFirst().allSatisfy { byte in
                ASCII.isAlpha(byte) || ASCII.isDigit(byte) || ".-_".utf8.contains(byte)
            }
    }
}
