internal import System

/// The cover of an album as a PNG: a disc of rings on stripes. The colours depend on the album's id; the picture is the
/// same in every size.
enum Artwork {
    /// The supported sizes in pixels. Search results name 30, 60 and 100.
    static let sides = 16...600

    static func png(seed: Int64, side: Int) -> [UInt8] {
        var numbers = SeededNumbers(seed: UInt64(bitPattern: seed))
        // Eight shades of one hue for the stripes, eight of another for the disc.
        let ground = (0..<3).map { _ in 30 + numbers.next(below: 110) }
        let disc = (0..<3).map { _ in 110 + numbers.next(below: 130) }
        let palette = [ground, disc].flatMap { hue in (12..<20).flatMap { shade in hue.map { UInt8(clamping: $0 * shade / 16) } }
        }
        let centre = (x: 200 + numbers.next(below: 600), y: 200 + numbers.next(below: 600))
        let (ring, slope, radius) = (60 + numbers.next(below: 90), numbers.next(below: 5) - 2, 260 + numbers.next(below: 160))
        var rows: [UInt8] = []
        for row in 0..<side {
            rows.append(0)  // filter: none
            // The picture is drawn on a square of 1000 by 1000.
            let y = row * 1000 / side
            for column in 0..<side {
                let x = column * 1000 / side
                let distance = (x - centre.x) * (x - centre.x) + (y - centre.y) * (y - centre.y)
                let shade = distance < radius * radius ? 8 + distance / (ring * ring) % 8 : (slope * x + 2 * y + 4000) / 130 % 8
                rows.append(UInt8(truncatingIfNeeded: shade))
            }
        }
        // W3C PNG, third edition: bit depth 8, indexed colour, deflate, adaptive filtering, not interlaced.
        var png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        appendChunk("IHDR", bigEndian(side) + bigEndian(side) + [8, 3, 0, 0, 0], to: &png)
        appendChunk("PLTE", palette, to: &png)
        appendChunk("IDAT", zlib(rows), to: &png)
        appendChunk("IEND", [], to: &png)
        return png
    }

    private static func appendChunk(_ name: String, _ data: [UInt8], to png: inout [UInt8]) {
        let checked = Array(name.utf8) + data
        let crc = unsafe CRC32.checksum(checked.span.bytes)
        png += bigEndian(data.count) + checked + bigEndian(Int(crc))
    }

    /// A zlib stream (RFC 1950) of stored blocks (RFC 1951 §3.2.4). Uncompressed, since the pictures are small and the
    /// code stays short.
    private static func zlib(_ data: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [0x78, 0x01]
        for offset in stride(from: 0, to: data.count, by: 65_535) {
            let block = data[offset..<min(offset + 65_535, data.count)]
            let length = UInt16(block.count)
            bytes.append(block.endIndex == data.count ? 1 : 0)
            for part in [length, ~length] { bytes += [UInt8(truncatingIfNeeded: part), UInt8(truncatingIfNeeded: part >> 8)] }
            bytes += block
        }
        var (low, high) = (1, 0)
        for byte in data {
            low = (low + Int(byte)) % 65_521
            high = (high + low) % 65_521
        }
        return bytes + bigEndian(high << 16 | low)
    }

    private static func bigEndian(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
}
