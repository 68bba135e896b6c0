import Testing

@testable import HTTPCore

@Suite struct PreconditionsTests {
    static let modified = HTTPDate(secondsSinceEpoch: 784_111_777)
    static let same = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let before = "Sun, 06 Nov 1994 08:49:36 GMT"
    static let after = "Sun, 06 Nov 1994 08:49:38 GMT"

    static func fields(_ text: String) -> Fields {
        var fields = Fields()
        for line in text.split(separator: "|") {
            let parts = line.split(separator: ":", maxSplits: 1)
            if let name = FieldName(String(parts[0])) { fields.append(name, String(parts[1])) }
        }
        return fields
    }

    static let firstTen = Preconditions.Outcome.partial([ByteRange(start: 0, length: 10)])

    /// Conditions on a representation of 100 bytes with tag "a", modified at `same`. Fields are separated by bars.
    static let cases: [(HTTPMethod, String, Preconditions.Outcome)] = [
        (.get, "", .proceed), (.post, "", .proceed),
        // If-Match, strong comparison
        (.get, "If-Match: \"a\"", .proceed), (.put, "If-Match: \"a\"", .proceed), (.get, "If-Match: \"b\"", .failed),
        (.put, "If-Match: \"b\"", .failed), (.get, "If-Match: *", .proceed),
        // Tags of compressing proxies
        (.get, "If-Match: W/\"a\"", .proceed), (.put, "If-Match: \"a-gzip\"", .proceed),
        (.put, "If-Match: \"a--gzip\"", .proceed),
        (.put, "If-Match: W/\"a-zstd\"", .proceed), (.put, "If-Match: \"b-gzip\"", .failed), (.put, "If-Match: \"a-\"", .failed),
        (.put, "If-Match: \"a-gzip-br\"", .failed), (.put, "If-Match: \"ab\"", .failed), (.put, "If-Match: \"-gzip\"", .failed),
        (.get, "If-None-Match: \"a-br\"", .notModified), (.get, "If-None-Match: \"a---br\"", .proceed),
        (.get, "If-Match: \"b\", \"a\"", .proceed), (.get, "If-Match: \"b\"|If-Match: \"a\"", .proceed),
        (.put, "If-Match: a", .failed),
        // If-Unmodified-Since
        (.get, "If-Unmodified-Since: \(same)", .proceed), (.get, "If-Unmodified-Since: \(after)", .proceed),
        (.get, "If-Unmodified-Since: \(before)", .failed), (.put, "If-Unmodified-Since: \(before)", .failed),
        (.put, "If-Unmodified-Since: yesterday", .proceed), (.put, "If-Match: \"a\"|If-Unmodified-Since: \(before)", .proceed),
        (.put, "If-Match: \"b\"|If-Unmodified-Since: \(after)", .failed),
        (.put, "If-Unmodified-Since: \(before)|If-Unmodified-Since: \(before)", .proceed),
        // If-None-Match, weak comparison
        (.get, "If-None-Match: \"a\"", .notModified), (.head, "If-None-Match: \"a\"", .notModified),
        (.put, "If-None-Match: \"a\"", .failed),
        (.get, "If-None-Match: W/\"a\"", .notModified), (.get, "If-None-Match: \"b\"", .proceed),
        (.put, "If-None-Match: \"b\"", .proceed),
        (.get, "If-None-Match: *", .notModified), (.put, "If-None-Match: *", .failed),
        (.get, "If-None-Match: \"b\", W/\"a\"", .notModified),
        (.get, "If-None-Match: \"b\"|If-None-Match: \"a\"", .notModified), (.get, "If-None-Match: a", .proceed),
        (.get, "If-None-Match: ", .proceed),
        // If-Modified-Since
        (.get, "If-Modified-Since: \(same)", .notModified), (.get, "If-Modified-Since: \(after)", .notModified),
        (.head, "If-Modified-Since: \(same)", .notModified), (.get, "If-Modified-Since: \(before)", .proceed),
        (.post, "If-Modified-Since: \(same)", .proceed), (.get, "If-Modified-Since: 0", .proceed),
        (.get, "If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT", .notModified),
        (.get, "If-None-Match: \"b\"|If-Modified-Since: \(same)", .proceed),
        (.get, "If-None-Match: \"a\"|If-Modified-Since: \(before)", .notModified),
        (.get, "If-Modified-Since: \(same)|If-Modified-Since: \(same)", .proceed),
        (.get, "If-None-Match: a|If-Modified-Since: \(same)", .proceed),
        // Both kinds
        (.get, "If-Match: \"a\"|If-None-Match: \"a\"", .notModified), (.get, "If-Match: \"b\"|If-None-Match: \"a\"", .failed),
        (.get, "If-Unmodified-Since: \(same)|If-Modified-Since: \(same)", .notModified),
        // Range
        (.get, "Range: bytes=0-9", firstTen), (.head, "Range: bytes=0-9", .proceed), (.post, "Range: bytes=0-9", .proceed),
        (.get, "Range: bytes=100-", .unsatisfiable), (.get, "Range: lines=0-9", .proceed),
        (.get, "Range: bytes=0-9|Range: bytes=20-29", .proceed),
        (.get, "If-None-Match: \"a\"|Range: bytes=0-9", .notModified), (.get, "If-Match: \"b\"|Range: bytes=0-9", .failed),
        (.get, "If-Match: \"a\"|Range: bytes=0-9", firstTen), (.get, "If-None-Match: \"b\"|Range: bytes=0-9", firstTen),
        (.get, "Range: bytes=0-0,-1", .partial([ByteRange(start: 0, length: 1), ByteRange(start: 99, length: 1)])),
        // If-Range
        (.get, "Range: bytes=0-9|If-Range: \"a\"", firstTen), (.get, "Range: bytes=0-9|If-Range: \"b\"", .proceed),
        (.get, "Range: bytes=0-9|If-Range: W/\"a\"", .proceed), (.get, "Range: bytes=0-9|If-Range: \(same)", firstTen),
        (.get, "Range: bytes=0-9|If-Range: \(before)", .proceed), (.get, "Range: bytes=0-9|If-Range: \(after)", .proceed),
        (.get, "Range: bytes=0-9|If-Range: a", .proceed), (.get, "Range: bytes=0-9|If-Range: *", .proceed),
        (.get, "Range: bytes=0-9|If-Range: \"a\", \"b\"", .proceed),
        (.get, "Range: bytes=0-9|If-Range: \"a\"|If-Range: \"a\"", .proceed),
        (.get, "Range: bytes=0-9|If-Range: ", .proceed), (.get, "Range: bytes=100-|If-Range: \"b\"", .proceed),
        (.get, "Range: bytes=100-|If-Range: \"a\"", .unsatisfiable), (.get, "If-Range: \"b\"", .proceed),
    ]

