import HTTPCore

/// Fields by host, from a file with lines `HOST-PATTERN Name: value`. Empty lines and lines that begin with `#` are
/// skipped.
///
/// A pattern is a host or an address, or `*.suffix`, each with an optional port. Of several lines with one name, the
/// most specific pattern counts: a host with a port, a host, the longest suffix.
public struct HeaderFile: Sendable {
    private struct Line: Sendable {
        let number: Int
        let rule: DestinationRule
        let name: FieldName
        let value: String
    }

    /// The lines, the most specific ones first.
    private var lines: [Line] = []

    /// Creates a file without lines.
    public init() {}

    /// Parses a file.
    public init(parsing bytes: [UInt8]) throws(CredentialFault) {
        var numbers: [DestinationRule: [FieldName: Int]] = [:]
        try CredentialFault.read(bytes) { bytes, number throws(LineFault) in
            let bytes = bytes.trimmingWhiteSpace
            if bytes.isEmpty || bytes.first == UInt8(ascii: "#") { return }
            let line = try Self.line(bytes, number)
            if let earlier = numbers[line.rule, default: [:]].updateValue(number, forKey: line.name) {
                throw LineFault(reason: "it has the pattern and the name of line \(earlier)")
            }
            lines.append(line)
        }
        lines.sort { ($0.rule.specificity, $1.number) > ($1.rule.specificity, $0.number) }
    }

    /// Returns the fields for a URL, each name once.
    func fields(for url: HTTPURL) -> [(name: FieldName, value: String)] {
        var fields: [(name: FieldName, value: String)] = []
        if lines.isEmpty { return fields }
        let host = HostSpelling.normalize(url.host)
        let address = IPAddress(parsing: host)
        for line in lines {
            let isCovered =
                address.map { line.rule.covers($0, port: url.port) } ?? line.rule.covers(host: host, port: url.port)
            if isCovered, !fields.contains(where: { $0.name == line.name }) { fields.append((line.name, line.value)) }
        }
        return fields
    }

    // MARK: - Parsing

    private static func line(_ bytes: ArraySlice<UInt8>, _ number: Int) throws(LineFault) -> Line {
        let form = "expected HOST-PATTERN Name: value"
        guard let text = String(validating: bytes, as: UTF8.self),
            !bytes.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f })
        else { throw LineFault(reason: "a line is UTF-8 text without control characters") }
        guard let space = text.firstIndex(where: { $0 == " " || $0 == "\t" }) else { throw LineFault(reason: form) }
        guard let rule = try? DestinationRule(parsing: String(text[..<space])), rule.isHost else {
            throw LineFault(reason: "the pattern is a host, an address or *.suffix, each optionally with :port")
        }
        let field = text[space...].drop { $0 == " " || $0 == "\t" }
        guard let colon = field.firstIndex(of: ":"), let name = FieldName(String(field[..<colon])) else {
            throw LineFault(reason: form)
        }
        guard !ClientRequest.reserves(name), !conditions.contains(name.lowercased) else {
            throw LineFault(
                reason: "\(name.lowercased) cannot be set: the service sets it for the connection, or to resume a download")
        }
        let value = String(field[field.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
        guard (1...CredentialLimits.headerValue).contains(value.utf8.count) else {
            throw LineFault(reason: "a value has 1 to \(CredentialLimits.headerValue) bytes")
        }
        return Line(number: number, rule: rule, name: name, value: value)
    }

    /// The fields, besides those that ``ClientRequest/reserves(_:)`` names, that belong to the content of a request or
    /// make it conditional (RFC 9110 §8, §13.1).
    private static let conditions: Set<String> = [
        "content-encoding", "content-type", "if-match", "if-modified-since", "if-none-match", "if-unmodified-since",
    ]
}

extension DestinationRule {
    /// Whether the rule is for a host, one address or a suffix, and not for a block.
    var isHost: Bool {
        if case .block(let block) = scope { block.length == block.base.width } else { true }
    }

    /// The rank of the rule among those that cover a host. The greatest is the most specific one.
    fileprivate var specificity: Int {
        guard case .suffix(let suffix) = scope else { return port == nil ? .max - 1 : .max }
        return 2 * suffix.utf8.count + (port == nil ? 0 : 1)
    }
}
