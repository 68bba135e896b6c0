package import DownloadCore
internal import ObjectStorage
package import System

/// The digests of a file's first bytes: SHA-256, which every finished file is published with, and the algorithms of expected
/// checksums.
package struct FileDigest: Sendable {
    private var state = SHA256()
    /// The digests of parts for object storage; `nil` if they are not computed.
    private var divided: PartDigests?
    private var others: [Checksum.Algorithm: MessageDigest] = [:]
    /// The comparison of the bytes with their fingerprints; `nil` if none is known.
    private var comparison: FingerprintComparison?

    /// Creates the digest of no bytes.
    /// - Parameters:
    ///   - algorithms: The algorithms to compute in addition to SHA-256.
    ///   - known: The bytes that are compared with their fingerprints.
    ///   - isDivided: Whether the digests of parts for object storage are computed.
    package init(
        _ algorithms: some Sequence<Checksum.Algorithm> = [], comparing known: FingerprintedBytes = FingerprintedBytes(),
        isDivided: Bool = false
    ) {
        if !known.fingerprints.isEmpty { comparison = FingerprintComparison(known) }
        if isDivided { divided = PartDigests() }
        for algorithm in algorithms { others[algorithm] = MessageDigest(algorithm) }
    }

    /// The number of bytes that were hashed.
    package var length: Int64 { state.length }

    package var sha256: [UInt8] { state.digest() }

    /// The digests of the file's parts for object storage; `nil` if they were not computed.
    package var parts: [[UInt8]]? { divided?.digests }

    /// Whether the bytes contradict their fingerprints. This is found out once the last of these bytes was hashed.
    var isContradicted: Bool { comparison?.isContradicted(by: length) ?? false }

    package mutating func update(_ bytes: RawSpan) {
        let offset = length
        comparison?.update(bytes, at: offset)
        if divided == nil { state.update(bytes) } else { divided?.update(bytes, with: &state) }
        for algorithm in others.keys { others[algorithm]?.update(bytes) }
    }

    /// Returns the digest of an algorithm; `nil` if it was not computed.
    package func checksum(_ algorithm: Checksum.Algorithm) -> Checksum? {
        let bytes = algorithm == .sha256 ? state.digest() : others[algorithm]?.digest()
        return bytes.flatMap { Checksum(algorithm, bytes: $0) }
    }
}

extension MessageDigest {
    /// Creates a digest; `nil` for SHA-256, which ``SHA256`` computes faster.
    package init?(_ algorithm: Checksum.Algorithm) {
        switch algorithm {
        case .sha512: self.init(Algorithm.sha512)
        case .sha1: self.init(Algorithm.sha1)
        case .md5: self.init(Algorithm.md5)
        case .sha256: return nil
        }
    }
}
