/// Keyed digests (RFC 2104).
public enum HMAC {
    /// Bytes of SHA-256's block.
    private static let blockLength = 64

    /// HMAC-SHA256: 32 bytes that only who knows the key can make of the message.
    public static func sha256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        // RFC 2104 §3: longer keys are digested first, shorter ones padded with zeros.
        var block = key.count > blockLength ? SHA256.digest(of: key) : key
        block += [UInt8](repeating: 0, count: blockLength - block.count)
        let inner = SHA256.digest(of: block.map { $0 ^ 0x36 } + message)
        return SHA256.digest(of: block.map { $0 ^ 0x5C } + inner)
    }
}
