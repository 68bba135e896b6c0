import Testing

@testable import DownloadCore
@testable import Downloads

@Suite("Indexed heap")
struct IndexedHeapTests {
    @Test("Finds the least member after any changes")
    func heap() {
        var heap = IndexedHeap<Int, Int>()
        var members: [Int: Int] = [:]
        var random = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let key = Int.random(in: 0..<300, using: &random)
            if Bool.random(using: &random) {
                // Ranks are unique.
                let rank = Int.random(in: 0..<50, using: &random) * 1_000 + key
                heap.set(key, to: rank)
                members[key] = rank
            } else {
                #expect(heap.remove(key) == members.removeValue(forKey: key))
            }
            #expect(heap.first?.rank == members.values.min() && heap.isEmpty == members.isEmpty)
            #expect(heap.contains(key) == (members[key] != nil))
        }
        #expect(heap.items.count <= 2 * members.count + 64)
    }
}
