import System
import Testing

@Suite struct FingerprintTests {
    private static let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 11) }

    private func fingerprint(_ bytes: ArraySlice<UInt8>, at offset: Int64) -> Fingerprint {
        unsafe Fingerprint(of: Array(bytes).span.bytes, at: offset)
    }

    @Test("The fingerprint of a file is the sum of its pieces, wherever they begin and end", arguments: Int64(0)..<9)
    func pieces(offset: Int64) {
        let whole = fingerprint(Self.bytes[...], at: offset)
        for first in 0...20 {
            for second in first...40 {
                let pieces = [0..<first, second..<100, first..<second]
                let sum = pieces.reduce(Fingerprint()) { $0 + fingerprint(Self.bytes[$1], at: offset + Int64($1.lowerBound)) }
                #expect(sum == whole)
            }
        }
    }

    @Test("Other bytes, and the same bytes elsewhere, have another fingerprint")
    func alterations() {
        let whole = fingerprint(Self.bytes[...], at: 0)
        for index in Self.bytes.indices {
            for bit in 0..<8 {
                var altered = Self.bytes
                altered[index] ^= 1 << bit
                #expect(fingerprint(altered[...], at: 0) != whole)
            }
        }
        #expect(fingerprint(Self.bytes[...], at: 8) != whole)
        #expect(fingerprint([UInt8](repeating: 0, count: 100)[...], at: 0) == Fingerprint())
        for length in 0..<100 {
            let missing = Self.bytes[..<length] + [UInt8](repeating: 0, count: 100 - length)
            #expect(fingerprint(missing, at: 0) != whole, "zeros from \(length)")
        }
    }
}
