import HTTPCore

/// A cookie with the hosts and paths that it is for: RFC 6265 §5.
struct Cookie: Sendable, Equatable {
    var name: [UInt8]
    var value: [UInt8]
    /// The host, or the domain without its leading dot, in lowercase.
    var domain: String
    /// Whether only the host itself gets the cookie, and not those below it.
    var isHostOnly: Bool
    var path: String
    /// Whether the cookie is sent over encrypted connections only.
    var isSecure: Bool
    /// The end of the cookie in seconds since 1970; nil: none.
    var expires: Int64?

    /// Whether another cookie takes the place of this one (RFC 6265 §5.3, step 11).
    func isReplaced(by other: Cookie) -> Bool {
        name == other.name && domain == other.domain && path == other.path
    }

    /// Whether a request for the URL has the cookie.
    func isSent(to url: HTTPURL, now: Int64) -> Bool {
        let host = HostSpelling.normalize(url.host)
        return (isHostOnly ? host == domain : Self.matches(host, domain)) && Self.matchesPath(url.path, path)
            && (!isSecure || url.scheme == "https") && (expires ?? .max) > now
    }

    /// Whether a host is in a domain (RFC 6265 §5.1.3). An address is in no domain but itself.
    static func matches(_ host: String, _ domain: String) -> Bool {
        if host == domain { return true }
        return host.hasSuffix("." + domain) && IPAddress(parsingLeniently: host) == nil
    }

    /// Whether the path of a request is below the path of a cookie (RFC 6265 §5.1.4).
    private static func matchesPath(_ path: String, _ prefix: String) -> Bool {
        guard path.utf8.starts(with: prefix.utf8) else { return false }
        return path.utf8.count == prefix.utf8.count || prefix.utf8.last == UInt8(ascii: "/")
            || path.utf8.dropFirst(prefix.utf8.count).first == UInt8(ascii: "/")
    }

    /// Whether a name and a value can be sent: without semicolons and control characters, and not too long.
    static func isValid(name: some Sequence<UInt8>, value: some Sequence<UInt8>) -> Bool {
        var count = 0
        for byte in Array(name) + Array(value) {
            guard byte >= 0x20 || byte == 0x09, byte != 0x7f, byte != UInt8(ascii: ";") else { return false }
            count += 1
        }
        return count <= CredentialLimits.cookie
    }
}

// MARK: - Set-Cookie

extension Cookie {
    /// Reads a Set-Cookie field (RFC 6265 §5.2, §5.3); nil if the cookie is ignored.
    ///
    /// A domain must be the host's or a parent's, and have two labels. Names that begin with `__Secure-` or
    /// `__Host-`, and secure cookies, are accepted as the successor of the RFC says.
    init?(setCookie field: some Sequence<UInt8>, from url: HTTPURL, now: Int64) {
        var parts = Array(field).split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
        guard let (name, value) = parts.popFirst().flatMap(Self.pair), let value, !name.isEmpty,
            Self.isValid(name: name, value: value)
        else { return nil }
        self.name = Array(name)
        self.value = Array(value)
        domain = HostSpelling.normalize(url.host)
        isHostOnly = true
        path = Self.defaultPath(url)
        isSecure = false
        var hasOwnPath = false
        var maximumAge: Int64?
        var date: Int64?
        for part in parts {
            guard let (key, value) = Self.pair(part) else { continue }
            let text = String(decoding: value ?? [], as: UTF8.self)
            switch String(decoding: key, as: UTF8.self).lowercased() {
            case "domain":
                guard setDomain(text) else { return nil }
            case "path":
                hasOwnPath = text.hasPrefix("/")
                path = hasOwnPath ? text : Self.defaultPath(url)
            case "secure": isSecure = true
            case "max-age": maximumAge = Self.seconds(text) ?? maximumAge
            case "expires": date = Self.date(text) ?? date
            default: break
            }
        }
        expires = maximumAge.map { $0 <= 0 ? .min : now + $0 } ?? date
        if isSecure, url.scheme != "https" { return nil }
        if self.name.starts(with: "__Secure-".utf8), !isSecure { return nil }
        if self.name.starts(with: "__Host-".utf8), !isSecure || !isHostOnly || !hasOwnPath || path != "/" { return nil }
    }

    /// Applies the Domain attribute; returns whether the cookie is acceptable.
    private mutating func setDomain(_ text: String) -> Bool {
        let name = HostSpelling.normalize(text.hasPrefix(".") ? String(text.dropFirst()) : text)
        if name.isEmpty { return true }
        let host = domain
        // A name of one label is a host or a top-level domain, which has no cookies for the hosts below it.
        guard name.utf8.contains(UInt8(ascii: ".")), IPAddress(parsingLeniently: host) == nil else { return name == host }
        guard Self.matches(host, name) else { return false }
        (domain, isHostOnly) = (name, false)
        return true
    }

    /// The name and the value of a part, without white space; the value is nil without an equals sign.
    private static func pair(_ part: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>?)? {
        guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else { return (part.trimmingWhiteSpace, nil) }
        return (part[..<equals].trimmingWhiteSpace, part[(equals + 1)...].trimmingWhiteSpace)
    }

    /// The directory of a URL's path (RFC 6265 §5.1.4).
    private static func defaultPath(_ url: HTTPURL) -> String {
        let bytes = Array(url.path.utf8)
        let slash = bytes.lastIndex(of: UInt8(ascii: "/")) ?? 0
        return slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self)
    }

    /// A number of seconds, which may be negative; nil for other texts.
    private static func seconds(_ text: String) -> Int64? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        if digits.count < text.count { return 0 }
        // 400 days are the limit of browsers. It also bounds the sum with the present time.
        return min(Int64(digits) ?? .max, 400 * 86_400)
    }

    /// The time of a date in one of HTTP's forms, or with hyphens as in Netscape's; nil for other texts.
    private static func date(_ text: String) -> Int64? {
        let date = HTTPDate(parsing: text) ?? HTTPDate(parsing: text.replacing("-", with: " "))
        return date?.secondsSinceEpoch
    }
}
