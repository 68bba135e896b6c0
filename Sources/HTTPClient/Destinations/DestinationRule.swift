public import HTTPCore

/// An operator's rule of destinations: a host, all hosts below a suffix, a block of addresses or one address, each for
/// one port or all ports. A list of rules defines which destinations are allowed, denied, or requested without the
/// proxy.
public struct DestinationRule: Sendable, Hashable {
    enum Scope: Sendable, Hashable {
        /// One host name, in lowercase and without a trailing dot.
        case host(String)
        /// Every name below a suffix, which begins with a dot: `.example.org` does not include `example.org` itself.
        case suffix(String)
        case block(AddressBlock)
    }

    let scope: Scope
    /// The only port that the rule covers; nil: all ports.
    let port: Int?

    /// Parses a rule: `host`, `*.suffix`, an address, or a block such as `10.0.0.0/8`, each with an optional `:port`.
    /// IPv6 with a port requires brackets: `[::1]:8080`, `[fd00::/8]:8080`.
    public init(parsing text: String) throws(DestinationRuleError) {
        let (body, port) = try Self.splitPort(text)
        self.port = port
        scope = try Self.parseScope(body, of: text)
    }

    /// Creates a rule for the host and port of a URL.
    public init(_ url: HTTPURL) {
        port = url.port
        let host = HostSpelling.normalize(url.host)
        scope = IPAddress(parsingLeniently: host).map { .block(AddressBlock(base: $0, length: $0.width)) } ?? .host(host)
    }

    /// Whether the rule covers a host name, which must be in lowercase and without a trailing dot.
    func covers(host: String, port: Int) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        switch scope {
        case .host(let name): return host == name
        case .suffix(let suffix): return host.hasSuffix(suffix) && host.utf8.count > suffix.utf8.count
        case .block: return false
        }
    }

    /// Whether the rule covers an address.
    func covers(_ address: IPAddress, port: Int) -> Bool {
        guard self.port == nil || self.port == port, case .block(let block) = scope else { return false }
        return block.contains(address) || block.contains(address.unmapped)
    }

    private static func splitPort(_ text: String) throws(DestinationRuleError) -> (body: Substring, port: Int?) {
        let refusal = DestinationRuleError(text: text, reason: "the port must be a number from 1 to 65535")
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else {
                throw DestinationRuleError(text: text, reason: "the bracket is not closed")
            }
            let body = text[text.index(after: text.startIndex)..<end]
            guard body.contains(":") else {
                throw DestinationRuleError(text: text, reason: "only an IPv6 address can be in brackets")
            }
            let rest = text[text.index(after: end)...]
            if rest.isEmpty { return (body, nil) }
            guard rest.hasPrefix(":"), let port = parsePort(rest.dropFirst()) else { throw refusal }
            return (body, port)
        }
        // A text with two or more colons is IPv6 without brackets, which cannot have a port.
        guard let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon else { return (text[...], nil) }
        guard let port = parsePort(text[text.index(after: colon)...]) else { throw refusal }
        return (text[..<colon], port)
    }

    private static func parsePort(_ digits: Substring) -> Int? {
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(digits), (1...65535).contains(port)
        else { return nil }
        return port
    }

    private static func parseScope(_ body: Substring, of text: String) throws(DestinationRuleError) -> Scope {
        if let slash = body.firstIndex(of: "/") {
            return .block(try parseBlock(body[..<slash], length: body[body.index(after: slash)...], of: text))
        }
        if let address = IPAddress(parsing: body) {
            return .block(AddressBlock(base: address, length: address.width))
        }
        let isSuffix = body.hasPrefix("*.")
        var name = (isSuffix ? body.dropFirst(2) : body).lowercased()
        if name.hasSuffix(".") { name.removeLast() }
        guard isHostName(name) else {
            throw DestinationRuleError(
                text: text,
                reason: "expected a host, *.suffix, an address or a block such as 10.0.0.0/8, each optionally with :port")
        }
        guard !IPAddress.looksNumeric(name) else {
            throw DestinationRuleError(text: text, reason: "an IPv4 address is written as four decimal numbers")
        }
        return isSuffix ? .suffix("." + name) : .host(name)
    }

    private static func parseBlock(
        _ base: Substring, length digits: Substring, of text: String
    ) throws(DestinationRuleError) -> AddressBlock {
        guard let address = IPAddress(parsing: base) else {
            throw DestinationRuleError(text: text, reason: "a block begins with an address, as in 10.0.0.0/8")
        }
        let limit = address.width
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let length = Int(digits), length <= limit
        else {
            throw DestinationRuleError(text: text, reason: "the prefix length must be a number from 0 to \(limit)")
        }
        let block = AddressBlock(base: address, length: length)
        guard block.first == block.base else {
            throw DestinationRuleError(
                text: text, reason: "the address has bits beyond its prefix; the block is \(block.first)/\(block.length)")
        }
        return block
    }

    /// Whether the text is a host name as the DNS has in practice: labels of letters, digits, hyphens and underscores.
    /// Other scripts have their ASCII form (`xn--…`, RFC 5890), as in URLs.
    private static func isHostName(_ name: String) -> Bool {
        guard (1...253).contains(name.utf8.count) else { return false }
        return name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.count)
                && label.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                        UInt8(ascii: "_"):
                        true
                    default: false
                    }
                }
        }
    }
}

/// The reason why a rule for destinations was refused.
public struct DestinationRuleError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The rule as given.
    public let text: String
    /// The fault and the accepted form.
    public let reason: String

    /// The rule and the reason, in one line.
    public var description: String { "\"\(text)\" is not a destination: \(reason)" }
}
