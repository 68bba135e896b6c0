internal import CSystem

/// An incremental SHA-256 (FIPS 180-4).
public struct SHA256: Sendable {
    private var state = pawl_sha256()

    /// The number of bytes added so far.
    public var length: Int64 { Int64(truncatingIfNeeded: state.length) }

    /// Creates a digest of zero bytes.
    public init() {
        unsafe pawl_sha256_init(&state)
    }

    /// Adds the bytes that follow.
    public mutating func update(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe pawl_sha256_update(&state, buffer.baseAddress, buffer.count)
        }
    }

    /// Adds the bytes that follow to two digests, for little more than the cost of one.
    public static func update(_ first: inout SHA256, _ second: inout SHA256, with bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe pawl_sha256_update_both(&first.state, &second.state, buffer.baseAddress, buffer.count)
        }
    }

    /// Adds the bytes that follow.
    public mutating func update(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe pawl_sha256_update(&state, buffer.baseAddress, buffer.count)
        }
    }

    /// The digest of the bytes.
    public static func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = SHA256()
        digest.update(bytes)
        return digest.digest()
    }

    /// The digest of all bytes so far. More bytes can be added afterwards.
    public func digest() -> [UInt8] {
        var copy = state
        var out = [UInt8](repeating: 0, count: 32)
        unsafe out.withUnsafeMutableBufferPointer { buffer in
            unsafe pawl_sha256_final(&copy, buffer.baseAddress)
        }
        return out
    }
}
