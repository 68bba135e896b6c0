/// A constant set of bytes, with one bit for each ASCII byte, and one bit for all bytes from 0x80 (obs-text).
struct ByteSet: Sendable {
    let low: UInt64
    let high: UInt64
    var containsObsoleteText = false

    func contains(_ byte: UInt8) -> Bool {
        let word = byte & 0x40 == 0 ? low : high
        // The shift takes the low six bits of the byte.
        let isMember = word &>> UInt64(truncatingIfNeeded: byte) & 1 == 1
        return byte < 0x80 ? isMember : containsObsoleteText
    }

    /// The bytes of tokens such as methods, field names and parameter names: RFC 9110 §5.6.2.
    static var token: ByteSet { ByteSet(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }
    /// The bytes of field values: HTAB, SP, visible ASCII and obs-text (RFC 9110 §5.5).
    static var fieldValue: ByteSet {
        ByteSet(low: 0xFFFF_FFFF_0000_0200, high: 0x7FFF_FFFF_FFFF_FFFF, containsObsoleteText: true)
    }
    /// The bytes that a quoted string contains unescaped: RFC 9110 §5.6.4.
    static var quotedText: ByteSet {
        ByteSet(low: 0xFFFF_FFFB_0000_0200, high: 0x7FFF_FFFF_EFFF_FFFF, containsObsoleteText: true)
    }
    /// The bytes between the quotes of an entity tag: RFC 9110 §8.8.3.
    static var entityTag: ByteSet {
        ByteSet(low: 0xFFFF_FFFA_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF, containsObsoleteText: true)
    }
    /// Visible ASCII except `"`, `#`, `<` and `>`. That is more than RFC 3986 allows, because browsers send characters
    /// such as `|` and `[` unescaped. No browser sends the four exceptions (WHATWG URL, query percent-encode set).
    static var requestTarget: ByteSet { ByteSet(low: 0xAFFF_FFF2_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF) }
    /// The bytes of a target that a client sends: with those that other clients than browsers leave unescaped.
    static var sentTarget: ByteSet {
        ByteSet(low: 0xAFFF_FFF6_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF, containsObsoleteText: true)
    }
    /// The unreserved and sub-delims of RFC 3986 §3.2.2, without the percent sign.
    static var registeredName: ByteSet { ByteSet(low: 0x2BFF_7FD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }
    /// The unreserved characters of RFC 3986 §2.3.
    static var unreserved: ByteSet { ByteSet(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE) }
    /// The bytes that need no percent-encoding in an extended parameter value: RFC 8187 §3.2.1.
    static var extendedParameter: ByteSet { ByteSet(low: 0x03FF_685A_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE) }
    /// The bytes that need no encoding in application/x-www-form-urlencoded: WHATWG URL.
    static var formText: ByteSet { ByteSet(low: 0x03FF_6400_0000_0000, high: 0x07FF_FFFE_87FF_FFFE) }
    /// The pchar of RFC 3986 §3.3, `/` and the percent sign.
    static var path: ByteSet { ByteSet(low: 0x2FFF_FFF2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF) }
}
