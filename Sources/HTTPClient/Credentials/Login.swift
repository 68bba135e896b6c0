import HTTPCore

/// A user name and a password.
struct Login: Sendable, Equatable {
    var user: String
    var password: String
}

extension Login {
    /// Reads the value of an Authorization field of the Basic scheme (RFC 7617); nil for other values.
    init?(authorization: String) {
        let words = authorization.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "basic", let bytes = Base64.decode(words[1].utf8),
            let text = String(validating: bytes, as: UTF8.self), let colon = text.firstIndex(of: ":")
        else { return nil }
        user = String(text[..<colon])
        password = String(text[text.index(after: colon)...])
    }

    /// The value of an Authorization field of the Basic scheme.
    var authorization: String { "Basic " + Base64.encode(Array("\(user):\(password)".utf8)) }
}
