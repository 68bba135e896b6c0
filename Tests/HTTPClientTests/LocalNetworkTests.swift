import HTTPCore
import Synchronization
import System
import Testing

@testable import HTTPClient

@Suite
struct LocalNetworkTests {
    /// A machine's networks in words: addresses without a prefix, then its own blocks, then neighbouring networks.
    static func describe(_ network: LocalNetwork) -> [String] {
        let own = network.ownBlocks.map { "own \($0.base)/\($0.length)" }.sorted()
        let near = network.neighbourhoods.map { "\($0.base)/\($0.length)" }.sorted()
        return network.addresses.map(\.description).sorted() + own + near
    }

    static func interface(
        _ name: String, _ address: String, _ length: Int, peer: String? = nil, isPointToPoint: Bool = false
    ) throws -> LocalNetwork.Interface {
        LocalNetwork.Interface(
            name: name, address: try #require(IPAddress(parsing: address)), prefixLength: length,
            peer: try peer.map { try #require(IPAddress(parsing: $0)) }, isPointToPoint: isPointToPoint)
    }

    @Test("An interface has its address and the prefix of its network")
    func interfacesAreNear() throws {
        let network = LocalNetwork([
            try Self.interface("eth0", "93.184.215.7", 24), try Self.interface("eth0", "2606:2800:21f::7", 64),
            // As from DHCP in clouds: the interface lacks the prefix.
            try Self.interface("eth1", "45.55.1.9", 32), try Self.interface("eth1", "2a01:4f8::1", 128),
            // A zero prefix is the whole Internet.
            try Self.interface("odd", "9.9.9.9", 0),
        ])
        #expect(
            Self.describe(network) == [
                "2606:2800:21f::7", "2a01:4f8::1", "45.55.1.9", "9.9.9.9", "93.184.215.7",
                "2606:2800:21f::/64", "2a01:4f8::1/128", "45.55.1.9/32", "93.184.215.0/24",
            ])
    }

    @Test("A point-to-point link has a near other end, and no routed networks")
    func tunnelsAreNotNear() throws {
        let tunnel = try Self.interface("wg0", "93.184.215.7", 32, peer: "45.55.1.9", isPointToPoint: true)
        // Half of the Internet through the tunnel, and a network on a link.
        let routes = """
            Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
            wg0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0
            eth0\t0001372D\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
            """
        #expect(
            Self.describe(LocalNetwork([tunnel], routesV4: routes)) == ["93.184.215.7", "45.55.1.0/24", "45.55.1.9/32"])
    }

