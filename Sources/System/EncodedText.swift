import Glibc

/// Texts in the encodings of the C library (iconv(3)).
public enum EncodedText {
    /// Converts a text to UTF-8. Invalid bytes become U+FFFD.
    /// - Parameters:
    ///   - encoding: The name of the encoding in the C library.
    ///   - unit: The number of bytes of the smallest character, by which invalid bytes are skipped.
    ///   - others: The characters of bytes that the C library does not have in the encoding.
    /// - Returns: The text, and the number of its faults; `nil` if the C library does not have the encoding.
    public static func utf8(
        _ bytes: ArraySlice<UInt8>, from encoding: String, unit: Int = 1, others: [UInt8: Character] = [:]
    ) -> (text: [UInt8], faults: Int)? {
        // A slash begins options.
        guard encoding.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ",") })
        else { return nil }
        let failure = unsafe iconv_t(bitPattern: -1)
        guard let converter = unsafe iconv_open("UTF-8", encoding), unsafe converter != failure else { return nil }
        defer { _ = unsafe iconv_close(converter) }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + bytes.count / 2)
        var source = Array(bytes)
        var piece = [UInt8](repeating: 0, count: pieceSize)
        var (read, faults) = (0, 0)
        while read < source.count, faults < maximumFaults {
            let (used, written, isBroken) = unsafe source.withUnsafeMutableBytes { source in
                unsafe piece.withUnsafeMutableBytes { piece in
                    var input = unsafe source.baseAddress?.advanced(by: read).assumingMemoryBound(to: CChar.self)
                    var output = unsafe piece.baseAddress?.assumingMemoryBound(to: CChar.self)
                    var (left, space) = (source.count - read, pieceSize)
                    let outcome = unsafe iconv(converter, &input, &left, &output, &space)
                    let isFull = outcome == .max && errno == E2BIG
                    return (source.count - read - left, pieceSize - space, outcome == .max && !isFull)
                }
            }
            result += piece[..<written]
            read += used
            // A call without progress would never end.
            guard isBroken || used == 0 else { continue }
            let other = others[source[read]]
            result += (other ?? "\u{FFFD}").utf8
            read += unit
            faults += other == nil ? 1 : 0
        }
        for byte in source.dropFirst(read) { if byte < 0x80 { result.append(byte) } else { result += "\u{FFFD}".utf8 } }
        return (result, faults)
    }

    /// The size of the pieces in which text is converted, in bytes.
    private static let pieceSize = 64 << 10
    /// The number of faults after which only the characters of ASCII are read.
    private static let maximumFaults = 10_000
}
