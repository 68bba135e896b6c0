import HTTPCore
import Testing

@Suite("Blocks of addresses")
struct AddressBlockTests {
    @Test(
        "a block is an address with a prefix length, or an address alone",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"), ("0.0.0.0/0", "203.0.113.9", "::1"),
            ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
            ("192.0.2.1/32", "192.0.2.1", "192.0.2.0"), ("fd00::/8", "fdff::1", "fe00::1"), ("::1", "::1", "::2"),
            ("::/0", "2001:db8::1", "10.0.0.1"), ("2001:db8::/127", "2001:db8::1", "2001:db8::2"),
        ])
    func blocks(text: String, inside: String, outside: String) throws {
        let block = try #require(AddressBlock(parsing: text))
        #expect(block.contains(try #require(IPAddress(parsing: inside))))
        #expect(!block.contains(try #require(IPAddress(parsing: outside))))
    }

    @Test(
        "anything else is none, an address with bits behind its prefix among it",
        arguments: [
            "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/8/8", "10.0.0.1/8",
            "10.0.0/8", "proxy.example", "[::1]", "::1/129", "fd00::1/8", " 10.0.0.0/8", "10.0.0.0/1 ",
        ])
    func notBlocks(text: String) {
        #expect(AddressBlock(parsing: text) == nil)
    }
}
