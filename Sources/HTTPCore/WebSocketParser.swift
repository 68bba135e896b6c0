/// Reads what a client sends over a WebSocket, in whatever pieces it comes: RFC 6455 §5.
///
/// It puts the fragments of a message together, and gives control frames as they come, between fragments too. Of a payload there is one
/// copy, which is made as it comes, without its mask.
public struct WebSocketParser: Sendable {
    /// What has come.
    public enum Event: Sendable, Equatable {
        /// A message is whole.
        case message(WebSocketMessage)
        /// To be answered by a pong of the same payload, 0–125 bytes.
        case ping([UInt8])
        /// An answer to a ping, or a sign of life that nobody has asked for.
        case pong([UInt8])
        /// The last frame that counts. Nil: it has no code.
        case close(WebSocketCloseCode?)
    }

    private enum Stage: Sendable {
        case first
        case second
        /// So many bytes of the length are missing; it is no less than `least`.
        case length(missing: Int, least: UInt64)
        case mask(missing: Int)
        case payload
    }

    private let messageLimit: Int
    private var stage = Stage.first
    private var opcode = WebSocketOpcode.continuation
    private var isFinal = false
    /// What is left of the payload, in bytes; or the length as far as it is known.
    private var remaining: UInt64 = 0
    /// The mask: its next byte is the lowest.
    private var mask: UInt32 = 0
    /// The message whose fragments come; nil between messages.
    private var kind: WebSocketMessage.Kind?
    private var message: [UInt8] = []
    private var text = UTF8Check()
    private var control: [UInt8] = []

    /// A parser at the first byte after the handshake. Messages may have up to `messageLimit` bytes, and so their frames.
    public init(messageLimit: Int) {
        self.messageLimit = messageLimit
    }

    /// What is held of a message that isn't whole, in bytes of memory.
    public var heldBytes: Int { message.capacity }

    /// Whether a message has begun that isn't whole.
    public var isInMessage: Bool { kind != nil }

    /// Reads on until something has come, or to the end of the bytes. Returns how many bytes are done with, and what has come; nil if
    /// all bytes are done with and more are needed. After an error nothing more can be read.
    public mutating func parse(_ bytes: Span<UInt8>) throws(WebSocketError) -> (consumed: Int, event: Event?) {
        var position = 0
        while position < bytes.count {
            if case .payload = stage {
                let count = Int(min(remaining, UInt64(bytes.count - position)))
                try take(bytes.extracting(position..<position + count))
                position += count
            } else {
                try takeHeader(bytes[position])
                position += 1
            }
            if case .payload = stage, remaining == 0, let event = try endFrame() { return (position, event) }
        }
        return (position, nil)
    }

    // MARK: - A frame's header (RFC 6455 §5.2)

    private mutating func takeHeader(_ byte: UInt8) throws(WebSocketError) {
        switch stage {
        case .first: try takeFirst(byte)
        case .second: try takeSecond(byte)
        case .length(let missing, let least):
            remaining = remaining << 8 | UInt64(byte)
            if missing > 1 {
                stage = .length(missing: missing - 1, least: least)
            } else {
                guard remaining >> 63 == 0 else { throw .malformedFrame("the length's highest bit is set") }
                guard remaining >= least else { throw .malformedFrame("the length takes more bytes than it needs") }
                try beginPayload()
            }
        case .mask(let missing):
            mask = mask >> 8 | UInt32(byte) << 24
            stage = missing > 1 ? .mask(missing: missing - 1) : .payload
        case .payload: break
        }
    }

    private mutating func takeFirst(_ byte: UInt8) throws(WebSocketError) {
        guard byte & 0x70 == 0 else { throw .malformedFrame("a reserved bit is set, and no extension was agreed on") }
        guard let opcode = WebSocketOpcode(rawValue: byte & 0x0F) else {
            throw .malformedFrame("opcode \(byte & 0x0F) is reserved")
        }
        self.opcode = opcode
        isFinal = byte & 0x80 != 0
        switch opcode {
        case .close, .ping, .pong:
            guard isFinal else { throw .malformedFrame("a control frame is fragmented") }
        case .continuation:
            guard kind != nil else { throw .malformedFrame("there is no message to continue") }
        case .text, .binary:
            guard kind == nil else { throw .malformedFrame("a message begins before the last one's end") }
        }
        stage = .second
    }

