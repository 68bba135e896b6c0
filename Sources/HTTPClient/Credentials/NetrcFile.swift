import HTTPCore

/// User names and passwords by host, from a file in netrc's format as curl reads it.
///
/// `machine HOST` is for every port, and `machine HOST:PORT` for one. `default` is for hosts without an entry. Macros
/// and accounts are skipped. A word in double quotes may have spaces.
public struct NetrcFile: Sendable {
    /// The logins by host, with or without a port.
    private var logins: [String: [Login]] = [:]
    /// The logins of `default`.
    private var others: [Login] = []

    /// Creates a file without entries.
    public init() {}

    /// Parses a file.
    public init(parsing bytes: [UInt8]) throws(CredentialFault) {
        var entry: Entry?
        var keyword: (keyword: Keyword, line: Int)?
        var isMacro = false
        try CredentialFault.read(bytes) { line, number throws(LineFault) in
            var rest = line
            // A macro ends with an empty line.
            if isMacro {
                isMacro = !rest.isEmpty
                return
            }
            while let word = try Self.takeWord(&rest, isValue: keyword != nil) {
                if let pending = keyword {
                    try take(word, of: pending.keyword, into: &entry)
                    keyword = nil
                    continue
                }
                switch Keyword(rawValue: word.lowercased()) {
                case .standard?:
                    keep(entry)
                    entry = Entry()
                case .macro?:
                    isMacro = true
                    return
                case let other?: keyword = (other, number)
                case nil: throw LineFault(reason: "expected machine, default, login, password, account or macdef")
                }
            }
        }
        if let keyword {
            throw CredentialFault(line: keyword.line, reason: "\(keyword.keyword.rawValue) needs a word after it")
        }
        keep(entry)
    }

    /// Returns the first login for a URL: of its host and port, of its host, or of `default`.
    /// - Parameter user: The user of the login; nil: any.
    func login(for url: HTTPURL, user: String? = nil) -> Login? {
        if logins.isEmpty, others.isEmpty { return nil }
        let host = HostSpelling.normalize(url.host)
        let withPort = (host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host) + ":\(url.port)"
        return [logins[withPort], logins[host], others].lazy.compactMap { list in
            list?.first { user == nil || $0.user == user }
        }.first
    }

    // MARK: - Parsing

    private enum Keyword: String {
        case machine, login, password, account
        case standard = "default"
        case macro = "macdef"
    }

    private struct Entry {
        /// The host; nil for `default`.
        var machine: String?
        var user: String?
        var password: String?
    }

    private mutating func take(_ word: String, of keyword: Keyword, into entry: inout Entry?) throws(LineFault) {
        if keyword == .machine {
            guard let rule = try? DestinationRule(parsing: word), rule.isHost, !word.hasPrefix("*") else {
                throw LineFault(reason: "machine needs a host or an address after it, optionally with :port")
            }
            keep(entry)
            entry = Entry(machine: HostSpelling.normalize(word))
            return
        }
        guard var changed = entry else { throw LineFault(reason: "\(keyword.rawValue) needs machine or default before it") }
        if keyword == .login { changed.user = word }
        if keyword == .password { changed.password = word }
        entry = changed
    }

    private mutating func keep(_ entry: Entry?) {
        guard let entry, entry.user != nil || entry.password != nil else { return }
        let login = Login(user: entry.user ?? "", password: entry.password ?? "")
        if let machine = entry.machine { logins[machine, default: []].append(login) } else { others.append(login) }
    }

    /// Takes the next word of a line; nil at its end and before a comment. A value can begin with the mark of comments.
    private static func takeWord(_ rest: inout ArraySlice<UInt8>, isValue: Bool) throws(LineFault) -> String? {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        guard let first = rest.first, isValue || first != UInt8(ascii: "#") else { return nil }
        var word: [UInt8] = []
        if first == UInt8(ascii: "\"") {
            rest = rest.dropFirst()
            while true {
                guard var byte = rest.popFirst() else { throw LineFault(reason: "the double quote is not closed") }
                if byte == UInt8(ascii: "\"") { break }
                if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() { byte = escaped }
                word.append(byte)
            }
        } else {
            word = Array(rest.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") })
            rest = rest.dropFirst(word.count)
        }
        guard let text = String(validating: word, as: UTF8.self), word.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw LineFault(reason: "a word is UTF-8 text without control characters")
        }
        return text
    }
}
