internal import CSystem

/// A 64-bit value of bytes and their offsets in a file. It recognises bytes that were replaced by accident, such as by an
/// earlier state of the file; it is no defence against intent.
///
/// The fingerprint of several pieces is the sum of theirs, in any order, wherever the pieces begin and end.
public struct Fingerprint: Sendable, Hashable {
    /// The value, for storage.
    public var value: UInt64

    /// Creates the fingerprint of no bytes, or a stored one.
    public init(_ value: UInt64 = 0) {
        self.value = value
    }

    /// Creates the fingerprint of bytes at an offset, 0 or more.
    public init(of bytes: RawSpan, at offset: Int64) {
        value = unsafe bytes.withUnsafeBytes { buffer in
            unsafe pawl_fingerprint(buffer.baseAddress, buffer.count, UInt64(max(0, offset)))
        }
    }

    /// Returns the fingerprint of all bytes of two fingerprints, which have no byte in common.
    public static func + (left: Fingerprint, right: Fingerprint) -> Fingerprint {
        Fingerprint(left.value &+ right.value)
    }

    /// Adds the bytes of another fingerprint, which has no byte in common with this one.
    public static func += (left: inout Fingerprint, right: Fingerprint) {
        left = left + right
    }
}
