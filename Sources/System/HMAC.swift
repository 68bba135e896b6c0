/// Keyed digests (RFC 2104).
public enum HMAC {
    /// The block length of SHA-256, in bytes.
    private static let blockLength = 64

    /// The HMAC-SHA256 of a message, 32 bytes. It cannot be computed without the key.
    public static func sha256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        // RFC 2104 §3: longer keys are digested first, shorter ones padded with zeros.
        var block = key.count > blockLength ? SHA256.digest(of: key) : key
        block += [UInt8](repeating: 0, count: blockLength - block.count)
        let inner = SHA256.digest(of: block.map { $0 ^ 0x36 } + message)
        return SHA256.digest(of: block.map { $0 ^ 0x5C } + inner)
    }
}
