import Testing

@testable import Terminal

@Suite("Bars, lines and tables")
struct DrawingTests {
    private static let unicode = Appearance(isUnicode: true)

    @Test(
        "a bar fills from left to right and has just its width",
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

    private static func sample(_ state: TransferStatus.State = .downloading) -> TransferStatus {
        var status = TransferStatus(name: "01 Prelude in C major from The Well-Tempered Clavier.flac", state: state)
        status.bytesReceived = 524_288
        status.bytesTotal = 1_048_576
        status.bytesPerSecond = 262_144
        status.secondsLeft = 2
        return status
    }

    @Test(
        "a line of progress has what there is room for",
        arguments: [
            (100, "01 Prelude in C ", "   50%    1.0 MiB  256.0 KiB/s      2s left"),
            (59, "01 Prelude", "  50%  256.0 KiB/s  2s"), (36, "01 Prel", "  50%  256.0 KiB/s"), (20, "01 Prel", "   50%"),
            (9, " 50%", " 50%"),
            (3, "", ""),
        ])
    func narrow(width: Int, beginning: String, end: String) {
        let line = Self.sample().line(width: width, Self.unicode)
        #expect(line.width <= width)
        #expect(line.plain.hasPrefix(beginning), "\(line.plain)")
        #expect(line.plain.hasSuffix(end), "\(line.plain)")
    }

    @Test("at every width, in every state, a line fits, and hostile names change nothing")
    func everyWidth() {
        for width in 1...200 {
            for state in TransferStatus.State.allCases {
                var status = Self.sample(state)
                #expect(status.line(width: width, Self.unicode).width <= width, "\(width) \(state)")
                status.name = TerminalText("\u{1B}[31m日本語のとても長い名前\r\n\u{202E}" + String(repeating: "👩‍👩‍👧", count: 20))
                let line = status.line(width: width, Self.unicode)
                #expect(line.width <= width, "\(width) \(state)")
                #expect(!line.rendered(Self.unicode).unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
                status.bytesTotal = nil
                #expect(status.line(width: width, Appearance()).width <= width)
            }
        }
    }

    @Test(
        "facts are one phrase",
        arguments: [
            (.downloading, "50% of 1.0 MiB, 256.0 KiB/s, 2s left"), (.queued, "50% of 1.0 MiB, queued"),
            (.retrying, "50% of 1.0 MiB, trying again: the transfer broke"), (.failed, "50% of 1.0 MiB, failed"),
        ] as [(TransferStatus.State, String)])
    func facts(state: TransferStatus.State, text: String) {
        #expect(Self.sample(state).facts.string == text)
    }

    @Test("a total adds what is known, and is unknown where one is")
    func total() {
        var other = Self.sample()
        let total = TransferStatus.total(of: [Self.sample(), other], name: "total")
        #expect(total.bytesReceived == 1_048_576)
        #expect(total.bytesTotal == 2_097_152)
        #expect(total.secondsLeft == 2)
        other.bytesTotal = nil
        #expect(TransferStatus.total(of: [Self.sample(), other], name: "total").bytesTotal == nil)
        other.bytesReceived = .max
        #expect(TransferStatus.total(of: [Self.sample(), other], name: "total").bytesReceived == .max)
    }

    @Test(
        "bytes and times read well",
        arguments: [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (268_435_456, "256.0 MiB"), (Int64.max, "8.0 EiB")])
    func bytes(count: Int64, text: String) {
        #expect(HumanReadable.bytes(count) == text)
    }

    @Test(
        "times have two units at most",
        arguments: [(0.2, "1s"), (59, "59s"), (187, "3m07s"), (7500, "2h05m"), (.infinity, "long")])
    func times(seconds: Double, text: String) {
        #expect(HumanReadable.time(seconds: seconds) == text)
    }

    @Test("playing times", arguments: [(0, "0:00"), (187_999, "3:07"), (3_700_000, "61:40"), (-5, "0:00")])
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
        "a table squeezes, then drops columns, and never exceeds its width",
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

    @Test("at every width a table fits")
    func everyTable() {
        for width in 1...80 {
            for line in Self.table().lines(width: width, Appearance()) { #expect(line.width <= width) }
        }
    }

    @Test("an area is drawn over what it drew before, also where the terminal has become narrower")
    func area() {
        var area = LiveArea()
        let first = area.draw([TerminalLine("one"), TerminalLine("two two two")], columns: 80, rows: 24, Appearance())
        #expect(first == "one\ntwo two two\n")
        let second = area.draw([TerminalLine("three")], staying: [TerminalLine("stays")], columns: 6, rows: 24, Appearance())
        #expect(second == "\u{1B}[3Fstays\u{1B}[K\nthree\u{1B}[K\n\u{1B}[J")
        #expect(area.draw([], columns: 80, rows: 24, Appearance()) == "\u{1B}[1F\u{1B}[J")
        #expect(area.draw([], columns: 80, rows: 24, Appearance()).isEmpty)
    }

    @Test("an area never has more lines than the terminal")
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
        "keys are read from what terminals send",
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
        // Byte by byte it is the same.
        var slow = KeyDecoder()
        #expect(text.utf8.flatMap { slow.decode([$0]) }.suffix(expected.count) == expected[...])
    }

    @Test("an escape with nothing behind it is the key")
    func escape() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0x1B]).isEmpty)
        #expect(decoder.isWaiting)
        #expect(decoder.flush() == [.escape])
        #expect(!decoder.isWaiting)
    }
}
