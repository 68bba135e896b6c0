/// User names and passwords in URLs (RFC 3986 §3.2.1). They are sent as a field and never displayed.
extension HTTPURL {
    /// The URL without its user information.
    public var withoutUserInfo: HTTPURL {
        // `description` omits the user information, and is itself a URL.
        hasUserInfo ? HTTPURL(description) ?? self : self
    }

    /// The value of an `Authorization` field with the user information (the Basic scheme: RFC 7617); `nil` if there is
    /// none.
    public var basicAuthorization: String? {
        guard let userInfo else { return nil }
        var credentials = PercentEncoding.decodeBytes(userInfo.utf8) ?? Array(userInfo.utf8)
        if !userInfo.utf8.contains(UInt8(ascii: ":")) { credentials.append(UInt8(ascii: ":")) }
        return "Basic " + Base64.encode(credentials)
    }
}
