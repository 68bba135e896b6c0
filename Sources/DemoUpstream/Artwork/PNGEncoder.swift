/// Writes a PNG of at most 256 colours (W3C PNG, third edition). The data is stored, not compressed: pictures are small, and so is this.
enum PNGEncoder {
    struct Colour: Sendable, Equatable {
        let red: UInt8
        let green: UInt8
        let blue: UInt8
    }

    /// - Parameters:
    ///   - side: width and height in pixels.
    ///   - palette: the colours, at most 256.
    ///   - pixels: an index into the palette for each pixel, row by row; `side * side` of them.
    static func encode(side: Int, palette: [Colour], pixels: [UInt8]) -> [UInt8] {
        var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        // Bit depth 8, indexed colour, deflate, adaptive filtering, not interlaced.
        appendChunk("IHDR", bigEndian(side) + bigEndian(side) + [8, 3, 0, 0, 0], to: &png)
        appendChunk("PLTE", palette.flatMap { [$0.red, $0.green, $0.blue] }, to: &png)
        var rows: [UInt8] = []
        rows.reserveCapacity((side + 1) * side)
        for row in 0..<side {
            rows.append(0)  // filter: none
            rows.append(contentsOf: pixels[(row * side)..<((row + 1) * side)])
        }
        appendChunk("IDAT", zlib(rows), to: &png)
        appendChunk("IEND", [], to: &png)
        return png
    }

    private static func appendChunk(_ name: StaticString, _ data: [UInt8], to png: inout [UInt8]) {
        png += bigEndian(data.count)
        var checked = Array(String(describing: name).utf8)
        checked += data
        png += checked
        var sum = CRC32()
        sum.update(checked[...])
        png += bigEndian(Int(sum.value))
    }

    /// RFC 1950 around the stored blocks of RFC 1951 §3.2.4.
    private static func zlib(_ data: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [0x78, 0x01]
        var offset = 0
        repeat {
            let count = min(65_535, data.count - offset)
            bytes += StoredBlock.header(length: count, isLast: offset + count == data.count)
            bytes += data[offset..<(offset + count)]
            offset += count
        } while offset < data.count
        var (low, high) = (1, 0)
        for byte in data {
            low = (low + Int(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return bytes + bigEndian(high << 16 | low)
    }

    private static func bigEndian(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}

/// A block of a deflate stream whose data is not compressed (RFC 1951 §3.2.4).
enum StoredBlock {
    static let longest = 65_535
    static let headerLength = 5

    static func header(length: Int, isLast: Bool) -> [UInt8] {
        let length = UInt16(truncatingIfNeeded: length)
        return [
            isLast ? 1 : 0, UInt8(truncatingIfNeeded: length), UInt8(truncatingIfNeeded: length >> 8),
            UInt8(truncatingIfNeeded: ~length), UInt8(truncatingIfNeeded: ~length >> 8),
        ]
    }
}

/// The checksum of PNG and gzip (ISO 3309; RFC 1952 §8), fed piece by piece.
struct CRC32: Sendable {
    private var state: UInt32 = 0xFFFF_FFFF

    var value: UInt32 { state ^ 0xFFFF_FFFF }

    mutating func update(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes { state = Self.table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ (state >> 8) }
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }
}
