/// A set of bytes that is a constant: one bit for each ASCII byte, and one for all bytes from 0x80 (obs-text) together.
struct ByteSet: Sendable {
    let low: UInt64
    let high: UInt64
    let containsObsoleteText: Bool

    init(low: UInt64, high: UInt64, containsObsoleteText: Bool = false) {
        self.low = low
        self.high = high
        self.containsObsoleteText = containsObsoleteText
    }

    func contains(_ byte: UInt8) -> Bool {
        let word = byte & 0x40 == 0 ? low : high
        // The shift takes the low six bits of the byte.
        let isMember = word &>> UInt64(truncatingIfNeeded: byte) & 1 == 1
        return byte < 0x80 ? isMember : containsObsoleteText
    }

    /// RFC 9110 §5.6.2: what tokens (methods, field names, parameter names) are made of.
    static var token: ByteSet { ByteSet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }
    /// RFC 9110 §5.5: HTAB, SP, visible ASCII and obs-text.
    static var fieldValue: ByteSet {
        ByteSet(low: 0xFFFF_FFFF_0000_0200, high: 0x7FFF_FFFF_FFFF_FFFF, containsObsoleteText: true)
    }
    /// RFC 9110 §5.6.4: what stands unescaped between double quotes.
    static var quotedText: ByteSet {
        ByteSet(low: 0xFFFF_FFFB_0000_0200, high: 0x7FFF_FFFF_EFFF_FFFF, containsObsoleteText: true)
    }
    /// RFC 9110 §8.8.3: what stands between the quotes of an entity tag.
    static var entityTag: ByteSet {
        ByteSet(low: 0xFFFF_FFFA_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF, containsObsoleteText: true)
    }
    /// Visible ASCII but `"`, `#`, `<`, `>`: wider than RFC 3986, because browsers send the likes of `|` and `[` unescaped
    /// (WHATWG URL, query percent-encode set), and none sends the four that are missing.
    static var requestTarget: ByteSet { ByteSet(low: 0xAFFF_FFF2_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF) }
    /// RFC 3986 §3.2.2: unreserved and sub-delims, without the percent sign.
    static var registeredName: ByteSet { ByteSet(low: 0x2BFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }
    /// RFC 3986 §2.3.
    static var unreserved: ByteSet { ByteSet(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }
    /// RFC 8187 §3.2.1: what needs no percent-encoding in an extended parameter value.
    static var extendedParameter: ByteSet { ByteSet(low: 0x03FF_685A_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }
    /// WHATWG URL, application/x-www-form-urlencoded: what its serialiser leaves as it is.
    static var formText: ByteSet { ByteSet(low: 0x03FF_6400_0000_0000, high: 0x07FF_FFFE_87FF_FFFE) }
    /// RFC 3986 §3.3: pchar, `/` and the percent sign.
    static var path: ByteSet { ByteSet(low: 0x2FFF_FFF2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF) }
}