    @Test("Directly routed addresses are near; addresses behind a router or without a route are not")
    func routesToLinksAreNear() {
        let routesV4 = """
            Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
            eth0\t00000000\t01D7B85D\t0003\t0\t0\t0\t00000000\t0\t0\t0
            eth0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0
            eth0\t00D7B85D\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
            eth0\t00000808\t01D7B85D\t0003\t0\t0\t0\t0000FFFF\t0\t0\t0
            *\t00000909\t00000000\t0201\t0\t0\t0\t0000FFFF\t0\t0\t0
            eth0\t00
            """
        let routesV6 = """
            26062800021f00000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0
            2a0104f8000000000000000000000000 20 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     eth0
            00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo
            26062800021f00000000000000000007 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000002 00000000 80200001     eth0
            26062800
            """
        #expect(
            Self.describe(LocalNetwork([], routesV4: routesV4, routesV6: routesV6)) == [
                "2606:2800:21f::7", "2606:2800:21f::/64", "93.184.215.0/24",
            ])
    }

    /// A trie after `ip route add local 48.0.0.0/24 dev lo` and a few others.
    static let trieV4 = """
        Main:
          +-- 0.0.0.0/0 3 0 5
             |-- 0.0.0.0
                /0 universe UNICAST
             +-- 48.0.0.0/6 2 0 1
                |-- 48.0.0.0
                   /24 host LOCAL
                |-- 49.0.0.0
                   /24 universe UNREACHABLE
                |-- 50.0.0.0
                   /24 universe BLACKHOLE
             +-- 127.0.0.0/8 2 0 2
                +-- 127.0.0.0/31 1 0 0
                   |-- 127.0.0.0
                      /8 host LOCAL
                   |-- 127.0.0.1
                      /32 host LOCAL
                |-- 127.255.255.255
                   /32 link BROADCAST
             +-- 93.184.215.0/24 2 0 2
                +-- 93.184.215.0/30 2 0 2
                   |-- 93.184.215.0
                      /32 link BROADCAST
                      /24 link UNICAST
                   |-- 93.184.215.2
                      /32 host LOCAL
                |-- 93.184.215.255
                   /32 link BROADCAST
        Id 100:
          |-- 0.0.0.0
             /0 host LOCAL

        """

    @Test(
        "Distinguishes local routes in an IPv4 trie",
        arguments: [
            (trieV4, ["48.0.0.0/24", "127.0.0.0/8", "127.0.0.1/32", "93.184.215.2/32", "0.0.0.0/0"]),
            ("", []), ("\n\n", []), ("Main:\nLocal:\n", []),
            // Several routes from one address, with other scopes and a type of service.
            (
                "     |-- 45.55.1.0\n        /32 link UNICAST\n        /28 universe LOCAL\n        /24 link LOCAL tos=0x10\n",
                ["45.55.1.0/28", "45.55.1.0/24"]
            ),
            ("|-- 45.55.1.0\n/24 scope=77 LOCAL\n/25 scope=77 type 77\n", ["45.55.1.0/24"]),
            // Truncated texts, and texts that no kernel writes.
            ("|-- 45.55.1.0\n/24 host LOC", []), ("|-- 45.55.1.0\n/24 host", []), ("|-- 45.55", []),
            ("|-- 45.55\n/24 host LOCAL\n", []), ("/24 host LOCAL\n", []),
            ("|-- 45.55.1.0\n+-- 45.55.2.0/24 2 0 2\n/24 host LOCAL\n", []),
            ("|-- 45.55.1.0\n/33 host LOCAL\n/-1 host LOCAL\n/ host LOCAL\n/x host LOCAL\n", []),
        ] as [(String, [String])])
    func localRoutesAreRead(trie: String, blocks: [String]) {
        #expect(LocalNetwork.localBlocks(trieV4: trie).map { "\($0.base)/\($0.length)" } == blocks)
    }

    @Test("Addresses routed to this machine are its own on any interface, except the default route")
    func localRoutesAreOwn() throws {
        let routesV6 = """
            26001f18000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000400 00000001 00000000 80000001      wg0
            00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 00000400 00000001 00000000 80000001       lo
            """
        let tunnel = try Self.interface("wg0", "10.9.0.1", 32, isPointToPoint: true)
        let network = LocalNetwork([tunnel], routesV6: routesV6, trieV4: Self.trieV4)
        #expect(
            Self.describe(network) == [
                "10.9.0.1", "127.0.0.1", "93.184.215.2", "own 127.0.0.0/8", "own 2600:1f18::/64", "own 48.0.0.0/24",
                "10.9.0.1/32",
            ])
        let guarding = DestinationGuard { network }
        for host in ["48.0.0.5", "48.0.0.255", "[::ffff:48.0.0.5]", "[64:ff9b::48.0.0.5]", "[2600:1f18::5]", "93.184.215.2"] {
            guard case .forbidden(let reason) = guarding.evaluate(host: host, port: 80) else {
                Issue.record("\(host) is not refused")
                continue
            }
            #expect(reason.contains("an address of this machine"), "\(host)")
        }
        for host in ["48.0.1.5", "49.0.0.5", "8.8.8.8", "2600:1f18:0:1::5"] {
            #expect(guarding.evaluate(host: host, port: 80) == .allowed, "\(host)")
        }
    }

    @Test("Near mapped addresses mean near IPv4 addresses, not all of them")
    func mappedRoutesAreV4() {
        let routesV6 = """
            00000000000000000000ffff00000000 60 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0
            00000000000000000000ffff2d370100 78 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0
            """
        #expect(Self.describe(LocalNetwork([], routesV6: routesV6)) == ["45.55.1.0/24"])
    }

    /// A system whose responses a test decides at chosen times.
    final class FakeSystem: Sendable {
        private let state: Locked<(now: ContinuousClock.Instant, network: LocalNetwork?, readings: Int)> = Locked((.now, nil, 0))

        var readings: Int { state.withLock { $0.readings } }

        func set(_ network: LocalNetwork?, after time: Duration) {
            state.withLock { ($0.now, $0.network) = ($0.now + time, network) }
        }

        var reader: LocalNetworkReader {
            LocalNetworkReader(now: { self.state.withLock { $0.now } }) { () throws(SystemError) in
                let network = self.state.withLock { state in
                    state.readings += 1
                    return state.network
                }
                guard let network else { throw SystemError(24) }
                return network
            }
        }
    }

    @Test("Notices a change within seconds, even after a failed query; until then the last result applies")
    func changesAreKnownSoon() throws {
        let (old, new) = (
            LocalNetwork([try Self.interface("eth0", "93.184.215.7", 24)]),
            LocalNetwork([try Self.interface("eth0", "45.55.1.9", 24)])
        )
        let system = FakeSystem()
        let reader = system.reader
        #expect(reader.network == nil)
        system.set(old, after: .milliseconds(500))
        #expect(reader.network == nil)
        system.set(old, after: .seconds(1))
        #expect(reader.network == old)
        // The system is not asked for each connection.
        #expect(reader.network == old)
        #expect(system.readings == 2)
        system.set(nil, after: .seconds(6))
        #expect(reader.network == old)
        system.set(new, after: .seconds(2))
        #expect(reader.network == new)
        #expect(LocalNetworkReader.validity + LocalNetworkReader.patience < .seconds(30))
    }

    @Test("The system reports 127.0.0.1 as this machine's address")
    func systemKnowsLoopback() throws {
        let network = try #require(LocalNetworkReader.system.network)
        #expect(network.addresses.contains(.v4(0x7f00_0001)))
        #expect(network.neighbourhoods.contains(AddressBlock(base: .v4(0x7f00_0000), length: 8)))
    }
}
