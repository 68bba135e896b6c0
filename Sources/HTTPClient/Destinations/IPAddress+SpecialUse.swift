public import HTTPCore

extension IPAddress {
    /// The use that the address is reserved for, such as `loopback` or `private use`; nil for an address of the public
    /// Internet.
    ///
    /// The ranges are in IANA's special-purpose registries for IPv4 and IPv6 (RFC 6890, as of 2025), multicast,
    /// and all of IPv6 outside global unicast (2000::/3, RFC 4291 §2.4). Addresses at which clouds serve their own
    /// machines are included.
    ///
    /// Some IPv6 addresses carry an IPv4 address, to which their packets go, such as IPv4-mapped, NAT64 (RFC 6052),
    /// 6to4 and Teredo addresses. They have the use of the IPv4 address if it has one. Otherwise only IPv4-mapped and
    /// NAT64 addresses are public.
    public var specialUse: String? {
        switch self {
        case .v4: Self.use(of: self, in: Self.cloudHosts) ?? Self.use(of: self, in: Self.v4Uses)
        case .v6(let bits): Self.specialUse(ofV6: bits)
        }
    }

    private static func specialUse(ofV6 bits: UInt128) -> String? {
        let address = IPAddress.v6(bits)
        if let use = use(of: address, in: cloudHosts) { return use }
        if bits == 0 { return "unspecified address" }
        if bits == 1 { return "loopback" }
        if let form = CarryingForm(ofV6: bits) {
            for address in form.addresses {
                if let use = address.specialUse { return "\(form.name) form of \(address): \(use)" }
            }
            return form.isSpelling ? nil : form.name
        }
        if let use = use(of: address, in: v6Uses) { return use }
        return bits >> 125 == 0b001 ? nil : "reserved by the IETF"
    }

    private static func use(of address: IPAddress, in uses: [Use]) -> String? {
        uses.first { $0.block.contains(address) }?.use
    }

    /// The IPv4 addresses that the address carries, to which its packets may go. Most addresses carry none.
    var carried: [IPAddress] {
        guard case .v6(let bits) = self else { return [] }
        return CarryingForm(ofV6: bits)?.addresses ?? []
    }

    /// A form of IPv6 addresses that carry IPv4 addresses.
    private struct CarryingForm {
        let name: String
        let addresses: [IPAddress]
        /// Whether the address is only another spelling of the IPv4 address, and public if that is public.
        var isSpelling = false

        init?(ofV6 bits: UInt128) {
            let low = IPAddress.v4(UInt32(truncatingIfNeeded: bits))
            // ::ffff:0:0/96 (RFC 4291 §2.5.5.2) and 64:ff9b::/96 (RFC 6052 §2.1).
            if bits >> 32 == 0xffff {
                (name, addresses, isSpelling) = ("IPv4-mapped", [low], true)
            } else if bits >> 32 == 0x0064_ff9b << 64 {
                (name, addresses, isSpelling) = ("NAT64", [low], true)
            } else if bits >> 80 == 0x0064_ff9b_0001 {
                // RFC 8215. The local network decides which bits are the IPv4 address; usually they are the last ones.
                (name, addresses) = ("local use of IPv4/IPv6 translation", [low])
            } else if bits >> 32 == 0xffff_0000 {
                // RFC 2765 §2.1: ::ffff:0:<IPv4 address>.
                (name, addresses) = ("IPv4-translated", [low])
            } else if bits >> 32 == 0, bits > 1 {
                (name, addresses) = ("IPv4-compatible, deprecated", [low])
            } else if bits >> 112 == 0x2002 {
                // RFC 3056: 2002:<IPv4 address>::/48.
                (name, addresses) = ("6to4", [.v4(UInt32(truncatingIfNeeded: bits >> 80))])
            } else if bits >> 96 == 0x2001_0000 {
                // RFC 4380 §4: 2001:0:<server>:<flags and port>:<client address, inverted>.
                let client = IPAddress.v4(~UInt32(truncatingIfNeeded: bits))
                (name, addresses) = ("Teredo", [client, .v4(UInt32(truncatingIfNeeded: bits >> 64))])
            } else {
                return nil
            }
        }
    }

