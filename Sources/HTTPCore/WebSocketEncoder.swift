/// Encodes a server's frames, which are neither masked nor fragmented: RFC 6455 §5.
public enum WebSocketEncoder {
    /// The maximum payload of a control frame, in bytes: RFC 6455 §5.5.
    public static let longestControl = 125

    /// Appends a whole message as one frame.
    public static func encode(_ kind: WebSocketMessage.Kind, _ payload: Span<UInt8>, into bytes: inout [UInt8]) {
        encode(kind == .text ? WebSocketOpcode.text : .binary, payload, into: &bytes)
    }

    /// Appends a ping without a payload.
    public static func encodePing(into bytes: inout [UInt8]) {
        encode(.ping, nothing.span, into: &bytes)
    }

    /// Appends the pong for a ping with this payload, up to 125 bytes.
    public static func encodePong(_ payload: Span<UInt8>, into bytes: inout [UInt8]) {
        encode(.pong, payload.extracting(first: longestControl), into: &bytes)
    }

    /// Appends a close frame. A code that is not sendable is omitted, together with the reason. A long reason is
    /// truncated between characters.
    public static func encodeClose(_ code: WebSocketCloseCode?, reason: String = "", into bytes: inout [UInt8]) {
        guard let code, code.isSendable else { return encode(.close, nothing.span, into: &bytes) }
        var payload = [UInt8(code.rawValue >> 8), UInt8(truncatingIfNeeded: code.rawValue)]
        for character in reason {
            guard payload.count + character.utf8.count <= longestControl else { break }
            payload.append(contentsOf: character.utf8)
        }
        encode(.close, payload.span, into: &bytes)
    }

    private static let nothing: [UInt8] = []

    private static func encode(_ opcode: WebSocketOpcode, _ payload: Span<UInt8>, into bytes: inout [UInt8]) {
        bytes.append(0x80 | opcode.rawValue)
        // RFC 6455 §5.2: the length must have the fewest bytes.
        switch payload.count {
        case 0...125: bytes.append(UInt8(payload.count))
        case 126...0xFFFF:
            bytes.append(126)
            bytes.append(UInt8(payload.count >> 8))
            bytes.append(UInt8(payload.count & 0xFF))
        default:
            bytes.append(127)
            for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * index))) }
        }
        bytes.append(payload)
    }
}
