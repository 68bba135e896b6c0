import System
import Testing

@Suite struct CRC32Tests {
    @Test("The check value of the nine digits is correct in every division", arguments: 0...9)
    func digits(cut: Int) {
        let digits = Array("123456789".utf8)
        let first = unsafe CRC32.checksum(Array(digits[..<cut]).span.bytes)
        #expect(unsafe CRC32.checksum(Array(digits[cut...]).span.bytes, after: first) == 0xCBF4_3926)
    }
}
