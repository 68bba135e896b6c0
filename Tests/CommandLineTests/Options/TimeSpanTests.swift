import DownloadCore
import Testing

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

    @Test(
        "A time limit is a time span up to a day, a number of seconds, or 0 for none",
        arguments: [
            ("0", .none), ("1", .seconds(1)), ("90", .seconds(90)), ("90s", .seconds(90)), ("2m", .seconds(120)),
            ("86400", .seconds(86_400)), ("1d", .seconds(86_400)),
        ] as [(String, Duration?)])
    func limits(text: String, limit: Duration?) {
        #expect(TimeSpan.parseLimit(text) == .some(limit))
    }

    @Test("Other texts are no time limit", arguments: ["", "s", "0s", "-1", "86401", "2d", "1.5", "1 s", "٣", "none"])
    func noLimits(text: String) {
        #expect(TimeSpan.parseLimit(text) == nil)
    }
}
