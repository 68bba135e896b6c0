import HTTPCore

/// Where this machine stands: its own addresses, and the prefixes whose other addresses are its neighbours, reached on the link without
/// a router.
///
/// Both may well be public addresses, of which no registry knows that they are near: a firewall that shields them from the Internet
/// does not shield them from here.
struct LocalNetwork: Sendable, Equatable {
    /// The addresses of this machine's interfaces, and others that are routed to it.
    var addresses: Set<IPAddress> = []
    /// The prefixes of which all addresses are this machine's, by a local route.
    var ownBlocks: Set<AddressBlock> = []
    /// The prefixes that are on a link of this machine.
    var neighbourhoods: Set<AddressBlock> = []

    /// Names and addresses of the cluster's services, and what they are.
    var services: [String: String] = [:]

    /// What the address is here; nil for one that is neither this machine's nor a neighbour's nor the cluster's.
    func use(of address: IPAddress) -> String? {
        if let use = services[address.description] { return use }
        let isOwn = addresses.contains(address) || ownBlocks.contains { $0.contains(address) }
        if isOwn { return "an address of this machine" }
        return neighbourhoods.contains { $0.contains(address) } ? "a neighbour of this machine" : nil
    }
}

// MARK: - What the environment says

extension LocalNetwork {
    /// The ends of the variables with which Kubernetes, and links of Docker, tell of services
    /// (https://kubernetes.io/docs/tutorials/services/connect-applications-service/#environment-variables).
    static let serviceVariables = "_SERVICE_HOST"

    /// Takes over the hosts that such variables name.
    mutating func insertServices(_ variables: [String: String]) {
        for (name, host) in variables where name.hasSuffix(Self.serviceVariables) && !host.isEmpty {
            let use = name.hasPrefix("KUBERNETES_") ? "the API server of the cluster" : "a service of the cluster"
            let spelled = HostSpelling.normalize(host)
            services[IPAddress(parsing: spelled)?.description ?? spelled] = use
        }
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
    /// (RFC 4861 §4.6.2), and what an operator has routed to a link, or to this machine itself: of IPv4 the latter is in the trie alone.
    init(_ interfaces: [Interface], routesV4: String = "", routesV6: String = "", trieV4: String = "") {
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

    /// A length of zero is no block that is near: so a default route to a link is written, and the local one by which a transparent proxy
    /// gets the packets that it marks.
    private static func block(_ base: IPAddress, _ length: Int) -> AddressBlock? {
        guard (1...base.width).contains(length) else { return nil }
        let block = AddressBlock(base: base, length: length)
        return block.length > 0 ? AddressBlock(base: block.first, length: block.length) : nil
    }

    private typealias Route = (interface: String, base: IPAddress, length: Int, isLocal: Bool)

    /// Flags of a route, from <linux/route.h> and <linux/ipv6_route.h>: it leads to a router, nowhere, or to this machine itself.
    private static let gatewayFlag: UInt32 = 0x0002
    private static let rejectFlag: UInt32 = 0x0200
    private static let localFlag: UInt32 = 0x8000_0000

    /// `eth0 00D7B85D 00000000 0001 0 0 0 00FFFFFF 0 0 0`: interface, destination, gateway, flags, …, mask. Addresses are numbers as
    /// this machine reads them from network order.
    private static func routeV4(_ line: Substring) -> Route? {
        let words = line.split { $0 == "\t" || $0 == " " }
        guard words.count >= 8, let base = UInt32(words[1], radix: 16), let flags = UInt32(words[3], radix: 16),
            let mask = UInt32(words[7], radix: 16), flags & (gatewayFlag | rejectFlag) == 0
        else { return nil }
        return (String(words[0]), .v4(UInt32(bigEndian: base)), (~UInt32(bigEndian: mask)).leadingZeroBitCount, false)
    }

    /// `26062800…00 40 00…00 00 00…00 00000100 00000001 00000000 00000001 eth0`: destination, prefix length, source, its prefix length,
    /// next hop, metric, references, use, flags, interface.
    private static func routeV6(_ line: Substring) -> Route? {
        let words = line.split(separator: " ")
        guard words.count == 10, let base = UInt128(words[0], radix: 16), let length = Int(words[1], radix: 16),
            let flags = UInt32(words[8], radix: 16), flags & (gatewayFlag | rejectFlag) == 0
        else { return nil }
        return (String(words[9]), .v6(base), length, flags & localFlag != 0)
    }

    /// The blocks of local routes in a trie. Its inner nodes are `+-- 48.0.0.0/6 2 0 1`. A leaf is `|-- 48.0.0.0`, and below it stands
    /// each route that begins there: `/24 host LOCAL`, or `/24 link UNICAST` and other types, which ``routeV4(_:)`` knows or which lead
    /// nowhere.
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
