import Testing

@testable import HTTPCore

@Suite struct TimestampTests {
    static let printed: [(Int64, String)] = [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (1_795_252_567_123, "2026-11-21T09:16:07.123Z"),
        (951_825_600_007, "2000-02-29T12:00:00.007Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ]

    @Test("A timestamp survives a round trip", arguments: printed)
    func aTimestampIsPrintedAsItIsRead(milliseconds: Int64, text: String) {
        #expect(Timestamp(millisecondsSinceEpoch: milliseconds).description == text)
        #expect(Timestamp(parsing: text)?.millisecondsSinceEpoch == milliseconds)
    }

    static let read: [(String, String)] = [
        ("2026-11-21T09:16:07Z", "2026-11-21T09:16:07.000Z"), ("2026-11-21t09:16:07z", "2026-11-21T09:16:07.000Z"),
        ("2026-11-21T09:16:07.1Z", "2026-11-21T09:16:07.100Z"), ("2026-11-21T09:16:07.123999999999Z", "2026-11-21T09:16:07.123Z"),
        ("2026-11-21T09:16:07+01:30", "2026-11-21T07:46:07.000Z"), ("2026-11-21T23:16:07-01:00", "2026-11-22T00:16:07.000Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"), ("1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z"),
        ("1937-01-01T12:00:27.87+00:20", "1937-01-01T11:40:27.870Z"), ("1985-04-12T23:20:50.52Z", "1985-04-12T23:20:50.520Z"),
        ("0000-01-01T00:00:00+23:59", "0000-01-01T00:00:00.000Z"), ("9999-12-31T23:59:60Z", "9999-12-31T23:59:59.999Z"),
    ]

    @Test("Reads the forms of RFC 3339", arguments: read)
    func theFormsOfRFC3339AreRead(text: String, utc: String) {
        #expect(Timestamp(parsing: text)?.description == utc)
    }

    @Test(
        "Refuses invalid timestamps",
        arguments: [
            "", "2026", "2026-11-21", "2026-11-21T09:16:07", "2026-11-21 09:16:07Z", "2026-11-21T09:16Z", "2026-11-21T09:16:07.Z",
            "2026-13-01T00:00:00Z",
            "2026-11-31T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T00:60:00Z", "2026-11-21T00:00:61Z",
            "2026-11-21T00:00:00+24:00",
            "2026-11-21T00:00:00+0100", "2026-11-21T00:00:00Z ", "12026-11-21T00:00:00Z", "-026-11-21T00:00:00Z",
            "2026-11-21T00:00:00+01:60",
            "2026-11-21T00:00:00,5Z", "2026-11-21T00:00:00+",
        ])
    func invalidTimestampsAreRefused(text: String) {
        #expect(Timestamp(parsing: text) == nil)
    }

    @Test("Clamps times that cannot be written", arguments: [Int64.min, Int64.max])
    func momentsThatCannotBeWrittenAreClamped(milliseconds: Int64) {
        #expect(Timestamp(millisecondsSinceEpoch: milliseconds).description.utf8.count == 24)
    }
}
