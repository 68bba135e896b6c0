import Glibc
import Testing

@testable import PawlService

@Suite("Trimming the heap")
struct HeapTrimmerTests {
    @Test("Trims once, and then only after growth since the last time or the minimum since")
    func policy() {
        let megabyte: Int64 = 1 << 20
        var policy = HeapTrimPolicy()
        let steps: [(before: Int64, isWanted: Bool, after: Int64)] = [
            (20, true, 18), (18, false, 18), (19, false, 19), (20, true, 19), (20, false, 20), (12, false, 12), (14, true, 13),
        ]
        for step in steps {
            #expect(policy.wantsTrim(residentBytes: step.before * megabyte) == step.isWanted, "at \(step.before) MiB")
            if step.isWanted { policy.trimmed(residentBytes: step.after * megabyte) }
        }
    }

    /// Sanitizers have their own allocators.
    private static let usesSystemAllocator =
        unsafe dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

    @Test("Returns free memory between used blocks to the system", .enabled(if: usesSystemAllocator))
    func gaps() throws {
        // Filled, so that every page is resident; every hundredth block stays, so that no free page is at an end.
        var blocks: [[UInt8]?] = (0..<160_000).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 1000) }
        for index in blocks.indices where index % 100 != 0 { blocks[index] = nil }
        let before = try #require(ProcessFigures.residentBytes)
        HeapTrimmer.trim()
        let after = try #require(ProcessFigures.residentBytes)
        // 158 MB are free; other tests use far less at the same time.
        #expect(before - after > 80_000_000)
        #expect(blocks.compactMap { $0 }.count == 1600)
    }
}
