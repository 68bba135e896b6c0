import HTTPCore
import Testing

@testable import HTTPServer

@Suite struct ConnectionRegistryTests {
    private let start = Moment.now

    private func at(_ seconds: Int) -> Moment { start + .seconds(seconds) }

    private func limits(_ connections: Int, surplus: Int = 2, perAddress: Int? = 0) -> ServerLimits {
        var limits = ServerLimits()
        limits.connections = connections
        limits.refusedConnections = surplus
        limits.connectionsPerAddress = perAddress
        return limits
    }

    /// Two loops and their knowledge of each other; connections have numbers in order.
    private final class Crowd {
        let registry: ConnectionRegistry
        private let members: [LoopGroup.Member]
        private(set) var entries: [ConnectionRegistry.Entry] = []

        init(_ limits: ServerLimits, _ ingress: Ingress = Ingress()) throws {
            registry = ConnectionRegistry(limits: limits, ingress: ingress)
            members = [try LoopGroup.Member(), try LoopGroup.Member()]
        }

        /// Adds a connection, alternating between the loops. Returns nothing, or "regular" or "surplus" with the
        /// numbers of the connections that close for it.
        func add(_ host: String = "192.0.2.1", idleSince: Moment? = nil, isLast: Bool = false, now: Moment) -> String? {
            let id = ConnectionID(slot: UInt32(entries.count), generation: 0)
            let peer = SocketAddress(host: host, port: 1)
            let member = members[entries.count % 2]
            guard let admission = registry.admit(id, member, from: peer, isLast: isLast, now: now) else { return nil }
            admission.entry.idleSince = idleSince
            entries.append(admission.entry)
            return (admission.refusal == nil ? "regular" : "surplus") + admission.leavers.map { " \($0.entry.id.slot)" }.joined()
        }
    }

    @Test("Below the limit no connection is closed; at it the longest idle one is, on any loop")
    func theLongestIdleGivesWay() throws {
        let crowd = try Crowd(limits(4, surplus: 10))
        for idle in [3, 1, nil, 2] { #expect(crowd.add(idleSince: idle.map(at), now: at(4)) == "regular") }
        #expect(crowd.add(idleSince: at(5), now: at(5)) == "regular 1")
        #expect(crowd.add(idleSince: at(6), now: at(6)) == "regular 3")
        // A connection that was used since is no longer the longest idle one.
        crowd.entries[0].idleSince = at(7)
        #expect(crowd.add(idleSince: at(7), now: at(8)) == "regular 4")
    }

    @Test("Without idle connections a new one is surplus; beyond the surplus limit, the longest idle one of them is closed")
    func surplus() throws {
        let crowd = try Crowd(limits(2))
        for _ in 0..<2 { #expect(crowd.add(now: at(0)) == "regular") }
        #expect(crowd.add(idleSince: at(1), now: at(1)) == "surplus")
        #expect(crowd.add(now: at(2)) == "surplus")
        #expect(crowd.add(now: at(3)) == "surplus 2")
        #expect(crowd.add(now: at(4)) == nil)
        crowd.registry.remove(crowd.entries[0])
        #expect(crowd.add(now: at(5)) == "regular")
        // Closing connections hold their descriptors until they have ended.
        crowd.entries[3].idleSince = at(5)
        #expect(crowd.add(now: at(6)) == "surplus 3")
        crowd.entries[4].idleSince = at(6)
        #expect(crowd.add(now: at(7)) == nil)
        crowd.registry.remove(crowd.entries[2])
        #expect(crowd.add(now: at(8)) == "surplus 4")
    }

    @Test("With the last descriptors the longest idle connection is closed, and without one the new one is surplus")
    func lastDescriptors() throws {
        let crowd = try Crowd(limits(4))
        #expect(crowd.add(isLast: true, now: at(0)) == "surplus")
        #expect(crowd.add(idleSince: at(1), now: at(1)) == "regular")
        #expect(crowd.add(now: at(2)) == "regular")
        #expect(crowd.add(isLast: true, now: at(3)) == "regular 1")
        #expect(crowd.add(isLast: true, now: at(4)) == "surplus")
        #expect(crowd.add(now: at(5)) == "regular")
    }

    @Test("A connection that becomes active again stays, and another one is closed later")
    func keeping() throws {
        let crowd = try Crowd(limits(2))
        for idle in [1, 2] { #expect(crowd.add(idleSince: at(idle), now: at(2)) == "regular") }
        #expect(crowd.add(idleSince: at(3), now: at(3)) == "regular 0")
        crowd.entries[0].idleSince = nil
        crowd.registry.keep(crowd.entries[0])
        #expect(crowd.add(now: at(4)) == "regular 1 2")
    }

    @Test("By default an address may have half of the connections; this machine and trusted proxies all")
    func usualLimit() throws {
        var ingress = Ingress()
        ingress.trustedProxies = ["198.51.100.0/24", "2001:db8:1::/48"].compactMap(AddressBlock.init(parsing:))
        for (host, isLimited) in [
            ("192.0.2.1", true), ("2001:db8::1", true), ("::ffff:192.0.2.1", true), ("127.0.0.1", false), ("127.9.9.9", false),
            ("::1", false), ("::ffff:127.0.0.1", false), ("198.51.100.7", false), ("2001:db8:1::1", false), ("unix", false),
        ] {
            let crowd = try Crowd(limits(6, perAddress: nil), ingress)
            for _ in 0..<3 { #expect(crowd.add(host, now: at(0)) == "regular", "\(host)") }
            #expect(crowd.add(host, now: at(1)) == (isLimited ? "surplus" : "regular"), "\(host)")
            #expect(crowd.add("203.0.113.1", now: at(2)) == "regular", "\(host)")
            crowd.registry.limit(connections: 10)
            #expect(crowd.add(host, now: at(3)) == "regular", "\(host)")
        }
    }

    @Test("Limits the connections of an address; an IPv6 network is one address, and closed ones free room")
    func addresses() throws {
        let crowd = try Crowd(limits(100, perAddress: 2))
        for host in ["192.0.2.1", "192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"] {
            #expect(crowd.add(host, idleSince: at(0), now: at(0)) == "regular")
        }
        #expect(crowd.add("192.0.2.1", now: at(1)) == "surplus")
        #expect(crowd.add("2001:db8::3", now: at(1)) == "surplus")
        #expect(crowd.add("192.0.2.3", now: at(1)) == "regular")
        crowd.registry.remove(crowd.entries[0])
        #expect(crowd.add("192.0.2.1", now: at(2)) == "regular")
        #expect(crowd.add("192.0.2.1", now: at(2)) == nil)
    }
}
