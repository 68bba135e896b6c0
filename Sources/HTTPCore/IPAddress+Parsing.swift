extension IPAddress {
    /// Parses an address in the forms of a URL (RFC 3986 §3.2.2): four decimal octets without leading zeros, or IPv6
    /// without brackets and zone. Nil for anything else.
    public init?(parsing text: some StringProtocol) {
        let bytes = Array(text.utf8)
        if let bits = Self.parseV4(bytes[...]) {
            self = .v4(bits)
        } else if let bits = Self.parseV6(bytes[...]) {
            self = .v6(bits)
        } else {
            return nil
        }
    }

    /// Parses the further forms that resolvers accept, as `inet_aton` does: IPv4 in one to four parts, each decimal,
    /// octal (`0…`) or hexadecimal (`0x…`). The last part fills the remaining octets: `127.1`, `0x7f000001`,
    /// `017700000001`, `2130706433`.
    public init?(parsingLeniently text: some StringProtocol) {
        if let address = IPAddress(parsing: text) {
            self = address
            return
        }
        let parts = Array(text.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...4).contains(parts.count) else { return nil }
        var bits: UInt64 = 0
        for (index, part) in parts.enumerated() {
            guard let number = Self.number(part) else { return nil }
            let isLast = index == parts.count - 1
            let octets = isLast ? 5 - parts.count : 1
            guard number < UInt64(1) << UInt64(8 * octets) else { return nil }
            bits = bits << UInt64(8 * octets) | number
        }
        self = .v4(UInt32(truncatingIfNeeded: bits))
    }

    /// Whether the host's last label is a number, so that a resolver may take the host for an IPv4 address.
    ///
    /// This is the check of the URL standard (<https://url.spec.whatwg.org/#ends-in-a-number-checker>): such a host is
    /// an address or invalid.
    public static func looksNumeric(_ host: some StringProtocol) -> Bool {
        let last = Array(host.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).last ?? []
        if !last.isEmpty, last.allSatisfy(ASCII.isDigit) { return true }
        return number(last) != nil
    }

    /// Parses a number of C: `0x` hexadecimal, `0` octal, decimal otherwise. Large values are refused to avoid
    /// overflow.
    private static func number(_ part: ArraySlice<UInt8>) -> UInt64? {
        var digits = part
        var radix: UInt64 = 10
        if digits.first == UInt8(ascii: "0"), digits.count > 1 {
            digits = digits.dropFirst()
            radix = 8
            if let mark = digits.first, mark | 0x20 == UInt8(ascii: "x") {
                digits = digits.dropFirst()
                radix = 16
                // Some readers take `0x` alone for zero.
                if digits.isEmpty { return 0 }
            }
        }
        guard !digits.isEmpty else { return nil }
        var value: UInt64 = 0
        for byte in digits {
            guard let digit = ASCII.hexValue(byte), digit < radix, value < 1 << 40 else { return nil }
            value = value * radix + UInt64(digit)
        }
        return value
    }

    private static func parseV4(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        var (bits, octet): (UInt32, UInt32) = (0, 0)
        var (dots, digits) = (0, 0)
        for byte in bytes {
            if byte == UInt8(ascii: "."), digits > 0, dots < 3 {
                bits = bits << 8 | octet
                dots += 1
                (octet, digits) = (0, 0)
                continue
            }
            // A zero stands alone.
            guard ASCII.isDigit(byte), digits == 0 || octet > 0 else { return nil }
            octet = octet * 10 + UInt32(byte &- 0x30)
            digits += 1
            guard octet <= 255 else { return nil }
        }
        return dots == 3 && digits > 0 ? bits << 8 | octet : nil
    }

    private static func parseV6(_ bytes: ArraySlice<UInt8>) -> UInt128? {
        let colon = UInt8(ascii: ":")
        guard (2...45).contains(bytes.count) else { return nil }
        guard let gap = firstDoubleColon(bytes) else {
            guard let groups = groups(bytes), groups.count == 8 else { return nil }
            return join(groups)
        }
        let before = bytes[..<gap]
        let after = bytes[(gap + 2)...]
        guard after.first != colon, let head = before.isEmpty ? [] : groups(before, allowsV4: false),
            let tail = after.isEmpty ? [] : groups(after), head.count + tail.count <= 7
        else { return nil }
        return join(head + Array(repeating: 0, count: 8 - head.count - tail.count) + tail)
    }

    private static func firstDoubleColon(_ bytes: ArraySlice<UInt8>) -> Int? {
        let colon = UInt8(ascii: ":")
        return bytes.indices.dropLast().first { bytes[$0] == colon && bytes[$0 + 1] == colon }
    }

    /// Parses groups of one to four hexadecimal digits. The last two groups may be an IPv4 address.
    private static func groups(_ bytes: ArraySlice<UInt8>, allowsV4: Bool = true) -> [UInt16]? {
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if part.contains(UInt8(ascii: ".")) {
                guard allowsV4, index == parts.count - 1, let bits = parseV4(part) else { return nil }
                groups.append(UInt16(truncatingIfNeeded: bits >> 16))
                groups.append(UInt16(truncatingIfNeeded: bits))
                continue
            }
            guard (1...4).contains(part.count) else { return nil }
            var group: UInt16 = 0
            for byte in part {
                guard let digit = ASCII.hexValue(byte) else { return nil }
                group = group << 4 | UInt16(digit)
            }
            groups.append(group)
        }
        return groups
    }

    private static func join(_ groups: [UInt16]) -> UInt128 {
        groups.reduce(0) { $0 << 16 | UInt128($1) }
    }
}
