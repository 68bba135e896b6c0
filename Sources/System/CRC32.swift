internal import CSystem

/// The CRC-32 of PNG, ZIP and Ethernet (ISO 3309), which detects accidental damage.
public enum CRC32 {
    /// The checksum of the bytes that `previous` covers, followed by `bytes`.
    public static func checksum(_ bytes: RawSpan, after previous: UInt32 = 0) -> UInt32 {
        unsafe bytes.withUnsafeBytes { unsafe pawl_crc32(previous, $0.baseAddress, $0.count) }
    }
}
