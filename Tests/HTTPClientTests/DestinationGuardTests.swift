import HTTPCore
import Testing

@testable import HTTPClient

@Suite
struct DestinationGuardTests {
    @Test(
        "Refuses forbidden hosts as written",
        arguments: [
            "127.0.0.1", "127.1", "0x", "0x7f000001", "0x7f.1", "017700000001", "2130706433", "127.0.0.1.", "0", "0.0.0.0",
            "10.0.0.1",
            "169.254.169.254", "192.168.1.1", "[::1]", "::1", "::ffff:127.0.0.1", "[::ffff:7f00:1]", "fe80::1", "fe80::1%25eth0",
            "fe80::1%eth0",
            "64:ff9b::10.0.0.1", "localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.LocalHost.", "%6c%6f%63alhost",
            "127.0.0.%31",
            "１２７.０.０.１", "127。0。0。1", "127．0｡0.1", "①②⑦.0.0.1", "٠", "loc\u{ad}alhost", "ｌｏｃａｌｈｏｓｔ", "local\u{200b}host",
            "", ".", "..", "a..b", "127.0.0.1..", "1.2.3.4.5", "256.256.256.256", "example.0x", "example.1", "09.1.1.1",
            "exa mple.org",
            "example.org/", "example.org\\@127.0.0.1", "a:b", "user@host", "[::1", "::1]", "example%2eorg%00",
        ])
    func forbiddenHostsAreRefused(host: String) {
        guard case .forbidden = DestinationGuard().evaluate(host: host, port: 80) else {
            Issue.record("\(host) is not refused")
            return
        }
    }

    @Test(
        "Refuses names of the cluster and of the container's host as written",
        arguments: [
            "kubernetes", "kubernetes.default", "kubernetes.default.svc", "KUBERNETES.default.SVC.", "a.b.svc.cluster.local",
            "cluster.local", "10-0-0-1.default.pod.cluster.local", "host.docker.internal", "Host.Docker.Internal.",
            "gateway.docker.internal", "kubernetes.docker.internal", "host.containers.internal",
        ])
    func clusterNamesAreRefused(host: String) throws {
        guard case .forbidden = DestinationGuard().evaluate(host: host, port: 80) else {
            Issue.record("\(host) is not refused")
            return
        }
        let rule = try DestinationRule(parsing: host)
        #expect(DestinationGuard(allowed: [rule]).evaluate(host: host, port: 80) == .allowed)
    }

