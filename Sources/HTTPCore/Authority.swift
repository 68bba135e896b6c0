/// `host [":" port]`, as Host and URLs hold it: RFC 3986 §3.2, without userinfo.
struct Authority {
    /// The host with its brackets, as written; never empty.
    let host: ArraySlice<UInt8>
    /// 0–65535; nil if absent or empty, which RFC 3986 §3.2.3 allows.
    let port: Int?

    /// Nil unless the bytes are a registered name, an IPv4 address or a bracketed IP literal, and a port if there is a colon.
    init?(host bytes: ArraySlice<UInt8>) {
        var end = bytes.startIndex
        if bytes.first == UInt8(ascii: "[") {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")),
                Authority.isAddressLiteral(bytes[(bytes.startIndex + 1)..<bracket])
            else { return nil }
            end = bracket + 1
        } else {
            while end < bytes.endIndex, bytes[end] != ASCII.colon {
                if bytes[end] == ASCII.percent {
                    guard bytes.endIndex - end > 2, ASCII.hexValue(bytes[end + 1]) != nil,
                        ASCII.hexValue(bytes[end + 2]) != nil
                    else { return nil }
                    end += 3
                } else {
                    // RFC 3986 allows a comma, and nobody's name has one: it is what two Host lines are combined with.
                    guard ByteSet.registeredName.contains(bytes[end]), bytes[end] != ASCII.comma else { return nil }
                    end += 1
                }
            }
        }
        host = bytes[bytes.startIndex..<end]
        guard !host.isEmpty else { return nil }
        guard end < bytes.endIndex else {
            port = nil
            return
        }
        guard bytes[end] == ASCII.colon else { return nil }
        let digits = bytes[(end + 1)...]
        if digits.isEmpty {
            port = nil
        } else {
            guard let value = digits.decimalValue, value <= 65535 else { return nil }
            port = Int(value)
        }
    }

    /// Whether the text between brackets is an IPv6 address (RFC 3986 §3.2.2, RFC 4291 §2.2); later literals and zones,
    /// which nobody serves, are not accepted.
    static func isAddressLiteral(_ text: ArraySlice<UInt8>) -> Bool {
        var groups = 0
        var isCompressed = false
        var index = text.startIndex
        let end = text.endIndex
        guard text.count >= 2 else { return false }
        if text[index] == ASCII.colon {
            guard text[index + 1] == ASCII.colon else { return false }
            isCompressed = true
            index += 2
        }
        while index < end {
            let start = index
            while index < end, ASCII.hexValue(text[index]) != nil { index += 1 }
            if index < end, text[index] == UInt8(ascii: ".") {
                guard isDottedQuad(text[start...]) else { return false }
                groups += 2
                return isCompressed ? groups < 8 : groups == 8
            }
            guard index > start, index - start <= 4 else { return false }
            groups += 1
            guard index < end else { break }
            guard text[index] == ASCII.colon else { return false }
            index += 1
            guard index < end else { return false }
            if text[index] == ASCII.colon {
                guard !isCompressed else { return false }
                isCompressed = true
                index += 1
            }
        }
        return isCompressed ? groups < 8 : groups == 8
    }

    private static func isDottedQuad(_ text: ArraySlice<UInt8>) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                guard part.count <= 3, let value = part.decimalValue else { return false }
                return value <= 255 && (part.count == 1 || part.first != 0x30)
            }
    }
}
