import HTTPCore

/// Where this machine stands: its own addresses, and the prefixes whose other addresses are its neighbours, reached on the link without
/// a router.
///
/// Both may well be public addresses, of which no registry knows that they are near: a firewall that shields them from the Internet
/// does not shield them from here.
struct LocalNetwork: Sendable, Equatable {
    /// The addresses of this machine's interfaces.
    var addresses: Set<IPAddress> = []
    /// The prefixes that are on a link of this machine.
    var neighbourhoods: Set<AddressBlock> = []

    /// What the address is here; nil for one that is neither this machine's nor a neighbour's.
    func use(of address: IPAddress) -> String? {
        if addresses.contains(address) { return "an address of this machine" }
        return neighbourhoods.contains { $0.contains(address) } ? "a neighbour of this machine" : nil
    }
}

// MARK: - What the system says

extension LocalNetwork {
    /// An address of an interface.
    struct Interface: Sendable {
        /// The interface's name.
        var name: String
        var address: IPAddress
        var prefixLength: Int
        /// The address at the other end of a link that has only two.
        var peer: IPAddress?
        /// Whether the link has only two ends, such as a tunnel's.
        var isPointToPoint = false
    }

    /// Puts together what the system tells: its interfaces, and its tables of routes as the kernel writes them (proc_net(5)).
    ///
    /// The tables hold what no interface has: a prefix that a router advertises as on link to one with an address of its own
    /// (RFC 4861 §4.6.2), and what an operator has routed to a link.
    init(_ interfaces: [Interface], routesV4: String = "", routesV6: String = "") {
        for interface in interfaces {
            addresses.insert(interface.address)
            insert(interface.peer ?? interface.address, interface.prefixLength)
            if let peer = interface.peer { insert(peer, peer.width) }
        }
        // Whatever leaves through a tunnel, all of the Internet perhaps, is not near.
        let tunnels = Set(interfaces.lazy.filter(\.isPointToPoint).map(\.name))
        for line in routesV4.split(separator: "\n") {
            if let route = Self.routeV4(line), !tunnels.contains(route.interface) { insert(route.base, route.length) }
        }
        for line in routesV6.split(separator: "\n") {
            if let route = Self.routeV6(line), !tunnels.contains(route.interface) { insert(route.base, route.length) }
        }
    }

    /// A length of zero is no neighbourhood: so a default route to a link is written.
    private mutating func insert(_ base: IPAddress, _ length: Int) {
        guard (1...base.width).contains(length) else { return }
        let block = AddressBlock(base: base, length: length)
        neighbourhoods.insert(AddressBlock(base: block.first, length: length))
    }

    private typealias Route = (interface: String, base: IPAddress, length: Int)

    /// Flags of a route, from <linux/route.h>: it leads to a router, or nowhere.
    private static let gatewayFlag: UInt32 = 0x0002
    private static let rejectFlag: UInt32 = 0x0200

    /// `eth0 00D7B85D 00000000 0001 0 0 0 00FFFFFF 0 0 0`: interface, destination, gateway, flags, …, mask. Addresses are numbers as
    /// this machine reads them from network order.
    private static func routeV4(_ line: Substring) -> Route? {
        let words = line.split { $0 == "\t" || $0 == " " }
        guard words.count >= 8, let base = UInt32(words[1], radix: 16), let flags = UInt32(words[3], radix: 16),
            let mask = UInt32(words[7], radix: 16), flags & (gatewayFlag | rejectFlag) == 0
        else { return nil }
        return (String(words[0]), .v4(UInt32(bigEndian: base)), (~UInt32(bigEndian: mask)).leadingZeroBitCount)
    }

    /// `26062800…00 40 00…00 00 00…00 00000100 00000001 00000000 00000001 eth0`: destination, prefix length, source, its prefix length,
    /// next hop, metric, references, use, flags, interface.
    private static func routeV6(_ line: Substring) -> Route? {
        let words = line.split(separator: " ")
        guard words.count == 10, let base = UInt128(words[0], radix: 16), let length = Int(words[1], radix: 16),
            let flags = UInt32(words[8], radix: 16), flags & (gatewayFlag | rejectFlag) == 0
        else { return nil }
        return (String(words[9]), .v6(base), length)
    }
}
