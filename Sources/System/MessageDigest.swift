internal import CSystem

/// An incremental digest by which published files are checked, besides SHA-256: SHA-512, SHA-1 (FIPS 180-4) or MD5 (RFC
/// 1321).
public struct MessageDigest: Sendable {
    /// The algorithm of a digest.
    public enum Algorithm: Sendable { case sha512, sha1, md5 }

    private var state = pawl_digest()

    /// Creates a digest of zero bytes.
    public init(_ algorithm: Algorithm) {
        let kind =
            switch algorithm {
            case .sha512: PAWL_SHA512
            case .sha1: PAWL_SHA1
            case .md5: PAWL_MD5
            }
        unsafe pawl_digest_init(&state, kind)
    }

    /// Adds the bytes that follow.
    public mutating func update(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe pawl_digest_update(&state, buffer.baseAddress, buffer.count)
        }
    }

    /// The digest of all bytes so far. More bytes can be added afterwards.
    public func digest() -> [UInt8] {
        var copy = state
        var out = [UInt8](repeating: 0, count: 64)
        let count = unsafe out.withUnsafeMutableBufferPointer { buffer in
            unsafe pawl_digest_final(&copy, buffer.baseAddress)
        }
        return Array(out.prefix(count))
    }
}
