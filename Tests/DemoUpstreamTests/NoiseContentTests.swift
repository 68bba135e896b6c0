import TestSupport
import Testing

@testable import DemoUpstream

@Suite("Noise") @OffPool struct NoiseContentTests {
    @Test(
        "A range equals that range of the whole",
        arguments: [0..<1, 3..<20, 4090..<4100, 4096..<4112, 15..<17, 8191..<12_290, 19_999..<20_000] as [Range<Int64>])
    func ranges(range: Range<Int64>) {
        let content = NoiseContent(length: 20_000, seed: 5)
        var whole: [UInt8] = []
        content.append(0..<20_000, to: &whole)
        #expect(whole.count == 20_000)
        var part: [UInt8] = []
        content.append(range, to: &part)
        #expect(part == Array(whole[Int(range.lowerBound)..<Int(range.upperBound)]))
    }

    @Test("Blocks differ from each other and from another seed's")
    func differ() {
        var seen: Set<[UInt8]> = []
        for seed in 0..<4 {
            let content = NoiseContent(length: 1 << 20, seed: UInt64(seed))
            for block in 0..<256 {
                var bytes: [UInt8] = []
                content.append(Int64(block * 4096)..<Int64(block * 4096 + 4096), to: &bytes)
                #expect(seen.insert(bytes).inserted)
            }
        }
    }
}
