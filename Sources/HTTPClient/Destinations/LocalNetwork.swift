import HTTPCore

/// The local network of this machine: its own addresses, and the prefixes of its neighbours, which it reaches on a link
/// without a router.
///
/// These can be public addresses, which no registry lists as local. A firewall that protects them from the Internet
/// does not protect them from this machine.
struct LocalNetwork: Sendable, Equatable {
    /// The addresses of this machine's interfaces, and others that are routed to it.
    var addresses: Set<IPAddress> = []
    /// The prefixes whose addresses all belong to this machine, by a local route.
    var ownBlocks: Set<AddressBlock> = []
    /// The prefixes on a link of this machine.
    var neighbourhoods: Set<AddressBlock> = []

    /// The uses of the cluster's services, by name or address.
    var services: [String: String] = [:]

    /// The use of an address here; nil unless it belongs to this machine, a neighbour or the cluster.
    func use(of address: IPAddress) -> String? {
        if let use = services[address.description] { return use }
        let isOwn = addresses.contains(address) || ownBlocks.contains { $0.contains(address) }
        if isOwn { return "an address of this machine" }
        return neighbourhoods.contains { $0.contains(address) } ? "a neighbour of this machine" : nil
    }
}

// MARK: - The environment

extension LocalNetwork {
    /// The suffix of the variables by which Kubernetes, and links of Docker, publish services
    /// (https://kubernetes.io/docs/tutorials/services/connect-applications-service/#environment-variables).
    static let serviceVariables = "_SERVICE_HOST"

    /// Adds the hosts of such variables to the services.
    mutating func insertServices(_ variables: [String: String]) {
        for (name, host) in variables where name.hasSuffix(Self.serviceVariables) && !host.isEmpty {
            let use = name.hasPrefix("KUBERNETES_") ? "the API server of the cluster" : "a service of the cluster"
            let spelled = HostSpelling.normalize(host)
            services[IPAddress(parsing: spelled)?.description ?? spelled] = use
        }
    }
}

// MARK: - The system

extension LocalNetwork {
    /// An address of an interface.
    struct Interface: Sendable {
        /// The interface's name.
        var name: String
        var address: IPAddress
        var prefixLength: Int
        /// The address at the other end of a point-to-point link; nil for other links.
        var peer: IPAddress?
        /// Whether the link has only two ends, such as a tunnel.
        var isPointToPoint = false
    }

    /// Creates the network from the system's interfaces and its tables of routes, as text from the kernel
    /// (proc_net(5)).
    ///
    /// The tables have prefixes that no interface has. A router may advertise a prefix as on-link to an interface with
    /// another address (RFC 4861 §4.6.2). An operator may have routed a prefix to a link or to this machine itself. For
    /// IPv4, the latter routes are only in the trie.
    init(_ interfaces: [Interface], routesV4: String = "", routesV6: String = "", trieV4: String = "") {
        for interface in interfaces {
            addresses.insert(interface.address)
            insert(interface.peer ?? interface.address, interface.prefixLength)
            if let peer = interface.peer { insert(peer, peer.width) }
        }
        // Destinations through a tunnel, possibly the whole Internet, are not near.
        let tunnels = Set(interfaces.lazy.filter(\.isPointToPoint).map(\.name))
        for line in routesV4.split(separator: "\n") {
            if let route = Self.routeV4(line), !tunnels.contains(route.interface) { insert(route.base, route.length) }
        }
        for line in routesV6.split(separator: "\n") {
            guard let route = Self.routeV6(line) else { continue }
            if route.isLocal {
                insertOwn(route.base, route.length)
            } else if !tunnels.contains(route.interface) {
                insert(route.base, route.length)
            }
        }
        for block in Self.localBlocks(trieV4: trieV4) { insertOwn(block.base, block.length) }
    }

    private mutating func insert(_ base: IPAddress, _ length: Int) {
        if let block = Self.block(base, length) { neighbourhoods.insert(block) }
    }

    private mutating func insertOwn(_ base: IPAddress, _ length: Int) {
        guard let block = Self.block(base, length) else { return }
        if block.length == block.base.width { addresses.insert(block.base) } else { ownBlocks.insert(block) }
    }

    /// A prefix of length zero is not near. Default routes to a link have that length. So has the local route by which
    /// a transparent proxy receives the packets that it marks.
    private static func block(_ base: IPAddress, _ length: Int) -> AddressBlock? {
        guard (1...base.width).contains(length) else { return nil }
        let block = AddressBlock(base: base, length: length)
        return block.length > 0 ? AddressBlock(base: block.first, length: block.length) : nil
    }

    private typealias Route = (interface: String, base: IPAddress, length: Int, isLocal: Bool)

    /// Flags of <linux/route.h> and <linux/ipv6_route.h>: the route leads to a router, nowhere, or to this machine.
    private static let gatewayFlag: UInt32 = 0x0002
    private static let rejectFlag: UInt32 = 0x0200
    private static let localFlag: UInt32 = 0x8000_0000

    /// Parses `eth0 00D7B85D 00000000 0001 0 0 0 00FFFFFF 0 0 0`: interface, destination, gateway, flags, …, mask.
    /// Addresses are in network order, but written as numbers of this machine's byte order. Nil for routes to a router
    /// or nowhere.
    private static func routeV4(_ line: Substring) -> Route? {
        let words = line.split { $0 == "\t" || $0 == " " }
        guard words.count >= 8, let base = UInt32(words[1], radix: 16), let flags = UInt32(words[3], radix: 16),
            let mask = UInt32(words[7], radix: 16), flags & (gatewayFlag | rejectFlag) == 0
        else { return nil }
        return (String(words[0]), .v4(UInt32(bigEndian: base)), (~UInt32(bigEndian: mask)).leadingZeroBitCount, false)
    }

    /// Parses `26062800…00 40 00…00 00 00…00 00000100 00000001 00000000 00000001 eth0`: destination, prefix length,
    /// source, its prefix length, next hop, metric, references, use, flags, interface. Nil for routes to a router or
    /// nowhere.
    private static func routeV6(_ line: Substring) -> Route? {
        let words = line.split(separator: " ")
        guard words.count == 10, let base = UInt128(words[0], radix: 16), let length = Int(words[1], radix: 16),
            let flags = UInt32(words[8], radix: 16), flags & (gatewayFlag | rejectFlag) == 0
        else { return nil }
        return (String(words[9]), .v6(base), length, flags & localFlag != 0)
    }

    /// Parses the blocks of local routes in a trie. An inner node is `+-- 48.0.0.0/6 2 0 1`. A leaf is `|-- 48.0.0.0`,
    /// followed by each route that begins there, such as `/24 host LOCAL`. Routes of other types, such as
    /// `/24 link UNICAST`, are skipped: ``routeV4(_:)`` parses them, or they lead nowhere.
    static func localBlocks(trieV4: String) -> [AddressBlock] {
        var blocks: [AddressBlock] = []
        var leaf: IPAddress?
        for line in trieV4.utf8.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "))
            guard let first = words.first else { continue }
            if first.first != UInt8(ascii: "/") {
                leaf = nil
                if words.count == 2, first.elementsEqual("|--".utf8) { leaf = IPAddress(parsing: Substring(words[1])) }
            } else if let leaf, words.count >= 3, words[2].elementsEqual("LOCAL".utf8),
                let length = Int(Substring(first.dropFirst())), (0...leaf.width).contains(length)
            {
                blocks.append(AddressBlock(base: leaf, length: length))
            }
        }
        return blocks
    }
}
