/// The names a host can have where it is looked up in the DNS, which are fewer than URLs can spell.
enum HostName {
    /// Whether a host of a URL, neither empty nor bracketed, can be somebody's: labels of 1–63 letters, digits and hyphens, no
    /// hyphen first or last, 253 characters in all (RFC 1035 §2.3.4, RFC 1123 §2.1), and one dot behind them for the root.
    ///
    /// Underscores, which the RFCs leave to other names than those of hosts, are in use. A name whose last label is a number
    /// is an IPv4 address or nothing: no top-level domain is one.
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
