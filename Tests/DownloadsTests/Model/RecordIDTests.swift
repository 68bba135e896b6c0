import HTTPCore
import Testing

@testable import DownloadCore

struct RecordIDTests {
    @Test(
        "An id is written as 26 characters and read back",
        arguments: [
            (0, "00000000000000000000000000"),
            (UInt128.max, "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"),
            (0x0123_4567_89AB_CDEF_0123_4567_89AB_CDEF, "014D2PF2DBSQQG28T5CY4TQKFF"),
        ] as [(UInt128, String)])
    func identifierIs26Characters(_ value: UInt128, _ text: String) {
        #expect(RecordID(value: value).description == text)
        #expect(RecordID(text)?.value == value)
        #expect(RecordID(parsing: Array(text.utf8)[...])?.value == value)
    }

    @Test(
        "Refuses any other spelling",
        arguments: [
            "", "0", "80000000000000000000000000", "0000000000000000000000000", "000000000000000000000000000",
            "0000000000000000000000000i", "0000000000000000000000000I", "0000000000000000000000000L",
            "0000000000000000000000000O", "0000000000000000000000000U", "0000000000000000000000000a",
            "0000000000000000000000000 ", "0000000000000000000000000é", "0000000000000000000000000/",
        ])
    func otherSpellingIsRefused(_ text: String) {
        #expect(RecordID(text) == nil)
    }

    @Test("Every digit survives in every position")
    func everyDigitSurvives() {
        for shift in stride(from: 0, through: 120, by: 5) {
            for digit in 0..<32 {
                let id = RecordID(value: UInt128(digit) << UInt128(shift))
                #expect(RecordID(id.description) == id)
            }
        }
    }

    @Test("Text sorts as numbers do")
    func textSortsAsNumbers() {
        var random = SystemRandom()
        let ids = (0..<500).map { _ in RecordID(value: UInt128.random(in: 0...UInt128.max, using: &random)) }
        #expect(ids.sorted().map(\.description) == ids.map(\.description).sorted())
    }

    @Test("Ids rise within a millisecond, over time, and when the clock is set back")
    func identifiersGrow() {
        var generator = RecordIDGenerator()
        var random = SystemRandom()
        var last: RecordID?
        for time in [1_000, 1_000, 1_000, 1_001, 5_000, 200, 0, -7, 5_001] as [Int64] {
            for _ in 0..<50 {
                let id = generator.next(now: Timestamp(millisecondsSinceEpoch: time), using: &random)
                if let last { #expect(id > last) }
                last = id
            }
        }
        #expect(last?.createdAt.millisecondsSinceEpoch == 5_001)
    }

    @Test("A generator continues after the newest id")
    func generatorGoesOnAfterNewest() {
        var random = SystemRandom()
        let newest = RecordID(value: UInt128(9_000) << 80)
        var generator = RecordIDGenerator(after: newest)
        #expect(generator.next(now: Timestamp(millisecondsSinceEpoch: 1), using: &random) > newest)
    }
}
