import Foundation
import Testing

@testable import HTTPCore

@Suite struct HTTPDateTests {
    static let sameMoment = ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"]

    @Test("The RFC's three forms denote the same time", arguments: sameMoment)
    func theThreeFormsOfTheRFCAreOneMoment(text: String) throws {
        let date = try #require(HTTPDate(parsing: text))
        #expect(date.secondsSinceEpoch == 784_111_777)
        #expect(date.description == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    static let dates: [(String, Int64)] = [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Sat, 01 Jan 0000 00:00:00 GMT", -62_167_219_200),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600),
        ("Sat, 21 Nov 2026 09:16:07 GMT", 1_795_252_567), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
    ]

    @Test("A date survives a round trip", arguments: dates)
    func aDateIsPrintedAsItIsRead(text: String, seconds: Int64) {
        #expect(HTTPDate(parsing: text)?.secondsSinceEpoch == seconds)
        #expect(HTTPDate(secondsSinceEpoch: seconds).description == text)
    }

    static let bad = [
        "", "Sun", "Sun, ", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT",
        "Sun, 31 Nov 1994 08:49:37 GMT", "Tue, 29 Feb 2001 00:00:00 GMT", "Tue, 29 Feb 1900 00:00:00 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:00:61 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "SUN, 06 Nov 1994 08:49:37 GMT",
        "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 19941 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06 Nov 1994 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994", "Sun Nov 06 08:49:37 94", "Sun Nov   6 08:49:37 1994", "Sun, 06 Nov 1994 8:49:37 GMT", "0",
        "-1",
        "1994-11-06T08:49:37Z", "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov -994 08:49:37 GMT", "Sun, \u{666}6 Nov 1994 08:49:37 GMT",
    ]

    @Test("Refuses invalid dates", arguments: bad)
    func invalidDatesAreRefused(text: String) {
        #expect(HTTPDate(parsing: text) == nil)
    }

    @Test("A leap second is the next second")
    func aLeapSecondIsTheOneAfter() {
        #expect(HTTPDate(parsing: "Sat, 31 Dec 2016 23:59:60 GMT") == HTTPDate(parsing: "Sun, 01 Jan 2017 00:00:00 GMT"))
    }

    @Test(
        "Reads a two-digit year in the nearest century",
        arguments: [("94", 1994), ("70", 1970), ("69", 2069), ("00", 2000), ("26", 2026)])
    func twoDigitsOfYearAreOfTheUsualCentury(digits: String, year: Int) {
        #expect(HTTPDate(parsing: "Sunday, 06-Nov-\(digits) 00:00:00 GMT")?.description.contains(" \(year) ") == true)
    }

    @Test(
        "A two-digit year is at most fifty years ahead",
        arguments: [("94", 1994), ("76", 2076), ("77", 1977), ("26", 2026), ("25", 2025), ("00", 2000)])
    func twoDigitYearsAreFiftyYearsAheadOrLess(digits: String, year: Int) {
        let now = HTTPDate(parsing: "Sat, 21 Nov 2026 09:16:07 GMT")
        #expect(HTTPDate(parsing: "Sunday, 06-Nov-\(digits) 00:00:00 GMT", now: now)?.description.contains(" \(year) ") == true)
    }

    @Test("Clamps times that cannot be written", arguments: [Int64.min, Int64.max, -62_167_219_201, 253_402_300_800])
    func momentsThatCannotBeWrittenAreClamped(seconds: Int64) {
        let date = HTTPDate(secondsSinceEpoch: seconds)
        #expect(date.description.utf8.count == 29)
        #expect(HTTPDate(parsing: date.description) == date)
    }

    @Test("The calendar agrees with Foundation's")
    func theCalendarAgreesWithFoundations() {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        // 1600 to 2500, where both are Gregorian.
        var random = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let seconds = Int64.random(in: -11_676_096_000...16_725_225_600, using: &random)
            let date = HTTPDate(secondsSinceEpoch: seconds)
            #expect(date.description == formatter.string(from: Date(timeIntervalSince1970: TimeInterval(seconds))))
            #expect(HTTPDate(parsing: date.description) == date)
        }
    }
}
