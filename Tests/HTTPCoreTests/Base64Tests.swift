import HTTPCore
import Testing

@Suite struct Base64Tests {
    @Test(
        "Base64 has the padding of RFC 4648 §10",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func base64PadsAsShown(text: String, encoded: String) {
        #expect(Base64.encode(Array(text.utf8)) == encoded)
        #expect(Base64.decode(encoded.utf8) == Array(text.utf8))
        #expect(Base64.decode(encoded.utf8.filter { $0 != UInt8(ascii: "=") }) == Array(text.utf8))
    }

    @Test("Refuses texts that are not Base64", arguments: ["Zm9v!", "Zg==Zg==", "Zm 9v", "Zm9-", "Zm9_"])
    func invalidTextIsRefused(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }
}
