internal import HTTPCore

/// A strong validator of a body: equal bytes have equal tags. It distinguishes versions, and does not protect against
/// forgery.
enum ContentTag {
    /// The entity-tag of these bytes.
    static func of(_ bytes: [UInt8]) -> EntityTag {
        EntityTag(opaque: String(hash(bytes), radix: 36) + "-" + String(bytes.count, radix: 36))
    }

    /// 64 bits that depend on every byte and its position. Each word is spread by a multiplication and folded.
    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        let text = bytes.span
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        var start = 0
        while start <= text.count - 8 {
            state = mixed(state ^ word(text, start, 8))
            start += 8
        }
        return mixed(mixed(state ^ word(text, start, text.count - start)) ^ UInt64(clamping: text.count - start))
    }

    /// Returns up to eight bytes as one number.
    @inline(__always) private static func word(_ bytes: Span<UInt8>, _ start: Int, _ count: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in start..<start + count { word = word << 8 | UInt64(bytes[index]) }
        return word
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}
