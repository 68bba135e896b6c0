internal import JSON

/// The type of an option's value. Options without effect here are checked as well, so that clients learn of their
/// mistakes.
enum OptionKind: Sendable {
    case boolean
    case integer(ClosedRange<Int64>)
    /// Bytes: digits, and K or M for 1024 each.
    case size(ClosedRange<Int64>)

    /// The number for a text, with 0 and 1 for false and true; `nil` if the text is not of this kind.
    func number(_ text: String) -> Int64? {
        switch self {
        case .boolean: text == "true" ? 1 : text == "false" ? 0 : nil
        case .integer(let range): Self.digits(text[...]).flatMap { range.contains($0) ? $0 : nil }
        case .size(let range): Self.size(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    private static func digits(_ text: Substring) -> Int64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }

    private static func size(_ text: String) -> Int64? {
        let unit: Int64 =
            switch text.last {
            case "k", "K": 1 << 10
            case "m", "M": 1 << 20
            default: 1
            }
        guard let number = digits(unit == 1 ? text[...] : text.dropLast()) else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: unit)
        return overflow ? nil : bytes
    }

    /// The numeric and Boolean options with their ranges (manual page of aria2c 1.36).
    static let known: [String: OptionKind] = {
        var kinds: [String: OptionKind] = [:]
        for name in [
            "allow-overwrite", "allow-piece-length-change", "always-resume", "async-dns", "auto-file-renaming", "check-integrity",
            "conditional-get", "content-disposition-default-utf8", "continue", "dry-run", "enable-http-keep-alive",
            "enable-http-pipelining", "enable-mmap", "force-save", "hash-check-only", "http-accept-gzip", "http-auth-challenge",
            "http-no-cache", "no-netrc", "parameterized-uri", "pause", "pause-metadata", "realtime-chunk-checksum", "remote-time",
            "remove-control-file", "reuse-uri", "save-not-found", "use-head",
        ] { kinds[name] = .boolean }
        for (name, range) in [
            ("split", 1...Int64(Int32.max)), ("max-connection-per-server", 1...16), ("connect-timeout", 1...600),
            ("timeout", 1...600), ("max-tries", 0...Int64(Int32.max)), ("retry-wait", 0...600),
            ("max-file-not-found", 0...Int64(Int32.max)), ("max-resume-failure-tries", 0...Int64(Int32.max)),
            ("max-concurrent-downloads", 1...Int64(Int32.max)), ("max-download-result", 0...Int64(Int32.max)),
        ] { kinds[name] = .integer(range) }
        for (name, range) in [
            ("max-download-limit", 0...Int64.max), ("max-overall-download-limit", 0...Int64.max),
            ("max-upload-limit", 0...Int64.max), ("max-overall-upload-limit", 0...Int64.max),
            ("lowest-speed-limit", 0...Int64.max), ("no-file-allocation-limit", 0...Int64.max),
            ("min-split-size", 1 << 20...1 << 30), ("piece-length", 1 << 20...1 << 30),
        ] { kinds[name] = .size(range) }
        return kinds
    }()
}

/// The options of a call. An unknown option, and a value with an unexpected type, count as absent.
struct OptionReader {
    private let members: [JSONMember]

    /// Checks all options: an invalid one is refused even if it has no effect.
    init(_ members: [JSONMember]) throws(RPCError) {
        self.members = members
        for member in members {
            guard let kind = OptionKind.known[member.name], let text = member.value.string else { continue }
            guard kind.number(text) != nil else { throw .badOption(member.name) }
        }
    }

    func text(_ name: String) -> String? {
        members.last { $0.name == name }?.value.string
    }

    /// A number, or 0 or 1 for a Boolean; `nil` if the option is absent.
    func number(_ name: String) -> Int64? {
        guard let kind = OptionKind.known[name] else { return nil }
        return text(name).flatMap(kind.number)
    }

    func isTrue(_ name: String) -> Bool { number(name) == 1 }

    /// A list, or the lines of a text.
    func lines(_ name: String) -> [String] {
        switch members.last(where: { $0.name == name })?.value {
        // Split by bytes, since Swift treats CR LF as one character that is not LF.
        case .string(let text): text.utf8.split(separator: 0x0A).map { String(Substring($0)) }
        case .array(let elements): elements.compactMap(\.string)
        default: []
        }
    }
}
