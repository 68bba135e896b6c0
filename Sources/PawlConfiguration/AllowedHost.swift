internal import HTTPClient

/// A `Host` value that is accepted: a host, `*.suffix`, or `*` for all. Ports are not compared: what a web page can point at us
/// by rebinding its name (DNS rebinding) is the name, and a mapped port is nobody's danger.
public struct AllowedHost: Sendable, Hashable {
    private enum Pattern: Sendable, Hashable {
        case any
        case name(String)
        /// Begins with a dot.
        case suffix(String)
        /// Every IP address: a name cannot be rebound to a `Host` that is none.
        case anyAddress
    }

    private let pattern: Pattern

    private init(pattern: Pattern) {
        self.pattern = pattern
    }

    /// Parses a host, with or without a port that is ignored; `nil` for what no `Host` field can hold.
    public init?(parsing text: String) {
        if text == "*" {
            pattern = .any
            return
        }
        let isSuffix = text.hasPrefix("*.")
        guard let name = Self.name(ofAuthority: isSuffix ? String(text.dropFirst(2)) : text), !name.isEmpty,
            name.utf8.allSatisfy(Self.isHostCharacter)
        else { return nil }
        pattern = isSuffix ? .suffix("." + name) : .name(name)
    }

    /// What is accepted without being named: loopback names, and the address that is bound. Bound to all addresses, that is
    /// every IP address.
    public static func defaults(boundTo host: String) -> [AllowedHost] {
        var hosts = ["localhost", "127.0.0.1", "::1"].map { AllowedHost(pattern: .name($0)) }
        hosts.append(AllowedHost(pattern: .suffix(".localhost")))
        if host == "0.0.0.0" || host == "::" {
            hosts.append(AllowedHost(pattern: .anyAddress))
        } else {
            hosts.append(AllowedHost(pattern: .name(host.lowercased())))
        }
        return hosts
    }

    /// The bytes of a pattern that is one name or IPv4 address; nil for the others.
    public var plainName: [UInt8]? {
        guard case .name(let name) = pattern, !name.isEmpty, !name.utf8.contains(UInt8(ascii: ":")) else { return nil }
        return Array(name.utf8)
    }

    /// Whether the pattern covers a host as ``name(ofAuthority:)`` gives it.
    public func allows(_ name: String) -> Bool {
        switch pattern {
        case .any: true
        case .name(let allowed): name == allowed
        case .suffix(let suffix): name.hasSuffix(suffix) && name.utf8.count > suffix.utf8.count
        case .anyAddress: IPAddress(parsing: name) != nil
        }
    }

    /// The host of `host[:port]` in lower case, without brackets and trailing dot; `nil` if it is malformed.
    public static func name(ofAuthority authority: String) -> String? {
        var name: Substring
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            name = authority[authority.index(after: authority.startIndex)..<end]
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || isPort(rest) else { return nil }
        } else if let colon = authority.firstIndex(of: ":"), authority.lastIndex(of: ":") == colon {
            name = authority[..<colon]
            guard isPort(authority[colon...]) else { return nil }
        } else {
            name = authority[...]
        }
        if name.hasSuffix(".") { name.removeLast() }
        return name.lowercased()
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.hasPrefix(":") && text.dropFirst().utf8.count <= 5
            && text.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
