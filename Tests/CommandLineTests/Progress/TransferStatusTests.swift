import DownloadCore
import CommandLine
import Terminal
import Testing

@Suite("The status of a download on a terminal")
struct TransferStatusTests {
    private static let unicode = Appearance(isUnicode: true)

    private static func sample(_ state: DownloadState = .downloading) -> TransferStatus {
        var status = TransferStatus(name: "01 Prelude in C major from The Well-Tempered Clavier.flac", state: state)
        status.bytesReceived = 524_288
        status.bytesTotal = 1_048_576
        status.bytesPerSecond = 262_144
        status.secondsLeft = 2
        return status
    }

    @Test(
        "A progress line has the fields that fit",
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

    @Test("A line fits every width in every state, and hostile names are harmless")
    func everyWidth() {
        for width in 1...200 {
            for state in DownloadState.allCases {
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
        "The facts are one phrase",
        arguments: [
            (.downloading, "50% of 1.0 MiB, 256.0 KiB/s, 2s left"), (.queued, "50% of 1.0 MiB, queued"),
            (.retrying, "50% of 1.0 MiB, trying again: the transfer broke"), (.failed, "50% of 1.0 MiB, failed"),
        ] as [(DownloadState, String)])
    func facts(state: DownloadState, text: String) {
        #expect(Self.sample(state).facts.string == text)
    }

    @Test("A total adds known values, and is unknown if one is")
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
}
