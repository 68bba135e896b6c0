internal import System

/// The digests that content is sent with.
struct ContentDigests: Sendable, Equatable {
    let sha256: [UInt8]
    /// For a service that does not compare the SHA-256; `nil` otherwise.
    var md5: [UInt8]?

    /// The digests of bytes in memory.
    static func of(_ bytes: [UInt8]) -> ContentDigests {
        var md5 = MessageDigest(.md5)
        unsafe md5.update(bytes.span.bytes)
        return ContentDigests(sha256: SHA256.digest(of: bytes), md5: md5.digest())
    }
}

/// Computes the digests of a range of a file.
struct RangeHasher: Sendable {
    private var part = SHA256()
    /// The digest of the file up to the end of the range; `nil` if it is not needed.
    private(set) var whole: SHA256?
    private var md5: MessageDigest?

    /// - Parameters:
    ///   - whole: The digest of the file up to the start of the range; `nil` if it is not needed.
    ///   - computesMD5: Whether the MD5 is computed.
    init(after whole: SHA256?, computesMD5: Bool) {
        self.whole = whole
        md5 = computesMD5 ? MessageDigest(.md5) : nil
    }

    var digests: ContentDigests { ContentDigests(sha256: part.digest(), md5: md5?.digest()) }

    /// Adds a range of a file. Computes outside Swift's thread pool.
    mutating func add(_ range: Range<Int64>, of file: FileDescriptor) async throws(ObjectStorageError) {
        var offset = range.lowerBound
        while offset < range.upperBound {
            // Pieces let other work run in between, and let a cancelled task end.
            let piece = offset..<min(offset + Self.longestPiece, range.upperBound)
            if Task.isCancelled { throw .cancelled }
            let before = self
            self = try await BlockingExecutor.hashing.run { before.adding(piece, of: file) }.get()
            offset = piece.upperBound
        }
    }

    /// The number of bytes that are hashed at once.
    private static let longestPiece: Int64 = 64 << 20

    private func adding(_ range: Range<Int64>, of file: FileDescriptor) -> Result<RangeHasher, ObjectStorageError> {
        var result = self
        var buffer = [UInt8](repeating: 0, count: Int(min(256 << 10, range.upperBound - range.lowerBound)))
        var offset = range.lowerBound
        while offset < range.upperBound {
            do throws(SystemError) {
                let wanted = Int(min(Int64(buffer.count), range.upperBound - offset))
                let count = try file.read(into: &buffer, count: wanted, at: offset)
                guard count == wanted else { return .failure(.unreadableFile("it ends before byte \(range.upperBound)")) }
                result.add(unsafe buffer.span.bytes.extracting(0..<count))
                offset += Int64(count)
            } catch {
                return .failure(.unreadableFile(error.description))
            }
        }
        return .success(result)
    }

    private mutating func add(_ bytes: RawSpan) {
        md5?.update(bytes)
        guard var file = whole else { return part.update(bytes) }
        SHA256.update(&part, &file, with: bytes)
        whole = file
    }
}