    @Test("Evaluates conditions in the order of the RFC", arguments: cases)
    func aRequestIsAnsweredInTheOrderOfTheRFC(method: HTTPMethod, text: String, outcome: Preconditions.Outcome) {
        let result = Preconditions.evaluate(
            method: method, fields: Self.fields(text), etag: EntityTag(opaque: "a"), lastModified: Self.modified, length: 100)
        #expect(result == outcome)
    }

    @Test(
        "Without validators, only the star matches",
        arguments: [
            ("If-Match: \"a\"", Preconditions.Outcome.failed), ("If-Match: *", .proceed), ("If-None-Match: \"a\"", .proceed),
            ("If-None-Match: *", .notModified), ("If-Modified-Since: \(same)", .proceed),
            ("If-Unmodified-Since: \(before)", .proceed),
            ("Range: bytes=0-9|If-Range: \"a\"", .proceed), ("Range: bytes=0-9|If-Range: \(same)", .proceed),
            ("Range: bytes=0-9", firstTen),
        ])
    func withoutValidatorsOnlyTheStarMatches(text: String, outcome: Preconditions.Outcome) {
        let fields = Self.fields(text)
        #expect(Preconditions.evaluate(method: .get, fields: fields, etag: nil, lastModified: nil, length: 100) == outcome)
    }

    @Test("A weak tag never matches If-Range or If-Match")
    func aWeakTagOfOursNeverMeetsIfRangeOrIfMatch() {
        let etag = EntityTag(opaque: "a", isWeak: true)
        for text in ["Range: bytes=0-9|If-Range: \"a\"", "Range: bytes=0-9|If-Range: W/\"a\""] {
            #expect(
                Preconditions.evaluate(method: .get, fields: Self.fields(text), etag: etag, lastModified: nil, length: 100)
                    == .proceed)
        }
        #expect(
            Preconditions.evaluate(method: .get, fields: Self.fields("If-Match: \"a\""), etag: etag, lastModified: nil) == .failed
        )
        #expect(
            Preconditions.evaluate(method: .get, fields: Self.fields("If-None-Match: \"a\""), etag: etag, lastModified: nil)
                == .notModified)
    }

    @Test("Without a length, ranges are ignored")
    func withoutALengthRangesAreIgnored() {
        #expect(
            Preconditions.evaluate(method: .get, fields: Self.fields("Range: bytes=0-9"), etag: nil, lastModified: nil)
                == .proceed)
        #expect(
            Preconditions.evaluate(method: .get, fields: Self.fields("Range: bytes=0-"), etag: nil, lastModified: nil, length: 0)
                == .unsatisfiable)
    }

    @Test(
        "Detects conditions without parsing them",
        arguments: [
            ("", false), ("Accept: a|Content-Type: b|Referer: c|If: d|Ranges: e|X-If-Match: f", false), ("RANGE: ", true),
            ("if-match: a", true), ("If-None-Match: a", true), ("If-Modified-Since: a", true), ("If-Unmodified-Since: a", true),
            ("A: b|If-Range: a", true),
        ])
    func whetherThereAreConditionsIsSeenWithoutReadingThem(text: String, areThere: Bool) {
        #expect(Preconditions.arePresent(in: Self.fields(text)) == areThere)
    }

    /// RFC 9110 §5.6.7: a two-digit year is in the past if it would be more than 50 years ahead.
    @Test(
        "The clock decides the century of a two-digit year",
        arguments: [("76", Preconditions.Outcome.notModified), ("77", .proceed)])
    func aYearOfTwoDigitsIsReadByTheClock(year: String, outcome: Preconditions.Outcome) {
        // 2026-11-18
        let now = HTTPDate(secondsSinceEpoch: 1_795_000_000)
        let result = Preconditions.evaluate(
            method: .get, fields: Self.fields("If-Modified-Since: Friday, 01-Jan-\(year) 00:00:00 GMT"), etag: nil,
            lastModified: now, now: now)
        #expect(result == outcome)
    }
}
