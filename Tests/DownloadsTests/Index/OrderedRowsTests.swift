import HTTPCore
import Testing

@testable import DownloadCore
@testable import DownloadIndex

@Suite("Ordered positions")
struct OrderedRowsTests {
    private func entry(_ number: Int) -> IndexEntry {
        let id = RecordID(value: UInt128(number))
        return IndexEntry(Download(id: id, url: "", createdAt: id.createdAt), counters: nil, queue: QueueStatus())
    }

    /// Entries with these numbers as identities, at positions 0, 1, ….
    private func entries(_ numbers: some Sequence<Int>) -> IndexEntries {
        var entries = IndexEntries()
        for number in numbers { _ = entries.append(entry(number)) }
        return entries
    }

    private func numbers(_ places: OrderedRows, _ entries: IndexEntries, descending: Bool = false, after: Int? = nil) -> [Int] {
        var walk = places.walk(descending: descending, after: after.map { UInt128($0) }, in: entries)
        var found: [Int] = []
        while let place = walk.next() { found.append(entries[place].map { Int($0.download.id.value) } ?? -1) }
        return found
    }

    @Test("Visits positions in order from both ends and from anywhere, after any changes", arguments: [1, 2, 3])
    func model(_ seed: UInt64) {
        var generator = SystemRandomNumberGenerator()
        let all = Array(stride(from: 2, to: 8_000, by: 2)).shuffled(using: &generator)
        let entries = entries(all)
        var places = OrderedRows(by: .identity)
        var model: Set<Int> = []
        for step in 0..<12_000 {
            let place = Int.random(in: all.indices, using: &generator)
            // They grow first, and are removed again.
            let isAdded = Int.random(in: 0..<12_000, using: &generator) > step
            if isAdded, model.insert(all[place]).inserted { places.insert(Row(place), in: entries) }
            if !isAdded {
                model.remove(all[place])
                places.remove(Row(place), in: entries)
            }
            guard step % 1_000 == 0 else { continue }
            let sorted = model.sorted()
            #expect(places.count == sorted.count)
            #expect(numbers(places, entries) == sorted)
            #expect(numbers(places, entries, descending: true) == sorted.reversed())
            let bound = Int.random(in: 0..<8_002, using: &generator)
            #expect(numbers(places, entries, after: bound) == sorted.filter { $0 > bound })
            #expect(numbers(places, entries, descending: true, after: bound) == sorted.filter { $0 < bound }.reversed())
        }
        for place in all.indices { places.remove(Row(place), in: entries) }
        #expect(places.count == 0 && numbers(places, entries).isEmpty)
    }

    @Test("Inserts and removes neighbours one after another, upwards and downwards")
    func neighbours() {
        let all = Array(0..<4_000)
        let entries = entries(all)
        var places = OrderedRows(by: .identity)
        var model: Set<Int> = []
        // Places that later changes may have moved.
        var (lastCounted, lastFound): (OrderedRows.Position?, OrderedRows.Position?)
        for step in 0..<400 {
            let start = Int.random(in: all.indices)
            var run = Array(all[start...].prefix(Int.random(in: 1...900)))
            if Bool.random() { run.reverse() }
            // Some neighbours are missing.
            if Bool.random() { run.removeAll { $0 % 5 == 0 } }
            let isAdded = Bool.random()
            for number in run {
                if isAdded, model.insert(number).inserted { places.insert(Row(number), in: entries) }
                if !isAdded {
                    model.remove(number)
                    places.remove(Row(number), in: entries)
                }
            }
            let sorted = model.sorted()
            #expect(numbers(places, entries) == sorted, "step \(step)")
            for offset in [0, sorted.count / 2, sorted.count - 1] where sorted.indices.contains(offset) {
                #expect(places.row(at: offset, starts: places.starts) == Row(sorted[offset]), "step \(step)")
            }
            for number in run.prefix(3) {
                let row = model.contains(number) ? Row(number) : nil
                #expect(places.row(of: UInt128(number), in: entries) == row)
                #expect(places.row(of: RecordID(value: UInt128(number)), near: &lastFound, in: entries) == row)
                let offset = places.offset(of: Row(number), near: &lastCounted, in: entries)
                #expect(offset == sorted.firstIndex(of: number), "step \(step)")
            }
        }
    }

