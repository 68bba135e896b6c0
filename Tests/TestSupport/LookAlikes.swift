/// Pairs of different bytes that Swift's comparison of strings treats as equal, or that decode to the same text.
public enum LookAlikes {
    /// A description of each pair, and its bytes.
    public static let pairs: [(name: String, first: [UInt8], second: [UInt8])] = [
        ("é composed and decomposed", Array("caf\u{e9}".utf8), Array("cafe\u{301}".utf8)),
        ("é of ISO-8859-1 and of UTF-8", [0x63, 0x61, 0x66, 0xe9], Array("caf\u{e9}".utf8)),
        ("Å and the sign for ångström", Array("\u{c5}".utf8), Array("\u{212b}".utf8)),
        ("a Hangul syllable and its jamo", Array("\u{ac01}".utf8), Array("\u{1100}\u{1161}\u{11a8}".utf8)),
        ("K and the sign for kelvin", Array("K".utf8), Array("\u{212a}".utf8)),
        ("accents in another order", Array("a\u{301}\u{323}".utf8), Array("a\u{323}\u{301}".utf8)),
        ("Ω and the sign for ohm", Array("\u{3a9}".utf8), Array("\u{2126}".utf8)),
    ]

    /// The pairs that are text.
    public static let texts: [(first: String, second: String)] = pairs.compactMap { pair in
        guard let first = String(validating: pair.first, as: UTF8.self),
            let second = String(validating: pair.second, as: UTF8.self)
        else { return nil }
        return (first, second)
    }
}
