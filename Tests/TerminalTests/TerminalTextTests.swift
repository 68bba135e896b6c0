import Testing

@testable import Terminal

@Suite("Text on a terminal")
struct TerminalTextTests {
    private static let unicode = Appearance(isUnicode: true)

    @Test(
        "No name reaches the terminal as a command",
        arguments: [
            ("\u{1B}[2J\u{1B}]0;owned\u{7}", "?[2J?]0;owned?"), ("a\u{9B}31mb", "a?31mb"), ("a\r\nb\tc", "a??b?c"),
            ("\u{202E}gpj.exe", "?gpj.exe"), ("a\u{2066}b\u{2069}", "a?b?"), ("a\u{200B}b\u{FEFF}", "a?b?"),
            ("a\u{2028}b", "a?b"),
            ("\u{0}\u{8}\u{7F}", "???"), ("\u{E0041}x", "?x"), ("\u{E000}", "?"), ("naïve — 日本.mp3", "naïve — 日本.mp3"),
            ("👩‍👩‍👧", "👩‍👩‍👧"),
            ("\u{301}x", "?\u{301}x"),
        ])
    func harmless(given: String, shown: String) {
        let text = TerminalText(given)
        #expect(text.string.unicodeScalars.elementsEqual(shown.unicodeScalars), "\(text.string.unicodeScalars.map(\.value))")
        #expect(text.width == DisplayWidth.of(shown))
    }

    @Test("Replaces every control below U+3000")
    func everyControl() {
        for value in (0..<0x3000 as Range<UInt32>) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isControl = value < 0x20 || (0x7F...0x9F).contains(value)
            let shown = TerminalText("x" + String(Character(scalar)))
            if isControl { #expect(shown.string == "x?") }
            #expect(shown.width >= 1 && shown.width <= 3)
        }
    }

    @Test(
        "Cuts long text to its columns",
        arguments: [
            ("a long name.flac", 20, "a long name.flac", "a long name.flac"),
            ("a long name.flac", 16, "a long name.flac", "a long name.flac"),
            ("a long name.flac", 10, "a long na…", "a lon…flac"), ("日本語日本語", 7, "日本語…", "日…語"), ("日本語", 1, "", ""),
            ("abc", 2, "ab", "ac"), ("abc", 0, "", ""), ("👩‍👩‍👧👩‍👩‍👧", 3, "👩‍👩‍👧…", "…"),
        ])
    func cut(text: String, columns: Int, truncated: String, shortened: String) {
        let text = TerminalText(text)
        #expect(text.truncated(to: columns, Self.unicode).string == truncated)
        #expect(text.shortened(to: columns, Self.unicode).width <= columns)
        if text.width <= columns { #expect(text.shortened(to: columns, Self.unicode).string == shortened) }
        for plain in [text.truncated(to: columns, Appearance()), text.shortened(to: columns, Appearance())] {
            #expect(plain.width <= columns)
        }
    }

    @Test("Shortens a file name in the middle")
    func middle() {
        let text = TerminalText("01 Prelude in C major.flac")
        #expect(text.shortened(to: 15, Appearance()).string == "01 Pre...r.flac")
        #expect(text.shortened(to: 15, Self.unicode).string == "01 Prel…or.flac")
    }

    @Test("Writes styles only if the terminal has them, and ends them with their text")
    func styles() {
        var line = TerminalLine("name", .bold)
        line.append("  ")
        line.append("done", .good)
        #expect(line.rendered(Appearance()) == "name  done")
        #expect(line.rendered(Appearance(hasStyles: true)) == "\u{1B}[1mname\u{1B}[0m  \u{1B}[32mdone\u{1B}[0m")
        #expect(line.clipped(to: 7, Appearance()).plain == "name  d")
    }

    @Test(
        "Locale, NO_COLOR and TERM decide the drawing",
        arguments: [
            (["LANG": "C.UTF-8", "TERM": "xterm"], true, Appearance(isUnicode: true, hasStyles: true)),
            (["LANG": "de_DE.UTF-8", "LC_ALL": "C", "TERM": "xterm"], true, Appearance(hasStyles: true)),
            (["LC_CTYPE": "en_US.utf8", "TERM": "dumb"], true, Appearance(isUnicode: true)),
            (["LANG": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1"], true, Appearance(isUnicode: true)),
            (["LANG": "C.UTF-8", "TERM": "xterm", "NO_COLOR": ""], true, Appearance(isUnicode: true, hasStyles: true)),
            (["LANG": "C.UTF-8", "TERM": "xterm"], false, Appearance(isUnicode: true)), ([:], true, Appearance()),
        ] as [([String: String], Bool, Appearance)])
    func appearance(environment: [String: String], isTerminal: Bool, expected: Appearance) {
        #expect(Appearance(environment: { environment[$0] }, isTerminal: isTerminal) == expected)
    }
}
