public import HTTPCore

extension IPAddress {
    /// What the address is reserved for, such as `loopback` or `private use`; nil for an address of the public Internet.
    ///
    /// The ranges are those of IANA's special-purpose registries for IPv4 and IPv6 (RFC 6890, as of 2025), the multicast ranges, and
    /// everything in IPv6 outside of global unicast (2000::/3, RFC 4291 §2.4). An address that carries an IPv4 address
    /// (IPv4-mapped, NAT64 by RFC 6052, IPv4-compatible, 6to4, Teredo) names the use of that one, because this is where packets go.
    public var specialUse: String? {
        switch self {
        case .v4: Self.v4Uses.first { $0.block.contains(self) }?.use
        case .v6(let bits): Self.specialUse(ofV6: bits)
        }
    }

    private static func specialUse(ofV6 bits: UInt128) -> String? {
        let address = IPAddress.v6(bits)
        let low = UInt32(truncatingIfNeeded: bits)
        // ::ffff:0:0/96 and 64:ff9b::/96 are other spellings of an IPv4 address: public if that one is public.
        if bits >> 32 == 0xffff { return carried(low, in: "IPv4-mapped") }
        if bits >> 32 == 0x0064_ff9b << 64 { return carried(low, in: "NAT64") }
        if bits == 0 { return "unspecified address" }
        if bits == 1 { return "loopback" }
        if bits >> 32 == 0 { return carried(low, in: "IPv4-compatible") ?? "IPv4-compatible, deprecated" }
        // RFC 3056: 2002:<IPv4 address>::/48.
        if bits >> 112 == 0x2002 {
            return carried(UInt32(truncatingIfNeeded: bits >> 80), in: "6to4") ?? "6to4"
        }
        // RFC 4380 §4: 2001:0:<server>:<flags and port>:<client address, inverted>.
        if bits >> 96 == 0x2001_0000 {
            return carried(~low, in: "Teredo") ?? carried(UInt32(truncatingIfNeeded: bits >> 64), in: "Teredo") ?? "Teredo"
        }
        if let use = v6Uses.first(where: { $0.block.contains(address) })?.use { return use }
        return bits >> 125 == 0b001 ? nil : "reserved by the IETF"
    }

    private static func carried(_ bits: UInt32, in form: String) -> String? {
        IPAddress.v4(bits).specialUse.map { "\(form) form of \(IPAddress.v4(bits)): \($0)" }
    }

    private struct Use: Sendable {
        let block: AddressBlock
        let use: String

        init(_ base: UInt32, _ length: Int, _ use: String) {
            block = AddressBlock(base: .v4(base), length: length)
            self.use = use
        }

        /// `prefix` holds the first 64 bits: no block here is longer.
        init(prefix: UInt64, _ length: Int, _ use: String) {
            block = AddressBlock(base: .v6(UInt128(prefix) << 64), length: length)
            self.use = use
        }
    }

    // https://www.iana.org/assignments/iana-ipv4-special-registry; 224.0.0.0/4 by RFC 5771.
    private static let v4Uses: [Use] = [
        Use(0x0000_0000, 8, "this network"),
        Use(0x0a00_0000, 8, "private use"),
        Use(0x6440_0000, 10, "shared address space of carriers"),
        Use(0x7f00_0000, 8, "loopback"),
        Use(0xa9fe_0000, 16, "link local"),
        Use(0xac10_0000, 12, "private use"),
        Use(0xc000_0000, 24, "IETF protocol assignments"),
        Use(0xc000_0200, 24, "documentation"),
        Use(0xc01f_c400, 24, "AS112 service"),
        Use(0xc034_c100, 24, "automatic multicast tunnelling"),
        Use(0xc058_6300, 24, "6to4 relay anycast, deprecated"),
        Use(0xc0a8_0000, 16, "private use"),
        Use(0xc0af_3000, 24, "AS112 service"),
        Use(0xc612_0000, 15, "benchmarking"),
        Use(0xc633_6400, 24, "documentation"),
        Use(0xcb00_7100, 24, "documentation"),
        Use(0xe000_0000, 4, "multicast"),
        Use(0xffff_ffff, 32, "limited broadcast"),
        Use(0xf000_0000, 4, "reserved for future use"),
    ]

    // https://www.iana.org/assignments/iana-ipv6-special-registry; multicast by RFC 4291 §2.7, site local by RFC 3879.
    // 2001::/23 covers its smaller assignments (Teredo, benchmarking, AMT, ORCHID, DRIP and the anycast addresses).
    private static let v6Uses: [Use] = [
        Use(prefix: 0x0064_ff9b_0001_0000, 48, "local use of IPv4/IPv6 translation"),
        Use(prefix: 0x0100_0000_0000_0000, 64, "discard only"),
        Use(prefix: 0x0100_0000_0000_0001, 64, "dummy prefix"),
        Use(prefix: 0x2001_0000_0000_0000, 23, "IETF protocol assignments"),
        Use(prefix: 0x2001_0db8_0000_0000, 32, "documentation"),
        Use(prefix: 0x2620_004f_8000_0000, 48, "AS112 service"),
        Use(prefix: 0x3fff_0000_0000_0000, 20, "documentation"),
        Use(prefix: 0x5f00_0000_0000_0000, 16, "segment routing"),
        Use(prefix: 0xfc00_0000_0000_0000, 7, "unique local"),
        Use(prefix: 0xfe80_0000_0000_0000, 10, "link local"),
        Use(prefix: 0xfec0_0000_0000_0000, 10, "site local, deprecated"),
        Use(prefix: 0xff00_0000_0000_0000, 8, "multicast"),
    ]
}
