import HTTPClient
import HTTPCore
import Testing

@Suite
struct DestinationGuardTests {
    @Test(arguments: [
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
    func `Hosts that must not be reached are refused as they are written`(host: String) {
        guard case .forbidden = DestinationGuard().judge(host: host, port: 80) else {
            Issue.record("\(host) is not refused")
            return
        }
    }

    @Test(arguments: [
        "example.org", "EXAMPLE.org.", "a-b_c.example", "xn--bcher-kva.example", "bücher.example", "intranet", "1a.example",
        "mylocalhost",
    ])
    func `A name is judged by its addresses`(host: String) {
        #expect(DestinationGuard().judge(host: host, port: 80) == .dependsOnAddress)
    }

    @Test(arguments: ["8.8.8.8", "2606:4700:4700::1111", "[2606:4700:4700::1111]", "0x08080808", "134744072"])
    func `A public address may be reached`(host: String) {
        #expect(DestinationGuard().judge(host: host, port: 80) == .allowed)
    }

    @Test(arguments: ["127.0.0.1", "localhost", "::1", "10.0.0.1", "fe80::1", "printer.local"])
    func `Everything is allowed where private destinations are`(host: String) throws {
        let permissive = DestinationGuard(allowsPrivate: true)
        #expect(permissive.judge(host: host, port: 80) == .allowed)
        #expect(permissive.judge(.v4(0x7f00_0001), port: 80, forHost: host) == .allowed)
    }

    @Test(arguments: [
        // rule, host, port, address, whether it is allowed
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
    ])
    func `Rules allow what they name and nothing else`(rule: String, host: String, port: Int, text: String, isAllowed: Bool)
        throws
    {
        let destinationGuard = DestinationGuard(allowsPrivate: false, allowed: [try AllowedDestination(parsing: rule)])
        let address = try #require(IPAddress(parsing: text))
        let byHost = destinationGuard.judge(host: host, port: port)
        let byAddress = destinationGuard.judge(address, port: port, forHost: host)
        #expect((byAddress == .allowed) == isAllowed)
        if isAllowed { #expect(byHost == .allowed || byHost == .dependsOnAddress) } else { #expect(byHost != .allowed) }
    }

    @Test func `A refusal names host, address and reason`() {
        let verdict = DestinationGuard().judge(.v4(0x0a00_0001), port: 80, forHost: "nas.example")
        #expect(verdict == .forbidden("nas.example at 10.0.0.1 (private use)"))
    }

    @Test(arguments: [
        "", "*", "*.", "**.example", "a.*.b", "host:", "host:0", "host:65536", "host:a", "host:1:2:x", "http://host", "host/path",
        "10.0.0.0/33",
        "10.0.0.0/", "10.0.0.0/-1", "10.0.0.1/8", "::/129", "fd00::1/8", "[::1", "[::1]x", "[::1]:", "[host]:80", "127.1",
        "0x7f000001", "1.2.3.4.5",
        "a..b", ".a", "ho st", "bücher.example", "host:+80", "10.0.0.0/+8", "*.1.2.3",
    ])
    func `What is no rule is refused with a reason`(text: String) {
        do throws(AllowedDestinationError) {
            _ = try AllowedDestination(parsing: text)
            Issue.record("\(text) is taken")
        } catch {
            #expect(error.text == text)
            #expect(!error.reason.isEmpty)
        }
    }

    @Test func `A block with stray bits says what the block is`() {
        let error = #expect(throws: AllowedDestinationError.self) { try AllowedDestination(parsing: "10.1.2.3/8") }
        #expect(error?.reason == "the address has bits beyond its prefix; the block is 10.0.0.0/8")
    }
}
