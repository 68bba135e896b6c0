import HTTPCore
import Synchronization
import System
import Testing

@testable import HTTPClient

@Suite
struct LocalNetworkTests {
    /// Where a machine stands, in words: addresses without a prefix, then neighbourhoods.
    static func describe(_ network: LocalNetwork) -> [String] {
        network.addresses.map(\.description).sorted() + network.neighbourhoods.map { "\($0.base)/\($0.length)" }.sorted()
    }

    static func interface(
        _ name: String, _ address: String, _ length: Int, peer: String? = nil, isPointToPoint: Bool = false
    ) throws -> LocalNetwork.Interface {
        LocalNetwork.Interface(
            name: name, address: try #require(IPAddress(parsing: address)), prefixLength: length,
            peer: try peer.map { try #require(IPAddress(parsing: $0)) }, isPointToPoint: isPointToPoint)
    }

    @Test("An interface stands for its address and the prefix it is in")
    func interfacesAreNear() throws {
        let network = LocalNetwork([
            try Self.interface("eth0", "93.184.215.7", 24), try Self.interface("eth0", "2606:2800:21f::7", 64),
            // As DHCP gives them in clouds: the prefix is not on the interface.
            try Self.interface("eth1", "45.55.1.9", 32), try Self.interface("eth1", "2a01:4f8::1", 128),
            // No prefix is all of the Internet.
            try Self.interface("odd", "9.9.9.9", 0),
        ])
        #expect(
            Self.describe(network) == [
                "2606:2800:21f::7", "2a01:4f8::1", "45.55.1.9", "9.9.9.9", "93.184.215.7",
                "2606:2800:21f::/64", "2a01:4f8::1/128", "45.55.1.9/32", "93.184.215.0/24",
            ])
    }

    @Test("A link of two ends has the other end near, and not what is routed through it")
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

    @Test("What is routed to a link is near, and what is routed to a router or nowhere is not")
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
                "2606:2800:21f::/64", "2606:2800:21f::7/128", "93.184.215.0/24",
            ])
    }

    /// A system whose answers a test decides, at a time that it decides.
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

    @Test("A change is known within seconds, also when the system fails to tell once; what was known stays meanwhile")
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
        // Not asked at each connection.
        #expect(reader.network == old)
        #expect(system.readings == 2)
        system.set(nil, after: .seconds(6))
        #expect(reader.network == old)
        system.set(new, after: .seconds(2))
        #expect(reader.network == new)
        #expect(LocalNetworkReader.validity + LocalNetworkReader.patience < .seconds(30))
    }

    @Test("The system tells that 127.0.0.1 is this machine's")
    func systemKnowsLoopback() throws {
        let network = try #require(LocalNetworkReader.system.network)
        #expect(network.addresses.contains(.v4(0x7f00_0001)))
        #expect(network.neighbourhoods.contains(AddressBlock(base: .v4(0x7f00_0000), length: 8)))
    }
}
