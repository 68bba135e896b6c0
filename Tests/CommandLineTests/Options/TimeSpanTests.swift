import Testing

@testable import CommandLine

struct TimeSpanTests {
    @Test(
        "A time span is a whole number and a unit",
        arguments: [
            ("1s", 1), ("90m", 5400), ("12h", 43_200), ("30d", 2_592_000), ("2w", 1_209_600), ("0d", nil), ("d", nil),
            ("30", nil),
            ("", nil), ("-1d", nil), ("1.5d", nil), ("1 d", nil), ("1y", nil), ("999999999999w", nil),
            ("9223372036854775807w", nil),
            ("٣d", nil),
        ] as [(String, Int64?)])
    func spans(text: String, seconds: Int64?) {
        #expect(TimeSpan.parse(text) == seconds.map { .seconds($0) })
    }
}
