import HTTPCore

/// Cookies by host, from a file in the Netscape format: lines of domain, TRUE if it includes hosts below it, path, TRUE
/// if the cookie needs encryption, end in seconds since 1970, name and value, separated by tabs.
///
/// Empty lines and lines that begin with `#` are skipped, except those that begin with `#HttpOnly_`. An end of 0 is
/// none. A later cookie replaces an earlier one of the same domain, path and name. Cookies without a name are skipped.
public struct CookieFile: Sendable {
    /// The cookies by domain, in the order of the file.
    private var cookies: [String: [Cookie]] = [:]

    /// Creates a file without cookies.
    public init() {}

    /// Parses a file.
    public init(parsing bytes: [UInt8]) throws(CredentialFault) {
        /// The places of the cookies in the lists of their domains.
        var places: [[[UInt8]]: Int] = [:]
        try CredentialFault.read(bytes) { line, _ throws(LineFault) in
            let line = line.starts(with: Self.httpOnly) ? line.dropFirst(Self.httpOnly.count) : line
            if line.first != UInt8(ascii: "#"), !line.trimmingWhiteSpace.isEmpty { keep(try Self.cookie(line), &places) }
        }
    }

    /// Returns the cookies for a URL.
    func cookies(for url: HTTPURL, now: Int64) -> [Cookie] {
        if cookies.isEmpty { return [] }
        var found: [Cookie] = []
        var domain = HostSpelling.normalize(url.host)[...]
        while !domain.isEmpty {
            found += (cookies[String(domain)] ?? []).filter { $0.isSent(to: url, now: now) }
            domain = domain.drop { $0 != "." }.dropFirst()
        }
        return found
    }

    // MARK: - Parsing

    private static let httpOnly = Array("#HttpOnly_".utf8)

    private mutating func keep(_ cookie: Cookie, _ places: inout [[[UInt8]]: Int]) {
        if cookie.name.isEmpty { return }
        let key = [Array(cookie.domain.utf8), Array(cookie.path.utf8), cookie.name]
        if let place = places[key] {
            cookies[cookie.domain]?[place] = cookie
        } else {
            places[key] = cookies[cookie.domain]?.count ?? 0
            cookies[cookie.domain, default: []].append(cookie)
        }
    }

    private static func cookie(_ line: ArraySlice<UInt8>) throws(LineFault) -> Cookie {
        let parts = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
        // A cookie without a value has no last tab in files of some programs.
        guard parts.count == 7 || parts.count == 6 else {
            throw LineFault(
                reason: "expected seven parts separated by tabs: domain, TRUE or FALSE, path, TRUE or FALSE, end, name, value")
        }
        let texts = parts.prefix(5).map { String(decoding: $0, as: UTF8.self) }
        let domain = HostSpelling.normalize(texts[0].hasPrefix(".") ? String(texts[0].dropFirst()) : texts[0])
        guard HostSpelling.problem(domain) == nil || IPAddress(parsing: domain) != nil else {
            throw LineFault(reason: "the first part is a domain or a host")
        }
        let flags = [texts[1], texts[3]].map { $0.uppercased() }
        guard flags.allSatisfy({ ["TRUE", "FALSE"].contains($0) }) else {
            throw LineFault(reason: "the second and the fourth part are TRUE or FALSE")
        }
        guard texts[2].hasPrefix("/") else { throw LineFault(reason: "the third part is a path, which begins with a slash") }
        // Some programs write fractions of a second.
        let digits = texts[4].prefix { $0 != "." }
        guard let end = Int64(digits) else {
            throw LineFault(reason: "the fifth part is a number of seconds since 1970")
        }
        let value = parts.count == 7 ? parts[6] : []
        guard Cookie.isValid(name: parts[5], value: value) else {
            throw LineFault(
                reason: "name and value have at most \(CredentialLimits.cookie) bytes, and no semicolons or control characters")
        }
        return Cookie(
            name: Array(parts[5]), value: Array(value), domain: domain, isHostOnly: flags[0] == "FALSE", path: texts[2],
            isSecure: flags[1] == "TRUE", expires: end == 0 ? nil : end)
    }
}
