/// A bearer token (RFC 6750). It never describes itself, so that it cannot end up in a log.
public struct AccessToken: Sendable {
    /// What a token must have where other machines may guess it: 16 characters, since a right one is never kept waiting by wrong ones.
    public static let shortestBeyondLoopback = 16

    private let bytes: [UInt8]

    /// A token of 1–4096 visible ASCII characters; `nil` for anything else, which no client could send.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard (1...4096).contains(bytes.count), bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        self.bytes = bytes
    }

    /// The value of the `Authorization` field that carries this token: for requests of our own, and nothing else.
    public var authorization: String { "Bearer " + String(decoding: bytes, as: UTF8.self) }

    /// What it is recognised by.
    public var digest: TokenDigest { TokenDigest(of: bytes) }

    /// How many characters it has.
    public var count: Int { bytes.count }

    /// What an `Authorization` field's value carries as a bearer token; `nil` if it is of another scheme.
    public static func carried(by authorization: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        // RFC 9110 §11.1: the scheme's name is compared without case.
        let scheme = "bearer ".utf8
        guard authorization.count > scheme.count else { return nil }
        for (byte, expected) in zip(authorization, scheme) where byte | 0x20 != expected { return nil }
        return authorization.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }
    }
}

extension AccessToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Never the token.
    public var description: String { "(hidden)" }
    /// Never the token.
    public var debugDescription: String { description }
    /// Never the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
