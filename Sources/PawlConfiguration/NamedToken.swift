internal import System

/// The requests that a token allows.
public enum TokenScope: String, Sendable, CaseIterable {
    /// All requests.
    case full
    /// Requests that only list, search, stream and fetch, with possible secrets in URLs left out.
    case read
    /// Requests for `/metrics` only.
    case metrics
}

/// An accepted token with its name and scope. Only the SHA-256 of the token is kept.
public struct NamedToken: Sendable, Hashable {
    /// The name of the token in the log.
    public let name: String
    /// The scope of the token.
    public let scope: TokenScope
    /// The digest of the token.
    public let digest: TokenDigest

    /// Creates a named token from its digest.
    public init(name: String, scope: TokenScope, digest: TokenDigest) {
        self.name = name
        self.scope = scope
        self.digest = digest
    }
}

/// The SHA-256 of a token.
public struct TokenDigest: Sendable, Hashable {
    private let words: SIMD4<UInt64>

    /// The digest of a token's bytes.
    public init(of token: some Sequence<UInt8>) {
        self.init(SHA256.digest(of: Array(token)))
    }

    /// Parses 64 hexadecimal digits; `nil` for anything else.
    public init?(hexadecimal digits: some StringProtocol) {
        guard digits.utf8.count == 64, let bytes = Hexadecimal.decode(Array(digits.utf8)) else { return nil }
        self.init(bytes)
    }

    private init(_ bytes: [UInt8]) {
        var words = SIMD4<UInt64>()
        for (index, byte) in bytes.prefix(32).enumerated() { words[index >> 3] = words[index >> 3] << 8 | UInt64(byte) }
        self.words = words
    }

    /// The 32 bytes of the digest, for signatures only, never for display.
    public var bytes: [UInt8] {
        (0..<32).map { UInt8(truncatingIfNeeded: words[$0 >> 3] >> UInt64(56 - 8 * ($0 & 7))) }
    }

    /// The key for the notifications of aria2's clients, in hexadecimal digits. The token cannot be computed from it.
    public var notificationKey: String {
        Hexadecimal.encode(Array(HMAC.sha256(key: bytes, Array("aria2 notifications".utf8)).prefix(16)))
    }

    /// Whether the digests are equal. The time taken does not depend on the position of a difference.
    public func equals(_ other: TokenDigest) -> Bool {
        let difference = words ^ other.words
        return difference[0] | difference[1] | difference[2] | difference[3] == 0
    }
}

extension TokenDigest: CustomStringConvertible, CustomReflectable {
    /// A placeholder: a short token could be guessed from its digest.
    public var description: String { "(hidden)" }
    /// An empty mirror, which hides the digest.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