    private mutating func takeSecond(_ byte: UInt8) throws(WebSocketError) {
        // RFC 6455 §5.1: a server must not accept frames that aren't masked.
        guard byte & 0x80 != 0 else { throw .malformedFrame("it is not masked") }
        let length = byte & 0x7F
        if length > 125, opcode.isControl { throw .malformedFrame("a control frame has more than 125 bytes") }
        remaining = 0
        switch length {
        case 126: stage = .length(missing: 2, least: 126)
        case 127: stage = .length(missing: 8, least: 0x1_0000)
        default:
            remaining = UInt64(length)
            try beginPayload()
        }
    }

    /// The length is known: a message that would be too long is refused before any of it has come.
    private mutating func beginPayload() throws(WebSocketError) {
        if !opcode.isControl {
            guard remaining <= UInt64(max(0, messageLimit - message.count)) else { throw .messageTooBig(limit: messageLimit) }
            switch opcode {
            case .text:
                kind = .text
                text = UTF8Check()
            case .binary: kind = .binary
            case .continuation, .close, .ping, .pong: break
            }
        }
        stage = .mask(missing: 4)
    }

    // MARK: - Payloads

    private mutating func take(_ bytes: Span<UInt8>) throws(WebSocketError) {
        if opcode.isControl {
            control.append(bytes, unmaskedBy: mask)
        } else {
            let start = message.count
            message.append(bytes, unmaskedBy: mask)
            if kind == .text {
                var check = text
                guard check.accept(message.span.extracting(start...)) else { throw .invalidText }
                text = check
            }
        }
        remaining -= UInt64(bytes.count)
        let bits = UInt32(bytes.count & 3) * 8
        if bits > 0 { mask = mask >> bits | mask << (32 - bits) }
    }

    /// All of a frame is there.
    private mutating func endFrame() throws(WebSocketError) -> Event? {
        stage = .first
        switch opcode {
        case .ping: return .ping(takeControl())
        case .pong: return .pong(takeControl())
        case .close: return .close(try Self.code(ofClose: takeControl()))
        case .continuation, .text, .binary:
            guard isFinal, let kind else { return nil }
            guard kind == .binary || text.isComplete else { throw .invalidText }
            self.kind = nil
            var bytes: [UInt8] = []
            swap(&bytes, &message)
            return .message(WebSocketMessage(kind, bytes))
        }
    }

    private mutating func takeControl() -> [UInt8] {
        var bytes: [UInt8] = []
        swap(&bytes, &control)
        return bytes
    }

    /// RFC 6455 §5.5.1 and §7.4.
    private static func code(ofClose payload: [UInt8]) throws(WebSocketError) -> WebSocketCloseCode? {
        guard !payload.isEmpty else { return nil }
        guard payload.count >= 2 else { throw .malformedFrame("a close frame has half a code") }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isSendable else { throw .malformedFrame("\(code.rawValue) is no code to close with") }
        var reason = UTF8Check()
        guard reason.accept(payload.span.extracting(2...)), reason.isComplete else { throw .invalidText }
        return code
    }
}

/// What a frame is: RFC 6455 §5.2.
enum WebSocketOpcode: UInt8, Sendable {
    case continuation = 0
    case text = 1
    case binary = 2
    case close = 8
    case ping = 9
    case pong = 10

    var isControl: Bool { rawValue & 8 != 0 }
}

extension [UInt8] {
    /// Appends bytes without their mask, whose lowest byte is for the first: RFC 6455 §5.3.
    fileprivate mutating func append(_ bytes: Span<UInt8>, unmaskedBy mask: UInt32) {
        // Written out for so many bytes that the compiler takes many at once: five times as fast as byte by byte.
        var repeated = InlineArray<128, UInt8>(repeating: 0)
        for place in 0..<Swift.min(bytes.count, 128) {
            repeated[place] = UInt8(truncatingIfNeeded: mask &>> UInt32(8 * (place & 3)))
        }
        let block = repeated.span
        append(addingCapacity: bytes.count) { output in
            var index = 0
            while index < bytes.count {
                let piece = bytes.extracting(index..<Swift.min(index + block.count, bytes.count))
                for place in piece.indices { output.append(piece[place] ^ block[place]) }
                index += piece.count
            }
        }
    }
}
