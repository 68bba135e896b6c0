import HTTPClient
import HTTPCore
import Testing

@Suite
struct IPAddressTests {
    @Test(
        "Reads addresses in standard forms",
        arguments: [
            ("127.0.0.1", IPAddress.v4(0x7f00_0001)), ("0.0.0.0", .v4(0)), ("255.255.255.255", .v4(.max)),
            ("::", .v6(0)), ("::1", .v6(1)), ("1::", .v6(1 << 112)),
            ("2001:db8:0:0:1:0:0:1", .v6(0x2001_0db8_0000_0000_0001_0000_0000_0001)),
            ("2001:DB8::1:0:0:1", .v6(0x2001_0db8_0000_0000_0001_0000_0000_0001)),
            ("::ffff:192.0.2.1", .v6(0xffff_c000_0201)), ("64:ff9b::1.2.3.4", .v6(0x0064_ff9b << 96 | 0x0102_0304)),
            ("1:2:3:4:5:6:7::", .v6(0x0001_0002_0003_0004_0005_0006_0007_0000)),
            ("::2:3:4:5:6:7:8", .v6(0x0000_0002_0003_0004_0005_0006_0007_0008)),
        ])
    func standardFormsAreRead(text: String, address: IPAddress) {
        #expect(IPAddress(parsing: text) == address)
    }

    @Test(
        "Refuses addresses in other forms",
        arguments: [
            "", ".", "1.2.3", "1.2.3.4.", "1.2.3.4.5", "01.2.3.4", "1.2.3.256", "1.2.3.-4", "1.2.3.+4", "1.2.3.4 ", "0x7f.0.0.1",
            "127.1",
            ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "::12345", "::g", "[::1]", "fe80::1%eth0",
            ":1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "::1.2.3", "1.2.3.4::", "::1.2.3.4:5", "::ffff:1.2.3.04",
        ])
    func otherFormsAreRefused(text: String) {
        #expect(IPAddress(parsing: text) == nil)
    }

    @Test(
        "Recognises loopback in every spelling of resolvers",
        arguments: [
            "127.1", "127.0.1", "0x7f000001", "0X7F000001", "017700000001", "2130706433", "0x7f.1", "0177.0.0.01", "127.0.0x1",
            "127.0.0.1",
            "00000000000000000000000177.0.0.1",
        ])
    func loopbackInEverySpelling(text: String) {
        #expect(IPAddress(parsingLeniently: text) == .v4(0x7f00_0001))
    }

    @Test(
        "Refuses texts that no resolver reads as a number",
        arguments: [
            "", "127.", ".127", "256.1", "1.256.1", "4294967296", "0x100000000", "08", "0xg", "1.2.3.4.5", "example.org", "1..2",
            "99999999999999999999999999999999999",
        ])
    func unresolvableNumberIsNoAddress(text: String) {
        #expect(IPAddress(parsingLeniently: text) == nil)
    }

    @Test(
        "Prints addresses in canonical form",
        arguments: [
            (IPAddress.v4(0x0102_0304), "1.2.3.4"), (.v6(0), "::"), (.v6(1), "::1"), (.v6(1 << 112), "1::"),
            (.v6(0x2001_0db8_0000_0000_0001_0000_0000_0001), "2001:db8::1:0:0:1"),
            (.v6(0x2001_0db8_0000_0001_0001_0001_0001_0001), "2001:db8:0:1:1:1:1:1"),
            (.v6(0xffff_c000_0201), "::ffff:192.0.2.1"),
            (.v6(0x0001_0000_0000_0002_0000_0000_0000_0003), "1:0:0:2::3"),
        ])
    func addressesPrintCanonically(address: IPAddress, text: String) {
        #expect(address.description == text)
        #expect(IPAddress(parsing: text) == address)
    }

    @Test(
        "Recognises special-use addresses",
        arguments: [
            "0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.254",
            "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.170", "192.0.2.1", "192.31.196.1",
            "192.52.193.1",
            "192.88.99.1", "192.168.0.1", "192.175.48.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255", "240.0.0.1", "255.255.255.255",
            "::", "::1", "::2", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.1.1.1", "::ffff:169.254.169.254", "::8.8.8.8",
            "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "64:ff9b:1:ffff::8.8.8.8", "100::1", "100:0:0:1::1",
            "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:1::1", "2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1",
            "2001:20::1",
            "2001:30::1", "2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "2620:4f:8000::1", "3fff::1", "3fff:fff::1",
            "5f00::1",
            "168.63.129.16", "161.26.0.10", "166.9.250.1", "34.118.224.1", "34.118.239.255", "::ffff:34.118.224.1",
            "::ffff:168.63.129.16", "64:ff9b::a83f:8110",
            "fc00::1", "fd12:3456::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "4000::1", "e000::1",
        ])
    func specialAddressesAreRecognised(text: String) throws {
        let address = try #require(IPAddress(parsing: text))
        #expect(address.specialUse != nil)
    }

    @Test(
        "Public addresses are not special",
        arguments: [
            "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
            "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255", "198.20.0.0", "223.255.255.255", "93.184.216.34", "168.63.129.15", "161.27.0.1", "166.12.0.1",
            "34.118.223.255", "34.118.240.0",
            "2606:4700:4700::1111", "2001:4860:4860::8888", "2001:200::1", "2a00:1450::1", "2620:0:2d0::1", "3ffe::1",
            "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
        ])
    func publicAddressesAreNotSpecial(text: String) throws {
        let address = try #require(IPAddress(parsing: text))
        #expect(address.specialUse == nil)
    }

    @Test("Extracts an embedded address")
    func embeddedAddressIsNamed() throws {
        let address = try #require(IPAddress(parsing: "64:ff9b::169.254.169.254"))
        #expect(address.specialUse == "NAT64 form of 169.254.169.254: metadata service of clouds")
        #expect(IPAddress(parsing: "::ffff:10.0.0.1")?.unmapped == IPAddress(parsing: "10.0.0.1"))
        #expect(IPAddress(parsing: "::1")?.unmapped == .v6(1))
    }
}
