import System

extension SHA256 {
    /// The hash of all bytes, in hexadecimal.
    static func hexadecimal(of bytes: [UInt8]) -> String {
        var digest = SHA256()
        unsafe digest.update(bytes.span.bytes)
        return Hexadecimal.encode(digest.digest())
    }
}
