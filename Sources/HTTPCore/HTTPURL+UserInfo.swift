/// User names and passwords in URLs (RFC 3986 §3.2.1). They are sent as a field, and are never shown.
extension HTTPURL {
    /// The URL without them.
    public var withoutUserInfo: HTTPURL {
        // `description` leaves user information out, and is a URL.
        hasUserInfo ? HTTPURL(description) ?? self : self
    }

    /// The value of an `Authorization` field with them (the Basic scheme: RFC 7617); `nil` without a user name.
    public var basicAuthorization: String? {
        guard let userInfo else { return nil }
        var credentials = PercentEncoding.decodeBytes(userInfo.utf8) ?? Array(userInfo.utf8)
        if !userInfo.utf8.contains(UInt8(ascii: ":")) { credentials.append(UInt8(ascii: ":")) }
        return "Basic " + Base64.encode(credentials)
    }
}
