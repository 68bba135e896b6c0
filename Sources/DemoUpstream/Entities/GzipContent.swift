/// Another content as a gzip file (RFC 1952) of stored blocks: what a server sends that compresses although it was asked not to.
/// Made in order only: the checksum at its end is that of everything before.
struct GzipContent: Sendable {
    let content: any EntityContent
    private var offset: Int64 = 0
    private var checksum = CRC32()
    private var isFinished = false

    init(_ content: any EntityContent) { self.content = content }

    /// In bytes, as sent.
    var length: Int64 {
        let block = Int64(StoredBlock.longest)
        let blocks = max(1, (content.length + block - 1) / block)
        return 10 + content.length + blocks * Int64(StoredBlock.headerLength) + 8
    }

    /// The next piece of the file; empty after the last.
    mutating func next() -> [UInt8] {
        if isFinished { return [] }
        // Deflate, no flags, no time, unknown system.
        var bytes: [UInt8] = offset == 0 ? [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255] : []
        let count = min(Int64(StoredBlock.longest), content.length - offset)
        let isLast = offset + count == content.length
        bytes += StoredBlock.header(length: Int(count), isLast: isLast)
        let first = bytes.count
        content.append(offset..<(offset + count), to: &bytes)
        checksum.update(bytes[first...])
        offset += count
        if isLast {
            isFinished = true
            for place in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: checksum.value >> UInt32(8 * place))) }
            for place in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: content.length >> Int64(8 * place))) }
        }
        return bytes
    }
}
