/// The host names that the DNS can have. URLs can spell further ones.
enum HostName {
    /// Whether the DNS can have the host of a URL, which must be neither empty nor bracketed.
    ///
    /// Labels have 1–63 letters, digits and hyphens, without a hyphen at either end. The name has at most 253
    /// characters (RFC 1035 §2.3.4, RFC 1123 §2.1), and one dot after it for the root. Underscores are accepted, since
    /// some hosts have them despite the RFCs. A name whose last label is a number must be an IPv4 address: no top-level
    /// domain is a number.
    static func isPossible(_ host: ArraySlice<UInt8>) -> Bool {
        let dot = UInt8(ascii: ".")
        let name = host.last == dot ? host.dropLast() : host
        guard name.count <= 253 else { return false }
        var last = name
        while let end = last.firstIndex(of: dot) {
            guard isLabel(last[..<end]) else { return false }
            last = last[(end + 1)...]
        }
        guard isLabel(last) else { return false }
        guard last.allSatisfy(ASCII.isDigit) || last.prefix(2).equalsIgnoringCase("0x") else { return true }
        return IPAddress(parsingLeniently: String(fieldText: name)) != nil
    }

    private static func isLabel(_ label: ArraySlice<UInt8>) -> Bool {
        let hyphen = UInt8(ascii: "-")
        guard (1...63).contains(label.count), label.first != hyphen, label.last != hyphen else { return false }
        return label.allSatisfy { ASCII.isAlpha($0) || ASCII.isDigit($0) || $0 == hyphen || $0 == UInt8(ascii: "_") }
    }
}
