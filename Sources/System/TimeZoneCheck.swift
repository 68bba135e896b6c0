import Glibc

/// Checks the variable `TZ`. The C library takes an unknown value for UTC.
public enum TimeZoneCheck {
    /// The reason why this process's `TZ` is not a time zone, in one line. `nil` if it is one or is not set.
    public static var objection: String? {
        objection(to: ProcessEnvironment.variable("TZ") ?? "", directory: ProcessEnvironment.variable("TZDIR"))
    }

    /// The reason why a value of `TZ` is not a time zone; `nil` if it is one.
    /// - Parameters:
    ///   - value: The value of `TZ` (tzset(3)).
    ///   - directory: The directory of the zone files; `nil`: the default.
    static func objection(to value: String, directory: String?) -> String? {
        let name = value.hasPrefix(":") ? String(value.dropFirst()) : value
        let directory = directory ?? "/usr/share/zoneinfo"
        if name.isEmpty || ["UTC", "GMT"].contains(name) || isRule(name) { return nil }
        let path = name.hasPrefix("/") ? name : "\(directory)/\(name)"
        if let bytes = try? SmallFile.read(path, limit: 4, within: .zero), bytes.elementsEqual("TZif".utf8) { return nil }
        let accepted = "TZ takes a name such as Europe/Berlin, of a file in \(directory), or a rule such as CET-1CEST"
        return "TZ=\(value) is not a time zone on this machine: \(accepted)"
    }

    /// Whether the text begins like a POSIX rule: an abbreviation and an offset.
    private static func isRule(_ text: String) -> Bool {
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "<") {
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
            rest = rest[rest.index(after: end)...]
        } else {
            let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
            guard rest.prefix(while: isLetter).count >= 3 else { return false }
            rest = rest.drop(while: isLetter)
        }
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        return rest.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    }
}
