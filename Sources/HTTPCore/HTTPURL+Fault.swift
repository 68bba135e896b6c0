extension HTTPURL {
    /// The reason why ``init(_:)`` refuses a text, as a predicate: "has a space; write it as %20".
    ///
    /// Returns the first reason that applies. For a text that is accepted, the result is meaningless.
    public static func fault(of text: String) -> String {
        let bytes = Array(text.utf8)
        if bytes.contains(0x20) { return "has a space; write it as %20" }
        if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return "has a control character, such as a line break" }
        if bytes.contains(ASCII.backslash) { return "has a backslash; write it as %5C, or as / between names" }
        let general = "is not an absolute http or https URL"
        guard let colon = text.firstRange(of: "://") else { return general }
        let scheme = text[..<colon.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return general }
        let rest = text[colon.upperBound...].utf8
        let authority = rest[
            ..<(rest.firstIndex { [ASCII.slash, ASCII.questionMark, UInt8(ascii: "#")].contains($0) } ?? rest.endIndex)]
        let host = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.index(after: $0)...] } ?? authority
        if host.isEmpty { return "has no host" }
        if host.contains(where: { $0 >= 0x80 }) {
            return "has a host name with characters outside ASCII; write its xn-- form"
        }
        return HTTPURL("http://\(Substring(host))/") == nil ? "has an invalid host or port" : general
    }
}
