/// An IP address of either family, as a number whose most significant octet comes first on the wire.
public enum IPAddress: Sendable, Hashable {
    /// An IPv4 address (RFC 791): `127.0.0.1` is `0x7f00_0001`.
    case v4(UInt32)
    /// An IPv6 address (RFC 4291): `::1` is `1`.
    case v6(UInt128)

    /// Creates an address from 4 or 16 bytes in network order; nil for any other number of bytes.
    public init?(networkOrder bytes: [UInt8]) {
        switch bytes.count {
        case 4: self = .v4(bytes.reduce(0) { $0 << 8 | UInt32($1) })
        case 16: self = .v6(bytes.reduce(0) { $0 << 8 | UInt128($1) })
        default: return nil
        }
    }

    /// The number of bits, 32 or 128.
    public var width: Int {
        switch self {
        case .v4: 32
        case .v6: 128
        }
    }

    /// The IPv4 address of an IPv4-mapped address (`::ffff:192.0.2.1`, RFC 4291 §2.5.5.2); other addresses unchanged.
    ///
    /// The operating system connects to both in the same way, so they must be checked in the same way.
    public var unmapped: IPAddress {
        if case .v6(let bits) = self, bits >> 32 == 0xffff { return .v4(UInt32(truncatingIfNeeded: bits)) }
        return self
    }
}

extension IPAddress {
    /// The key by which one client's requests are counted. For IPv6 it is the /64 prefix, since one client has 2^64
    /// addresses.
    public static func client(ofHost host: String) -> String {
        guard case .v6(let bits) = IPAddress(parsing: host), bits >> 32 != 0xFFFF else { return host }
        return String(bits >> 64, radix: 16)
    }
}

extension IPAddress: CustomStringConvertible {
    /// The address in dotted decimal, or in the canonical IPv6 form of RFC 5952 without brackets.
    public var description: String {
        switch self {
        case .v4(let bits): Self.dotted(bits)
        case .v6(let bits): Self.canonical(bits)
        }
    }

    private static func dotted(_ bits: UInt32) -> String {
        "\(bits >> 24).\(bits >> 16 & 0xff).\(bits >> 8 & 0xff).\(bits & 0xff)"
    }

    private static func canonical(_ bits: UInt128) -> String {
        // RFC 5952 §5: an address that embeds an IPv4 address by a known prefix has it in dotted decimal.
        if bits >> 32 == 0xffff { return "::ffff:" + dotted(UInt32(truncatingIfNeeded: bits)) }
        let groups = (0..<8).map { UInt16(truncatingIfNeeded: bits >> UInt128(112 - 16 * $0)) }
        let zeros = longestZeroRun(groups)
        let text = { (groups: ArraySlice<UInt16>) in groups.map { String($0, radix: 16) }.joined(separator: ":") }
        guard let zeros else { return text(groups[...]) }
        return text(groups[..<zeros.lowerBound]) + "::" + text(groups[zeros.upperBound...])
    }

    /// The longest run of at least two zero groups; the first one of equal runs (RFC 5952 §4.2).
    private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int>? {
        var best: Range<Int>?
        var start: Int?
        for index in 0...groups.count {
            if index < groups.count, groups[index] == 0 {
                start = start ?? index
            } else if let first = start {
                if index - first >= 2, index - first > best?.count ?? 0 { best = first..<index }
                start = nil
            }
        }
        return best
    }
}
