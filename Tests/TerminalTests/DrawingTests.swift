import Testing

@testable import Terminal

@Suite("Bars, lines and tables")
struct DrawingTests {
    private static let unicode = Appearance(isUnicode: true)

    @Test(
        "A bar fills from left to right and has its width",
        arguments: [
            (0, "[        ]", "──────────"), (0.5, "[====    ]", "━━━━━─────"), (0.55, "[====    ]", "━━━━━╸────"),
            (1, "[========]", "━━━━━━━━━━"), (7, "[========]", "━━━━━━━━━━"), (-1, "[        ]", "──────────"),
            (nil, "[        ]", "──────────"),
            (.nan, "[        ]", "──────────"),
        ] as [(Double?, String, String)])
    func bar(fraction: Double?, plain: String, drawn: String) {
        #expect(ProgressBar.line(fraction, width: 10, Appearance()).plain == plain)
        #expect(ProgressBar.line(fraction, width: 10, Self.unicode).plain == drawn)
        #expect(ProgressBar.line(fraction, width: 2, Self.unicode).plain.isEmpty)
    }

    @Test(
        "Formats bytes and times",
        arguments: [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (268_435_456, "256.0 MiB"), (Int64.max, "8.0 EiB")])
    func bytes(count: Int64, text: String) {
        #expect(HumanReadable.bytes(count) == text)
    }

    @Test(
        "Times have two units at most",
        arguments: [
            (0.2, "1s"), (59, "59s"), (187, "3m07s"), (7500, "2h05m"), (442_800, "5d03h"), (1e9, "long"), (.infinity, "long"),
        ])
    func times(seconds: Double, text: String) {
        #expect(HumanReadable.time(seconds: seconds) == text)
    }

    @Test("Formats playing times", arguments: [(0, "0:00"), (187_999, "3:07"), (3_700_000, "61:40"), (-5, "0:00")])
    func playingTimes(milliseconds: Int64, text: String) {
        #expect(HumanReadable.playingTime(milliseconds: milliseconds) == text)
    }

    private static func table() -> TextTable {
        var table = TextTable([
            TextTable.Column("#", isRight: true), TextTable.Column("NAME", least: 6),
            TextTable.Column("ARTIST", least: 4, dispensability: 2), TextTable.Column("TIME", isRight: true, dispensability: 1),
        ])
        table.append([TextTable.Cell("1"), TextTable.Cell("日本語"), TextTable.Cell("Somebody"), TextTable.Cell("3:07")])
        table.append([
            TextTable.Cell("10"), TextTable.Cell("Prelude in C"), TextTable.Cell("J. S. Bach"), TextTable.Cell("61:40"),
        ])
        return table
    }

    @Test(
        "A table narrows, then drops columns, and never exceeds its width",
        arguments: [
            (nil, [" #  NAME          ARTIST       TIME", " 1  日本語        Somebody     3:07"]),
            (30, [" #  NAME         ARTIST   TIME", " 1  日本語       Som…dy   3:07"]),
            (20, [" #  NAME        TIME", " 1  日本語      3:07"]), (10, [" #  NAME", " 1  日本語"]), (8, [" #  NAME", " 1  日…"]),
        ] as [(Int?, [String])])
    func tables(width: Int?, expected: [String]) {
        let lines = Self.table().lines(width: width, Self.unicode)
        #expect(lines.count == 3)
        #expect(lines.prefix(2).map(\.plain) == expected)
        for line in lines { #expect(line.width <= width ?? .max, "\(line.plain)") }
    }

    @Test("A table fits every width")
    func everyTable() {
        for width in 1...80 {
            for line in Self.table().lines(width: width, Appearance()) { #expect(line.width <= width) }
        }
    }

    @Test("An area replaces its last drawing, even on a narrower terminal")
    func area() {
        var area = LiveArea()
        let first = area.draw([TerminalLine("one"), TerminalLine("two two two")], columns: 80, rows: 24, Appearance())
        #expect(first == "one\ntwo two two\n")
        let second = area.draw([TerminalLine("three")], staying: [TerminalLine("stays")], columns: 6, rows: 24, Appearance())
        #expect(second == "\u{1B}[3Fstays\u{1B}[K\nthree\u{1B}[K\n\u{1B}[J")
        #expect(area.draw([], columns: 80, rows: 24, Appearance()) == "\u{1B}[1F\u{1B}[J")
        #expect(area.draw([], columns: 80, rows: 24, Appearance()).isEmpty)
    }

    @Test("An area never has more lines than the terminal")
    func height() {
        var area = LiveArea()
        let lines = (0..<100).map { TerminalLine(TerminalText("line \($0)")) }
        let text = area.draw(lines, columns: 80, rows: 5, Appearance())
        #expect(text.count { $0 == "\n" } == 3)
    }
}

@Suite("Keys")
struct KeyTests {
    @Test(
        "Reads keys from terminals' sequences",
        arguments: [
            ("q", [.character("q")]), ("\u{1B}[A\u{1B}[B", [.up, .down]), ("\u{1B}OA\u{1B}OB", [.up, .down]),
            ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]), ("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~", [.home, .end, .home, .end]),
            ("\u{3}", [.interrupt]), ("\r", [.enter]), ("\u{1B}[1;5Cq", [.character("q")]), ("\u{1B}xq", [.character("q")]),
            (
                "\u{1B}[200000000000000000000q",
                [.character("0"), .character("0"), .character("0"), .character("0"), .character("0"), .character("q")]
            ),
            ("\u{1}é", []),
        ] as [(String, [Key])])
    func keys(text: String, expected: [Key]) {
        var decoder = KeyDecoder()
        #expect(decoder.decode(Array(text.utf8)).suffix(expected.count) == expected[...])
        // The result is the same byte by byte.
        var slow = KeyDecoder()
        #expect(text.utf8.flatMap { slow.decode([$0]) }.suffix(expected.count) == expected[...])
    }

    @Test("An escape without a successor is the key")
    func escape() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0x1B]).isEmpty)
        #expect(decoder.isWaiting)
        #expect(decoder.flush() == [.escape])
        #expect(!decoder.isWaiting)
    }
}
