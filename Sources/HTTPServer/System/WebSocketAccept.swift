internal import HTTPCore
internal import System

extension WebSocketHandshake {
    /// The value of `Sec-WebSocket-Accept` for a client's key, which proves that the server has understood the
    /// handshake: RFC 6455 §4.2.2. SHA-1 has no security purpose here.
    static func accept(for key: String) -> String {
        let bytes = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = MessageDigest(.sha1)
        unsafe digest.update(bytes.span.bytes)
        return Base64.encode(digest.digest())
    }
}
