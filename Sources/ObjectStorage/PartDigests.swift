public import System

/// The SHA-256 digests of a file's parts, which each part is sent with. They are computed together with the digest of
/// the file while its bytes arrive, so that an upload need not hash them.
public struct PartDigests: Sendable {
    /// The bytes of each part except the last.
    private let partLength: Int64
    private let maximumParts: Int64
    /// The digests of the parts that have ended; `nil` if there are more parts than the maximum.
    private var ended: [[UInt8]]? = []
    private var last = SHA256()

    /// Creates the digests of no bytes.
    public init(limits: ObjectStorageLimits = .init()) {
        partLength = max(1, limits.partLength)
        maximumParts = limits.maximumParts
    }

    /// The digests of all parts in their order; `nil` if there are more than the maximum. Such a file is sent in longer
    /// parts.
    public var digests: [[UInt8]]? { ended.map { last.length == 0 ? $0 : $0 + [last.digest()] } }

    /// Adds the bytes that follow, also to the digest of the file.
    public mutating func update(_ bytes: RawSpan, with file: inout SHA256) {
        var offset = 0
        while offset < bytes.byteCount {
            let rest = bytes.extracting(droppingFirst: offset)
            guard let count = ended?.count, count < maximumParts else {
                ended = nil
                return file.update(rest)
            }
            let piece = rest.extracting(first: Int(min(Int64(rest.byteCount), partLength - last.length)))
            SHA256.update(&last, &file, with: piece)
            offset += piece.byteCount
            if last.length == partLength {
                ended?.append(last.digest())
                last = SHA256()
            }
        }
    }
}
