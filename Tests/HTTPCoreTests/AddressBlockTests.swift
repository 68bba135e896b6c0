import HTTPCore
import Testing

@Suite("Blocks of addresses")
struct AddressBlockTests {
    @Test(
        "A block is an address with a prefix length, or an address",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"), ("0.0.0.0/0", "203.0.113.9", "::1"),
            ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
            ("192.0.2.1/32", "192.0.2.1", "192.0.2.0"), ("fd00::/8", "fdff::1", "fe00::1"), ("::1", "::1", "::2"),
            ("::/0", "2001:db8::1", "10.0.0.1"), ("2001:db8::/127", "2001:db8::1", "2001:db8::2"),
            // Mapped addresses mean IPv4 addresses.
            ("::ffff:127.0.0.1", "127.0.0.1", "127.0.0.2"), ("::ffff:127.0.0.0/104", "127.9.9.9", "128.0.0.1"),
            ("::ffff:7f00:0/104", "127.9.9.9", "126.255.255.255"), ("::ffff:0:0/96", "203.0.113.9", "::1"),
            ("::ffff:128.0.0.0/97", "203.0.113.9", "127.0.0.1"), ("::fffe:0:0/95", "::ffff:127.0.0.1", "127.0.0.1"),
            ("::127.0.0.0/104", "::127.0.0.1", "127.0.0.1"),
        ])
    func blocks(text: String, inside: String, outside: String) throws {
        let block = try #require(AddressBlock(parsing: text))
        #expect(block.contains(try #require(IPAddress(parsing: inside))))
        #expect(!block.contains(try #require(IPAddress(parsing: outside))))
    }

    @Test(
        "A block of mapped addresses is the IPv4 block",
        arguments: [
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"), ("::ffff:10.0.0.1", "10.0.0.1/32"), ("::ffff:0:0/96", "0.0.0.0/0"),
            ("::ffff:10.0.0.2/127", "10.0.0.2/31"),
        ])
    func mapped(text: String, v4: String) throws {
        let block = try #require(AddressBlock(parsing: v4))
        #expect(AddressBlock(parsing: text) == block)
        guard case .v4(let bits) = block.base else {
            Issue.record("\(v4) is not of IPv4")
            return
        }
        #expect(AddressBlock(base: .v6(0xffff << 32 | UInt128(bits)), length: block.length + 96) == block)
        // A peer's address from a socket of both families.
        #expect(block.contains(IPAddress.v6(0xffff << 32 | UInt128(bits)).unmapped))
    }

    @Test(
        "Refuses other texts, and addresses with bits after their prefix",
        arguments: [
            "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.1/8",
            "10.0.0/8", "proxy.example", "[::1]", "::1/129", "fd00::1/8", " 10.0.0.0/8", "10.0.0.0/1 ",
            "::ffff:10.0.0.1/104", "::ffff:0.0.0.0/95", "::ffff:10.0.0.0/8", "::ffff:10.0.0.0/129",
        ])
    func notBlocks(text: String) {
        #expect(AddressBlock(parsing: text) == nil)
    }
}
