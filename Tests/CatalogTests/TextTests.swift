import Testing

import Feeds
import XML

@testable import Catalog

struct TextTests {
    @Test(
        "Decodes references once",
        arguments: [
            ("a &amp; b", "a & b"), ("&lt;&gt;&quot;&apos;", "<>\"'"), ("&#39;&#x27;&#X27;&#00039;", "''''"),
            ("&eacute;&Ouml;&yuml;", "éÖÿ"),
            ("&ndash;&hellip;", "–…"), ("&nbsp;", " "), ("&amp;lt;", "&lt;"), ("&#8217;&#x1F600;", "’😀"),
            // Text without references is unchanged.
            ("R&B; x", "R&B; x"), ("&", "&"), ("&;", "&;"), ("&amp", "&amp"), ("&unknown;", "&unknown;"), ("&#;", "&#;"),
            ("&#x;", "&#x;"),
            ("&#xD800;", "&#xD800;"), ("&#x110000;", "&#x110000;"), ("&#0;&#10;", "&#0;&#10;"), ("&#x202E;", "&#x202E;"),
            ("&#99999999999;", "&#99999999999;"), ("a & b & c;", "a & b & c;"), ("", ""), ("&&amp;", "&&"),
        ])
    func referencesBecomeCharacters(text: String, expected: String) {
        #expect(HTMLEntities.decoded(text) == expected)
    }

    @Test(
        "Reads durations in each form",
        arguments: [
            ("351.4", 351_400), ("05:37", 337_000), ("1:02:03", 3_723_000), ("0", nil), ("0.0", nil), ("00:00", nil),
            ("337.18", 337_180),
            ("664.0312345678", 664_031), ("1:02.5", 62_500), ("90:00", 5_400_000), ("5.", nil), ("", nil), (":", nil),
            ("1:", nil),
            (":1", nil), ("-5", nil), ("1:-2", nil), ("1e3", nil), ("30 min", nil), ("1:2:3:4", nil), ("nan", nil), ("٣", nil),
            ("999999999", 999_999_999_000), ("9999999999", nil), ("999999:999999:999999", 3_660_996_339_000), ("1..2", nil),
            ("+5", nil), ("1.2.3", nil), (".5", nil), ("5 ", nil),
        ] as [(String, Int64?)])
    func lengthsAreRead(text: String, expected: Int64?) {
        #expect(PlayingTime.milliseconds(text) == expected)
    }

    @Test(
        "Sorts names with numbers in natural order",
        arguments: [
            ["1.mp3", "2.mp3", "10.mp3"], ["a1b2", "a1b10", "a02b1"], ["A", "b", "C"], ["A", "a"], ["01", "1"],
            ["a", "a/b", "a0"],
            ["d1t01", "d1t02", "d1t10", "d2t01"], ["x99999999999999999999998", "x99999999999999999999999"], ["", "a"],
            ["1", "a"],
            ["é", "ü"],
        ])
    func namesAreInOrder(names: [String]) {
        #expect(names.reversed().sorted(by: NaturalOrder.precedes) == names)
        for (index, name) in names.enumerated() {
            for other in names[index...] { #expect(!NaturalOrder.precedes(other, name)) }
        }
    }
}
