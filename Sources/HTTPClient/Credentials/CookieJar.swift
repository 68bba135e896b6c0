import HTTPCore

/// The cookies that the responses of one transfer have set. They end with the transfer. It has no I/O.
struct CookieJar: Sendable {
    /// The cookies in the order of their creation. One that has ended stays, since it hides a cookie of a file.
    private var cookies: [Cookie] = []

    /// Stores the cookies of a response. Beyond ``CredentialLimits/cookies`` the oldest ones are removed.
    mutating func store(_ fields: Fields, from url: HTTPURL, now: Int64) {
        guard fields.contains(.setCookie) else { return }
        for field in fields where FieldName(field.name) == .setCookie {
            guard let cookie = Cookie(setCookie: field.valueBytes, from: url, now: now) else { continue }
            if let index = cookies.firstIndex(where: { $0.isReplaced(by: cookie) }) {
                // Creation keeps its time (RFC 6265 §5.3, step 11).
                cookies[index] = cookie
            } else {
                cookies.append(cookie)
            }
        }
        cookies.removeFirst(max(0, cookies.count - CredentialLimits.cookies))
    }

    /// Returns the value of the Cookie field for a URL; nil if there are no cookies.
    /// - Parameters:
    ///   - others: Cookies of a file for the URL. The jar's cookies of the same names replace them.
    ///   - own: The caller's cookies, which come last and count for no limit.
    func field(for url: HTTPURL, with others: [Cookie] = [], own: [UInt8] = [], now: Int64) -> [UInt8]? {
        let found =
            others.filter { other in !cookies.contains { other.isReplaced(by: $0) } }
            + cookies.filter { $0.isSent(to: url, now: now) }
        // RFC 6265 §5.4: longer paths come first, then earlier cookies.
        let sorted = found.enumerated().sorted { left, right in
            (right.element.path.utf8.count, left.offset) < (left.element.path.utf8.count, right.offset)
        }
        var field: [UInt8] = []
        for (_, cookie) in sorted {
            let pair = cookie.name + [UInt8(ascii: "=")] + cookie.value
            guard field.count + pair.count + 2 <= CredentialLimits.cookieField else { continue }
            if !field.isEmpty { field += "; ".utf8 }
            field += pair
        }
        if !field.isEmpty, !own.isEmpty { field += "; ".utf8 }
        field += own
        return field.isEmpty ? nil : field
    }
}
