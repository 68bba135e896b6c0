internal import System

/// What the holder of a token may do.
public enum TokenScope: String, Sendable, CaseIterable {
    /// Everything.
    case full
    /// To see, search, stream and fetch, but not to change anything, nor to see what may be secret in a URL.
    case read
    /// To read `/metrics`, and nothing else.
    case metrics
}

/// A token that lets in, by its SHA-256: the token itself is not kept.
public struct NamedToken: Sendable, Hashable {
    /// What the log calls it.
    public let name: String
    /// What it is good for.
    public let scope: TokenScope
    /// What a token has to have.
    public let digest: TokenDigest

    /// A token of that digest.
    public init(name: String, scope: TokenScope, digest: TokenDigest) {
        self.name = name
        self.scope = scope
        self.digest = digest
    }
}

/// The SHA-256 of a token.
public struct TokenDigest: Sendable, Hashable {
    private let words: SIMD4<UInt64>

    /// That of a token's bytes.
    public init(of token: some Sequence<UInt8>) {
        self.init(SHA256.digest(of: Array(token)))
    }

    /// The digest that 64 hexadecimal digits stand for; `nil` for anything else.
    public init?(hexadecimal digits: some StringProtocol) {
        guard digits.utf8.count == 64, let bytes = Hexadecimal.decode(Array(digits.utf8)) else { return nil }
        self.init(bytes)
    }

    private init(_ bytes: [UInt8]) {
        var words = SIMD4<UInt64>()
        for (index, byte) in bytes.prefix(32).enumerated() { words[index >> 3] = words[index >> 3] << 8 | UInt64(byte) }
        self.words = words
    }

    /// The digest itself, 32 bytes: for signing, and nothing that is shown.
    public var bytes: [UInt8] {
        (0..<32).map { UInt8(truncatingIfNeeded: words[$0 >> 3] >> UInt64(56 - 8 * ($0 & 7))) }
    }

    /// Whether both are the same. The time taken does not depend on how much of them is.
    public func equals(_ other: TokenDigest) -> Bool {
        let difference = words ^ other.words
        return difference[0] | difference[1] | difference[2] | difference[3] == 0
    }
}

extension TokenDigest: CustomStringConvertible, CustomReflectable {
    /// Never the digest: a short token could be found by it.
    public var description: String { "(hidden)" }
    /// Never the digest.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