    @Test(
        "A name that a proxy resolves is checked without addresses",
        arguments: [
            // host, refused
            ("metadata.example.com", true), ("METADATA.packet.net.", true), ("instance-data.example", true),
            ("vault.internal", true), ("printer.local", true), ("nas.home.arpa", true), ("db.localdomain", true),
            ("metadata-store.example", false), ("internal.example", false), ("local.example", false), ("example.org", false),
        ])
    func namesResolvedElsewhere(host: String, isRefused: Bool) {
        let verdict = DestinationGuard().evaluate(host: host, port: 80, isResolvedElsewhere: true)
        if case .forbidden = verdict { #expect(isRefused) } else { #expect(!isRefused) }
        #expect(DestinationGuard().evaluate(host: host, port: 80) == .dependsOnAddress)
    }

    @Test("Refuses cluster services from the environment by address and name")
    func servicesOfTheEnvironment() throws {
        var network = LocalNetwork()
        network.insertServices([
            "KUBERNETES_SERVICE_HOST": "198.41.0.1", "STORE_SERVICE_HOST": "2606:4700:0:0::1",
            "API_SERVICE_HOST": "Api.hcp.example.", "EMPTY_SERVICE_HOST": "", "HOST": "8.8.8.8",
        ])
        let guarding = DestinationGuard { [network] in network }
        func isRefused(_ host: String) -> Bool {
            if case .forbidden = guarding.evaluate(host: host, port: 443) { true } else { false }
        }
        for host in ["198.41.0.1", "[2606:4700::1]", "api.hcp.example", "::ffff:198.41.0.1"] {
            #expect(isRefused(host), "\(host)")
        }
        for host in ["198.41.0.2", "8.8.8.8", "example.org"] { #expect(!isRefused(host), "\(host)") }
        guard case .forbidden(let reason) = guarding.evaluate(.v4(0xc629_0001), port: 443, forHost: "innocent.example") else {
            Issue.record("an address of the cluster is not refused")
            return
        }
        #expect(reason.contains("API server of the cluster"))
    }

    @Test(
        "Checks a name by its addresses",
        arguments: [
            "example.org", "EXAMPLE.org.", "a-b_c.example", "xn--bcher-kva.example", "bücher.example", "intranet", "1a.example",
            "mylocalhost",
        ])
    func nameDependsOnAddresses(host: String) {
        #expect(DestinationGuard().evaluate(host: host, port: 80) == .dependsOnAddress)
    }

    @Test(
        "Allows public addresses",
        arguments: ["8.8.8.8", "2606:4700:4700::1111", "[2606:4700:4700::1111]", "0x08080808", "134744072"])
    func publicAddressIsAllowed(host: String) {
        #expect(DestinationGuard().evaluate(host: host, port: 80) == .allowed)
    }

    @Test(
        "--allow-private allows every destination",
        arguments: ["127.0.0.1", "localhost", "::1", "10.0.0.1", "fe80::1", "printer.local"])
    func permissiveGuardAllowsAll(host: String) throws {
        let permissive = DestinationGuard(allowsPrivate: true)
        #expect(permissive.evaluate(host: host, port: 80) == .allowed)
        #expect(permissive.evaluate(.v4(0x7f00_0001), port: 80, forHost: host) == .allowed)
    }

    @Test(
        "Rules allow matching destinations only",
        arguments: [
            // rule, host, port, address, allowed
            ("127.0.0.1", "127.0.0.1", 80, "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", 80, "127.0.0.2", false),
            ("127.0.0.1:8080", "127.0.0.1", 8080, "127.0.0.1", true),
            ("127.0.0.1:8080", "127.0.0.1", 80, "127.0.0.1", false),
            ("127.0.0.0/8", "127.9.9.9", 80, "127.9.9.9", true),
            ("127.0.0.0/8", "127.1", 80, "127.0.0.1", true),
            ("10.0.0.0/8:443", "internal", 443, "10.1.2.3", true),
            ("10.0.0.0/8:443", "internal", 80, "10.1.2.3", false),
            ("10.0.0.0/8", "internal", 80, "::ffff:10.1.2.3", true),
            ("10.0.0.0/8", "internal", 80, "64:ff9b::10.1.2.3", false),
            ("::1", "::1", 80, "::1", true),
            ("[::1]:9000", "[::1]", 9000, "::1", true),
            ("[::1]:9000", "::1", 9001, "::1", false),
            ("[fd00::/8]:80", "nas", 80, "fd12::1", true),
            ("fd00::/8", "nas", 80, "fc00::1", false),
            ("0.0.0.0/0", "x", 80, "192.168.1.1", true),
            ("0.0.0.0/0", "x", 80, "::1", false),
            ("nas.example", "nas.example", 80, "10.0.0.9", true),
            ("nas.example", "NAS.example.", 80, "10.0.0.9", true),
            ("nas.example", "other.example", 80, "10.0.0.9", false),
            ("nas.example:80", "nas.example", 81, "10.0.0.9", false),
            ("*.example", "nas.example", 80, "10.0.0.9", true),
            ("*.example", "a.b.example", 80, "10.0.0.9", true),
            ("*.example", "example", 80, "10.0.0.9", false),
            ("*.example", "notexample", 80, "10.0.0.9", false),
            ("*.example:8443", "nas.example", 8443, "10.0.0.9", true),
            ("localhost", "localhost", 80, "127.0.0.1", true),
            ("::ffff:10.0.0.0/104", "internal", 80, "10.1.2.3", true),
            ("::ffff:10.0.0.0/104", "internal", 80, "::ffff:10.1.2.3", true),
            ("::ffff:10.0.0.0/104", "internal", 80, "192.168.1.1", false),
            ("[::ffff:127.0.0.1]:80", "127.1", 80, "127.0.0.1", true),
        ])
    func rulesAllowMatchingDestinations(rule: String, host: String, port: Int, text: String, isAllowed: Bool)
        throws
    {
        let destinationGuard = DestinationGuard(allowsPrivate: false, allowed: [try DestinationRule(parsing: rule)])
        let address = try #require(IPAddress(parsing: text))
        let byHost = destinationGuard.evaluate(host: host, port: port)
        let byAddress = destinationGuard.evaluate(address, port: port, forHost: host)
        #expect((byAddress == .allowed) == isAllowed)
        if isAllowed { #expect(byHost == .allowed || byHost == .dependsOnAddress) } else { #expect(byHost != .allowed) }
    }

    /// A machine with public addresses, in two networks and at the end of a tunnel.
    static let publicNetwork = LocalNetwork([
        LocalNetwork.Interface(name: "lo", address: .v4(0x7f00_0001), prefixLength: 8),
        LocalNetwork.Interface(name: "eth0", address: .v4(0x5db8_d707), prefixLength: 24),  // 93.184.215.7
        LocalNetwork.Interface(name: "eth0", address: .v6(0x2606_2800_021f << 80 | 7), prefixLength: 64),
    ])

    @Test(
        "Refuses this machine's own addresses and neighbours in every spelling",
        arguments: [
            ("93.184.215.7", "an address of this machine"), ("93.184.215.1", "a neighbour of this machine"),
            ("93.184.215.255", "a neighbour of this machine"), ("0x5db8d707", "an address of this machine"),
            ("93.12113671", "an address of this machine"), ("[::ffff:93.184.215.7]", "an address of this machine"),
            ("[::ffff:5db8:d701]", "a neighbour of this machine"), ("[64:ff9b::93.184.215.7]", "an address of this machine"),
            ("[64:ff9b::5db8:d709]", "a neighbour of this machine"), ("[2002:5db8:d707::1]", "6to4"),
            ("[64:ff9b:1::5db8:d707]", "local use of IPv4/IPv6 translation"),
            ("[2606:2800:21f::7]", "an address of this machine"), ("[2606:2800:21f:0::ffff]", "a neighbour of this machine"),
        ])
    func nearDestinationsAreRefused(host: String, use: String) throws {
        let near = DestinationGuard { Self.publicNetwork }
        guard case .forbidden(let reason) = near.evaluate(host: host, port: 80) else {
            Issue.record("\(host) is not refused")
            return
        }
        #expect(reason.contains(use))
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let address = try #require(IPAddress(parsingLeniently: bare))
        guard case .forbidden = near.evaluate(address, port: 80, forHost: "a.example") else {
            Issue.record("\(address) is not refused")
            return
        }
        // Allowed explicitly.
        #expect(DestinationGuard(allowsPrivate: true) { Self.publicNetwork }.evaluate(host: host, port: 80) == .allowed)
        let rules = ["93.184.215.0/24", "::/0", "a.example"]
        let allowing = DestinationGuard(allowed: try rules.map { try DestinationRule(parsing: $0) }) { Self.publicNetwork }
        #expect(allowing.evaluate(address, port: 80, forHost: "a.example") == .allowed)
    }

    @Test(
        "Checks distant addresses by the usual rules",
        arguments: ["93.184.214.255", "93.184.216.34", "2606:2800:21f:1::7", "2606:2800:220::7", "8.8.8.8", "64:ff9b::8.8.8.8"])
    func farDestinationsAreAllowed(host: String) {
        #expect(DestinationGuard { Self.publicNetwork }.evaluate(host: host, port: 80) == .allowed)
    }

    @Test("Refuses addresses of all machines if the system does not list its own")
    func unknownNetworkAllowsNothing() throws {
        let blind = DestinationGuard(allowed: [try DestinationRule(parsing: "8.8.4.0/24")]) { nil }
        #expect(blind.evaluate(host: "8.8.8.8", port: 80) != .allowed)
        #expect(blind.evaluate(host: "8.8.4.4", port: 80) == .allowed)
    }

    @Test(
        "Refuses names of metadata services and loopback without a lookup",
        arguments: [
            "metadata.google.internal", "METADATA.google.internal.", "metadata.goog", "instance-data.ec2.internal",
            "metadata", "instance-data", "Instance-Data.", "instance-data.eu-west-1.compute.internal", "metadata.azure.internal",
            "api.metadata.cloud.ibm.com", "metadata.tencentyun.com", "localhost.localdomain", "ip6-localhost", "ip6-loopback",
        ])
    func knownNamesAreRefused(host: String) {
        guard case .forbidden = DestinationGuard().evaluate(host: host, port: 80) else {
            Issue.record("\(host) is not refused")
            return
        }
    }

    @Test(
        "Denial takes precedence over every permission",
        arguments: [
            // rule, host, port, address
            ("10.0.0.5", "nas.example", 80, "10.0.0.5"), ("10.0.0.5", "10.0.0.5", 80, "10.0.0.5"),
            ("10.0.0.5", "10.5", 80, "10.0.0.5"), ("10.0.0.0/8", "nas.example", 80, "::ffff:10.0.0.5"),
            ("10.0.0.0/8", "nas.example", 80, "64:ff9b::a00:5"), ("10.0.0.0/8", "nas.example", 80, "64:ff9b:1::a00:5"),
            ("10.0.0.0/8", "nas.example", 80, "2002:a00:5::1"), ("10.0.0.0/8", "nas.example", 80, "::10.0.0.5"),
            ("10.0.0.0/8", "nas.example", 80, "::ffff:0:10.0.0.5"), ("10.0.0.5:80", "nas.example", 80, "10.0.0.5"),
            ("nas.example", "nas.example", 80, "8.8.8.8"), ("nas.example", "NAS.example.", 443, "8.8.8.8"),
            ("*.example", "a.b.example", 80, "8.8.8.8"), ("fd00::/8", "nas.example", 80, "fd00::1"),
            ("8.8.8.8", "dns.example", 443, "8.8.8.8"), ("127.0.0.0/8", "localhost", 80, "127.0.0.1"),
            ("::ffff:127.0.0.1", "127.0.0.1", 80, "127.0.0.1"), ("::ffff:127.0.0.0/104", "127.1", 80, "127.0.0.1"),
            ("::ffff:127.0.0.0/104", "[::ffff:7f00:1]", 80, "::ffff:127.0.0.1"),
            ("::ffff:127.0.0.0/104", "localhost", 80, "127.0.0.1"),
            ("::ffff:10.0.0.0/104", "nas.example", 80, "64:ff9b::a00:5"),
        ])
    func deniedIsRefused(rule: String, host: String, port: Int, text: String) throws {
        let denied = [try DestinationRule(parsing: rule)]
        let everything = try ["0.0.0.0/0", "::/0", "*.example", "nas.example", "localhost"].map {
            try DestinationRule(parsing: $0)
        }
        let address = try #require(IPAddress(parsing: text))
        for guarding in [
            DestinationGuard(allowsPrivate: true, denied: denied), DestinationGuard(allowed: everything, denied: denied),
            DestinationGuard(allowsPrivate: true, denied: denied).allowing(everything), DestinationGuard(denied: denied),
        ] {
            guard case .forbidden = guarding.evaluate(address, port: port, forHost: host) else {
                Issue.record("\(address) for \(host) is not refused")
                return
            }
            // A name that only resolution maps to such an address is not refused before it.
            let isNamed = host != "nas.example" || rule.contains("example")
            if isNamed, host != "dns.example", case .allowed = guarding.evaluate(host: host, port: port) {
                Issue.record("\(host) is not refused")
            }
        }
    }

    @Test(
        "Checks destinations that are not denied by the usual rules",
        arguments: [
            ("10.0.0.5:80", "nas.example", 81, "10.0.0.5"), ("10.0.0.5", "nas.example", 80, "10.0.0.6"),
            ("*.example", "example", 80, "8.8.8.8"), ("nas.example", "other.example", 80, "10.0.0.5"),
        ])
    func othersAreNotDenied(rule: String, host: String, port: Int, text: String) throws {
        let guarding = DestinationGuard(allowsPrivate: true, denied: [try DestinationRule(parsing: rule)])
        #expect(guarding.evaluate(host: host, port: port) == .allowed)
        #expect(guarding.evaluate(try #require(IPAddress(parsing: text)), port: port, forHost: host) == .allowed)
    }

    @Test("A refusal names host, address and reason")
    func refusalNamesItsReason() {
        let verdict = DestinationGuard().evaluate(.v4(0x0a00_0001), port: 80, forHost: "nas.example")
        #expect(verdict == .forbidden("nas.example at 10.0.0.1 (private use)"))
    }

    @Test(
        "Refuses an invalid rule with a reason",
        arguments: [
            "", "*", "*.", "**.example", "a.*.b", "host:", "host:0", "host:65536", "host:a", "host:1:2:x", "http://host",
            "host/path",
            "10.0.0.0/33",
            "10.0.0.0/", "10.0.0.0/-1", "10.0.0.1/8", "::/129", "fd00::1/8", "[::1", "[::1]x", "[::1]:", "[host]:80", "127.1",
            "0x7f000001", "1.2.3.4.5",
            "a..b", ".a", "ho st", "bücher.example", "host:+80", "10.0.0.0/+8", "*.1.2.3",
        ])
    func badRuleIsRefused(text: String) {
        do throws(DestinationRuleError) {
            _ = try DestinationRule(parsing: text)
            Issue.record("\(text) is taken")
        } catch {
            #expect(error.text == text)
            #expect(!error.reason.isEmpty)
        }
    }

    @Test("A block with stray bits suggests the correct block")
    func blockWithStrayBits() {
        let error = #expect(throws: DestinationRuleError.self) { try DestinationRule(parsing: "10.1.2.3/8") }
        #expect(error?.reason == "the address has bits beyond its prefix; the block is 10.0.0.0/8")
        let mapped = #expect(throws: DestinationRuleError.self) { try DestinationRule(parsing: "::ffff:10.1.2.3/104") }
        #expect(mapped?.reason == error?.reason)
    }
}
