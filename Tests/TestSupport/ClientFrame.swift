/// A client's WebSocket frame (RFC 6455 §5.2), valid or invalid, as bytes.
public struct ClientFrame: Sendable {
    /// 0–15.
    public var opcode: UInt8
    /// The payload before masking.
    public var payload: [UInt8]
    /// Whether it is the last frame of its message.
    public var isFinal: Bool
    /// The three reserved bits, 0–7.
    public var reserved: UInt8 = 0
    /// The mask; nil for an unmasked frame.
    public var mask: [UInt8]? = [0x37, 0xFA, 0x21, 0x3D]
    /// The number of bytes of the length besides the first; nil for the minimum.
    public var lengthSize: Int?

    /// A frame of any opcode.
    public init(_ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true) {
        self.opcode = opcode
        self.payload = payload
        self.isFinal = isFinal
    }

    /// A text, or a fragment of one.
    public static func text(_ text: String, isFinal: Bool = true) -> ClientFrame {
        ClientFrame(1, Array(text.utf8), isFinal: isFinal)
    }

    /// A close frame with this code and reason.
    public static func close(_ code: UInt16, _ reason: String = "") -> ClientFrame {
        ClientFrame(8, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }

    /// The bytes to send.
    public var bytes: [UInt8] {
        let size = lengthSize ?? (payload.count < 126 ? 0 : payload.count < 65536 ? 2 : 8)
        let short = size == 0 ? UInt8(payload.count) : size == 2 ? 126 : 127
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode, (mask == nil ? 0 : 0x80) | short]
        for place in 0..<size { bytes.append(UInt8(truncatingIfNeeded: payload.count >> (8 * (size - 1 - place)))) }
        guard let mask else { return bytes + payload }
        bytes += mask
        bytes.reserveCapacity(bytes.count + payload.count)
        for (index, byte) in payload.enumerated() { bytes.append(byte ^ mask[index & 3]) }
        return bytes
    }
}
