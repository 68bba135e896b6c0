import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("Waits for room on the disk", .timeLimit(.minutes(1)))
struct RoomWaitsTests {
    private static func id(_ number: Int) -> RecordID { RecordID(value: UInt128(number)) }

    @Test(
        "downloads go on in queue order as far as there is room for all of them together",
        arguments: [
            ([], 10, []), ([5], 4, []), ([5], 5, [1]), ([0], 0, []), ([0], 1, []), ([5, 5], 9, [1]), ([5, 5], 10, [1, 2]),
            ([9, 5, 3], 8, [2, 3]), ([9, 5, 3], nil, [1, 2, 3]), ([9, 5], -1, []),
        ] as [([Int64], Int128?, [Int])])
    func take(needs: [Int64], room: Int128?, taken: [Int]) {
        var waits = RoomWaits()
        for (index, bytes) in needs.enumerated() { waits.add(Self.id(index + 1), needing: bytes) }
        #expect(waits.take(room: room) { $0 < $1 } == taken.map(Self.id))
        #expect(waits.ids == Set((1..<(needs.count + 1)).map(Self.id)).subtracting(taken.map(Self.id)))
        for id in waits.ids { waits.remove(id) }
        #expect(waits.isEmpty)
    }

    @Test("a download that needs any room goes on after the second look")
    func secondLook() {
        var waits = RoomWaits()
        waits.add(Self.id(1), needing: 0)
        waits.add(Self.id(2), needing: 2)
        #expect(waits.take(room: 9, by: <) == [Self.id(2)])
        #expect(waits.take(room: 0, by: <) == [])
        #expect(waits.take(room: 9, by: <) == [Self.id(1)])
    }

    @Test("a download that needs a folder goes on after the second look at which the folder is usable")
    func folder() {
        var waits = RoomWaits()
        let need = RoomWaits.FolderNeed(folder: "music", bytes: 7)
        waits.add(Self.id(1), needing: 7, in: "music")
        waits.add(Self.id(2), needing: 0, in: "films")
        #expect(waits.nextLook().folders == [need, RoomWaits.FolderNeed(folder: "films", bytes: 0)])
        #expect(waits.take(room: 0, usable: [need], by: <) == [])
        #expect(waits.take(room: 9, by: <) == [])
        #expect(waits.take(room: 0, usable: [need], by: <) == [Self.id(1)])
        #expect(waits.ids == [Self.id(2)])
    }

    @Test("the file system is flushed a few times after a download has begun to wait, and after a removal")
    func settles() {
        var waits = RoomWaits()
        func looks() -> [Bool] { (1...4).map { _ in waits.nextLook().settles } }
        #expect(looks() == [false, false, false, false])
        waits.add(Self.id(1), needing: 5)
        #expect(looks() == [true, true, true, false])
        waits.noteRemoval()
        #expect(looks() == [true, true, true, false])
    }
}
