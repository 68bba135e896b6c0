internal import CSystem

/// An incremental digest that a file is published with, other than SHA-256: SHA-512, SHA-1 (FIPS 180-4) or MD5 (RFC 1321).
struct MessageDigest: Sendable {
    private var state = pawl_digest()

    /// Nothing for SHA-256, which ``SHA256`` computes faster.
    init?(_ algorithm: Checksum.Algorithm) {
        let kind: pawl_digest_kind
        switch algorithm {
        case .sha512: kind = PAWL_SHA512
        case .sha1: kind = PAWL_SHA1
        case .md5: kind = PAWL_MD5
        case .sha256: return nil
        }
        unsafe pawl_digest_init(&state, kind)
    }

    mutating func update(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe pawl_digest_update(&state, buffer.baseAddress, buffer.count)
        }
    }

    /// The digest of everything fed so far; more may be fed afterwards.
    func digest() -> [UInt8] {
        var copy = state
        var out = [UInt8](repeating: 0, count: 64)
        let count = unsafe out.withUnsafeMutableBufferPointer { buffer in
            unsafe pawl_digest_final(&copy, buffer.baseAddress)
        }
        return Array(out.prefix(count))
    }
}
