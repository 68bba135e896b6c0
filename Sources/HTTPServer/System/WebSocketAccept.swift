internal import CSystem
internal import HTTPCore

extension WebSocketHandshake {
    /// What a server answers to a client's key, so that it is seen to have understood: RFC 6455 §4.2.2. SHA-1 protects nothing here.
    static func accept(for key: String) -> String {
        let bytes = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var state = pawl_digest()
        unsafe pawl_digest_init(&state, PAWL_SHA1)
        unsafe pawl_digest_update(&state, bytes, bytes.count)
        var digest = [UInt8](repeating: 0, count: 64)
        let count = unsafe pawl_digest_final(&state, &digest)
        return Base64.encode(Array(digest.prefix(count)))
    }
}