    @Test("Counts the rows before each chunk again after the last chunk was emptied")
    func countsAfterEmptying() {
        let entries = entries(0..<4_000)
        var places = OrderedRows(by: .identity)
        for row in 0..<1_024 { places.insert(Row(row), in: entries) }
        for row in 0..<100 { places.remove(Row(row), in: entries) }
        var last: OrderedRows.Position?
        #expect(places.offset(of: 1_023, near: &last, in: entries) == 923)
        for row in 512..<1_024 { places.remove(Row(row), in: entries) }
        for row in 2_000..<3_000 { places.insert(Row(row), in: entries) }
        for (offset, row) in (Array(100..<512) + Array(2_000..<3_000)).enumerated() {
            #expect(places.row(at: offset, starts: places.starts) == Row(row))
        }
    }

    @Test("Orders rows by gid, and finds the next gid, while rows are removed")
    func gids() {
        let entries = entries(0..<4_000)
        func gid(_ number: Int) -> UInt64 { RecordID(value: UInt128(number)).gid.value }
        var places = OrderedRows(by: .gid)
        for place in (0..<4_000).shuffled() { places.insert(Row(place), in: entries) }
        var left = (0..<4_000).sorted { gid($0) < gid($1) }
        for _ in 0..<20 {
            #expect(numbers(places, entries) == left)
            #expect(places.pair(fromGID: 0, in: entries) == (Row(left[0]), Row(left[1])))
            let offset = Int.random(in: 0..<left.count - 2)
            #expect(places.pair(fromGID: gid(left[offset]) + 1, in: entries) == (Row(left[offset + 1]), Row(left[offset + 2])))
            let removed = Set(left.shuffled().prefix(190))
            for number in removed { places.remove(Row(number), in: entries) }
            left.removeAll(where: removed.contains)
        }
        for number in left { places.remove(Row(number), in: entries) }
        #expect(places.count == 0)
    }

    @Test("Distinguishes positions with the same key")
    func equal() {
        let entries = entries(Array(repeating: 7, count: 1_500) + [3, 9])
        var places = OrderedRows(by: .identity)
        for place in (0..<1_502).shuffled() { places.insert(Row(place), in: entries) }
        #expect(numbers(places, entries) == [3] + Array(repeating: 7, count: 1_500) + [9])
        #expect(numbers(places, entries, after: 7) == [9])
        #expect(numbers(places, entries, descending: true, after: 7) == [3])
        for place in (0..<1_500).shuffled() { places.remove(Row(place), in: entries) }
        #expect(numbers(places, entries) == [3, 9])
    }

    @Test("Finds the row of a key, at every number of rows")
    func lookUp() {
        let entries = entries(stride(from: 2, to: 3_000, by: 2))
        var places = OrderedRows(by: .identity)
        #expect(places.row(of: 2, in: entries) == nil)
        for place in (0..<1_499).shuffled() { places.insert(Row(place), in: entries) }
        for place in 0..<1_499 {
            #expect(places.row(of: UInt128(2 * place + 2), in: entries) == Row(place))
            #expect(places.row(of: UInt128(2 * place + 1), in: entries) == nil)
        }
        #expect(places.row(of: 2_999, in: entries) == nil && places.row(of: 0, in: entries) == nil)
    }

    @Test("Moves rows whose keys change, by little or by much")
    func moves() throws {
        var numbers = Array(stride(from: 100, to: 200_000, by: 100))
        var entries = entries(numbers)
        var places = OrderedRows(by: .identity)
        for place in numbers.indices { places.insert(Row(place), in: entries) }
        for step in 0..<6_000 {
            let place = Int.random(in: numbers.indices)
            let position = try #require(places.position(of: Row(place), in: entries))
            let distance = step.isMultiple(of: 3) ? 200_000 : 150
            numbers[place] = max(0, numbers[place] + Int.random(in: -distance...distance))
            entries[Row(place)] = entry(numbers[place])
            places.move(Row(place), from: position, in: entries)
            guard step % 500 == 0 else { continue }
            #expect(self.numbers(places, entries) == numbers.sorted())
        }
        for place in numbers.indices.shuffled() { places.remove(Row(place), in: entries) }
        #expect(places.count == 0 && self.numbers(places, entries).isEmpty)
    }

    @Test("A copy stays as it was")
    func copies() {
        let entries = entries(0..<2_000)
        var places = OrderedRows(by: .identity)
        for place in 0..<2_000 { places.insert(Row(place), in: entries) }
        let copy = places
        for place in 0..<1_000 { places.remove(Row(place), in: entries) }
        #expect(numbers(copy, entries) == Array(0..<2_000))
        #expect(numbers(places, entries) == Array(1_000..<2_000))
    }
}
