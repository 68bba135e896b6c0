/// A bearer token (RFC 6750). Its description hides it, so that it cannot appear in a log.
public struct AccessToken: Sendable {
    /// The minimum length of a token that other machines could guess, in characters. A right token is never delayed by
    /// wrong ones.
    public static let shortestBeyondLoopback = 16

    private let bytes: [UInt8]

    /// Creates a token of 1–4096 visible ASCII characters; `nil` for anything else, which no client could send.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard (1...4096).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.bytes = bytes
    }

    /// The value of the `Authorization` field with this token, for this program's own requests only.
    public var authorization: String { "Bearer " + String(decoding: bytes, as: UTF8.self) }

    /// The digest of the token.
    public var digest: TokenDigest { TokenDigest(of: bytes) }

    /// The number of characters.
    public var count: Int { bytes.count }

    /// The bearer token in the value of an `Authorization` field; `nil` if the scheme is another.
    public static func carried(by authorization: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        // The name of the scheme is case-insensitive (RFC 9110 §11.1).
        let scheme = "bearer ".utf8
        guard authorization.count > scheme.count else { return nil }
        for (byte, expected) in zip(authorization, scheme) where byte | 0x20 != expected { return nil }
        return authorization.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder for the token.
    public var description: String { "(hidden)" }
    /// A placeholder for the token.
    public var debugDescription: String { description }
    /// An empty mirror, which hides the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
