internal import HTTPCore

/// An accepted `Host`: a host, `*.suffix`, or `*` for all. Ports are not compared: DNS rebinding lets a web page point
/// a name at the service, and the port makes no difference.
public struct AllowedHost: Sendable, Hashable {
    private enum Pattern: Sendable, Hashable {
        case any
        case name(String)
        /// A suffix that begins with a dot.
        case suffix(String)
        /// Every IP address: DNS rebinding needs a name in `Host`.
        case anyAddress
    }

    private let pattern: Pattern

    private init(pattern: Pattern) {
        self.pattern = pattern
    }

    /// Parses a host, ignoring a port; `nil` for text that no `Host` field can hold.
    public init?(parsing text: String) {
        if text == "*" {
            pattern = .any
            return
        }
        let isSuffix = text.hasPrefix("*.")
        guard let bytes = Self.name(ofAuthority: Array(text.lowercased().utf8)[(isSuffix ? 2 : 0)...]), !bytes.isEmpty,
            bytes.allSatisfy(Self.isHostCharacter)
        else { return nil }
        let name = String(decoding: bytes, as: UTF8.self)
        pattern = isSuffix ? .suffix("." + name) : .name(name)
    }

    /// The hosts accepted by default: loopback names and the bound address. If the service binds all addresses, every
    /// IP address is accepted.
    public static func defaults(boundTo host: String) -> [AllowedHost] {
        var hosts = ["localhost", "127.0.0.1", "::1", "ip6-localhost"].map { AllowedHost(pattern: .name($0)) }
        hosts.append(AllowedHost(pattern: .suffix(".localhost")))
        if host == "0.0.0.0" || host == "::" {
            hosts.append(AllowedHost(pattern: .anyAddress))
        } else {
            hosts.append(AllowedHost(pattern: .name(host.lowercased())))
        }
        return hosts
    }

    /// Whether the pattern covers a host from ``name(ofAuthority:)``.
    public func allows(_ name: ArraySlice<UInt8>) -> Bool {
        switch pattern {
        case .any: true
        case .name(let allowed): Self.isSame(name, allowed)
        case .suffix(let suffix): name.count > suffix.utf8.count && Self.isSame(name.suffix(suffix.utf8.count), suffix)
        case .anyAddress: IPAddress(parsing: String(decoding: name, as: UTF8.self)) != nil
        }
    }

    /// Whether the pattern is the host of `host[:port]`, a name or IPv4 address in the usual spelling. It costs less than
    /// ``allows(_:)``, which covers the other spellings and patterns.
    public func isHost(ofAuthority authority: Span<UInt8>) -> Bool {
        guard case .name(let name) = pattern else { return false }
        let host = name.utf8.span
        guard authority.count >= host.count else { return false }
        for index in host.indices where authority[index] != host[index] || host[index] == UInt8(ascii: ":") { return false }
        guard authority.count > host.count else { return true }
        guard authority[host.count] == UInt8(ascii: ":"), authority.count <= host.count + 6 else { return false }
        for index in (host.count + 1)..<authority.count where !(0x30...0x39).contains(authority[index]) { return false }
        return true
    }

    /// Whether the bytes equal `text`, which is in lower case, ignoring the case of ASCII letters.
    private static func isSame(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
        let (bytes, text) = (bytes.span, text.utf8.span)
        guard bytes.count == text.count else { return false }
        for index in bytes.indices {
            let byte = bytes[index]
            if (byte &- 0x41 < 26 ? byte | 0x20 : byte) != text[index] { return false }
        }
        return true
    }

    /// The host in `host[:port]`, without brackets and trailing dot; `nil` if it is malformed.
    public static func name(ofAuthority authority: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let separator = UInt8(ascii: ":")
        var name = authority
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            name = authority[..<end].dropFirst()
            let rest = authority[(end + 1)...]
            guard rest.isEmpty || isPort(rest) else { return nil }
        } else if let colon = authority.firstIndex(of: separator), authority.lastIndex(of: separator) == colon {
            name = authority[..<colon]
            guard isPort(authority[colon...]) else { return nil }
        }
        if name.last == UInt8(ascii: ".") { name.removeLast() }
        return name
    }

    private static func isPort(_ text: ArraySlice<UInt8>) -> Bool {
        text.first == UInt8(ascii: ":") && text.count <= 6 && text.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
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
