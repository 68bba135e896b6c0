import Testing

@testable import HTTPCore

@Suite struct PercentEncodingTests {
    @Test(
        "Decodes or refuses escapes",
        arguments: [
            ("", ""), ("a", "a"), ("%41%62", "Ab"), ("%C3%A9", "é"), ("a+b", "a+b"), ("%2B", "+"), ("%25", "%"), ("é", "é"),
            ("%F0%9F%8E%B5", "🎵"),
            ("%", nil), ("%4", nil), ("%4g", nil), ("%g4", nil), ("%%41", nil), ("a%", nil), ("%C3", nil), ("%FF", nil),
            ("%+1", nil),
            ("% 41", nil),
            ("%u0041", nil), ("%ED%A0%80", nil), ("%C0%AF", nil),
        ])
    func escapesAreDecodedOrRefused(text: String, decoded: String?) {
        #expect(PercentEncoding.decode(text.utf8) == decoded)
        #expect(PercentEncoding.decode(text.utf8, plusIsSpace: true) == decoded.map { $0 == "a+b" ? "a b" : $0 })
    }

    @Test(
        "Encodes all other bytes",
        arguments: [
            ("", "", ""), ("aZ09-._~", "aZ09-._~", "aZ09-._%7E"), ("a b", "a%20b", "a+b"), ("a+b", "a%2Bb", "a%2Bb"),
            ("é", "%C3%A9", "%C3%A9"),
            ("a/b?c&d=e#f%", "a%2Fb%3Fc%26d%3De%23f%25", "a%2Fb%3Fc%26d%3De%23f%25"), ("*", "%2A", "*"),
            ("\u{0}\r\n", "%00%0D%0A", "%00%0D%0A"),
        ])
    func everythingElseIsEncoded(text: String, component: String, form: String) {
        #expect(PercentEncoding.encodeComponent(text) == component)
        #expect(PercentEncoding.encodeForm(text) == form)
        #expect(PercentEncoding.decode(component.utf8) == text)
        #expect(PercentEncoding.decode(form.utf8, plusIsSpace: true) == text)
    }

    @Test("Items survive a round trip")
    func itemsComeBack() throws {
        let items = [
            QueryItem(name: "term", value: "jack & jill"), QueryItem(name: "é=", value: ""), QueryItem(name: "term", value: "+"),
        ]
        let text = PercentEncoding.encodeForm(items)
        #expect(text == "term=jack+%26+jill&%C3%A9%3D=&term=%2B")
        #expect(try QueryItem.parse(text.utf8) == items)
    }
}
