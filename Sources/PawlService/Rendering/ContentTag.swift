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
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        var word: UInt64 = 0
        var filled: UInt64 = 0
        for byte in bytes {
            word = word << 8 | UInt64(byte)
            filled += 1
            if filled == 8 {
                state = mixed(state ^ word)
                word = 0
                filled = 0
            }
        }
        return mixed(mixed(state ^ word) ^ filled)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}