    /// A block of addresses and its reserved use.
    struct Use: Sendable {
        let block: AddressBlock
        let use: String

        fileprivate init(_ base: UInt32, _ length: Int, _ use: String) {
            block = AddressBlock(base: .v4(base), length: length)
            self.use = use
        }

        /// Creates the use of one IPv6 address.
        fileprivate init(high: UInt64, low: UInt64, _ use: String) {
            block = AddressBlock(base: .v6(UInt128(high) << 64 | UInt128(low)), length: 128)
            self.use = use
        }

        /// Creates the use of an IPv6 block. `prefix` is the first 64 bits, which suffice for all blocks here.
        fileprivate init(prefix: UInt64, _ length: Int, _ use: String) {
            block = AddressBlock(base: .v6(UInt128(prefix) << 64), length: length)
            self.use = use
        }
    }

    // Services of clouds for the machines in them. Elsewhere their addresses have another use or none. Most are also in
    // a block below, but are listed here for a clearer refusal. Azure's and IBM's are in no block below.
    static let cloudHosts: [Use] = [
        // Amazon, Google, Microsoft, Oracle, DigitalOcean, Hetzner, OpenStack and others: metadata, including
        // credentials.
        // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
        Use(0xa9fe_a9fe, 32, "metadata service of clouds"),
        // https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-iam-roles.html, …/eks/latest/userguide/pod-id-how-it-works.html
        Use(0xa9fe_aa02, 32, "credentials of Amazon's containers"),
        Use(0xa9fe_aa17, 32, "credentials of Amazon's containers"),
        Use(high: 0xfd00_0ec2_0000_0000, low: 0x0254, "metadata service of Amazon"),
        Use(high: 0xfd00_0ec2_0000_0000, low: 0x0023, "credentials of Amazon's containers"),
        // https://docs.cloud.google.com/compute/docs/metadata/querying-metadata
        Use(high: 0xfd20_00ce_0000_0000, low: 0x0254, "metadata service of Google"),
        // https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16: a public address, which
        // is the host in every network of Azure.
        Use(0xa83f_8110, 32, "host of Azure's machines"),
        // https://cloud.google.com/kubernetes-engine/docs/concepts/alias-ips: the usual range of a cluster's services.
        // Its first address is the API server.
        Use(0x2276_e000, 20, "services of Google's Kubernetes clusters"),
        // https://www.alibabacloud.com/help/en/ecs/user-guide/view-instance-metadata
        Use(0x6464_64c8, 32, "metadata service of Alibaba"),
        // https://www.tencentcloud.com/document/product/213/4934: metadata.tencentyun.com.
        Use(0xa9fe_0017, 32, "metadata service of Tencent"),
        // https://www.scaleway.com/en/docs/instances/reference-content/understanding-instance-metadata/
        Use(0xa9fe_2a2a, 32, "metadata service of Scaleway"),
        Use(high: 0xfd00_0042_0000_0000, low: 0x0042, "metadata service of Scaleway"),
        // The former Compute Classic of Oracle, and its current IPv6-only machines:
        // https://docs.oracle.com/en-us/iaas/Content/Compute/Tasks/gettingmetadata.htm
        Use(0xc000_00c0, 32, "metadata service of Oracle"),
        Use(high: 0xfd00_00c1_0000_0000, low: 0xa9fe_a9fe, "metadata service of Oracle"),
        // https://cloud.ibm.com/docs/vpc?topic=vpc-service-endpoints-for-vpc: public blocks that are routed only within
        // IBM's cloud.
        Use(0xa11a_0000, 16, "services of IBM's cloud"),
        Use(0xa608_0000, 14, "services of IBM's cloud"),
    ]

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
