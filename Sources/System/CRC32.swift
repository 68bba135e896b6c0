internal import CSystem

/// The cyclic redundancy check of PNG, ZIP and Ethernet (ISO 3309), which finds damage by chance.
public enum CRC32 {
    /// The check of some bytes, or of what was checked before and these behind it.
    public static func checksum(_ bytes: RawSpan, after previous: UInt32 = 0) -> UInt32 {
        unsafe bytes.withUnsafeBytes { unsafe pawl_crc32(previous, $0.baseAddress, $0.count) }
    }
}
