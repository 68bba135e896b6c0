/// The digests of a file's first bytes: SHA-256, which every finished file is shown with, and those that it has to match.
struct FileDigest: Sendable {
    private var sha256 = SHA256()
    private var others: [Checksum.Algorithm: MessageDigest] = [:]

    init(_ algorithms: some Sequence<Checksum.Algorithm> = []) {
        for algorithm in algorithms { others[algorithm] = MessageDigest(algorithm) }
    }

    /// Bytes fed so far.
    var length: Int64 { sha256.length }

    /// The SHA-256 in lower-case hexadecimal.
    var hexadecimal: String { sha256.hexadecimal() }

    mutating func update(_ bytes: RawSpan) {
        sha256.update(bytes)
        for algorithm in others.keys { others[algorithm]?.update(bytes) }
    }

    /// One of the digests; nil if it was not computed.
    func checksum(_ algorithm: Checksum.Algorithm) -> Checksum? {
        let bytes = algorithm == .sha256 ? sha256.digest() : others[algorithm]?.digest()
        return bytes.flatMap { Checksum(algorithm, bytes: $0) }
    }
}
