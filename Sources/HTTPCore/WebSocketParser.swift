/// Parses a client's WebSocket frames incrementally: RFC 6455 §5.
///
/// It joins the fragments of a message. It reports control frames when they arrive, even between fragments. A payload
/// is copied and unmasked once, on arrival.
public struct WebSocketParser: Sendable {
    /// A message or a control frame.
    public enum Event: Sendable, Equatable {
        /// A complete message.
        case message(WebSocketMessage)
        /// A ping. The reply is a pong with the same payload, 0–125 bytes.
        case ping([UInt8])
        /// A reply to a ping, or an unsolicited sign of life.
        case pong([UInt8])
        /// The close frame, after which nothing counts. Nil: it has no code.
        case close(WebSocketCloseCode?)
    }

    private enum Stage: Sendable {
        case first
        case second
        /// Bytes of the extended length are missing. The length must be at least `least`.
        case length(missing: Int, least: UInt64)
        case mask(missing: Int)
        case payload
    }

    private let messageLimit: Int
    private var stage = Stage.first
    private var opcode = WebSocketOpcode.continuation
    private var isFinal = false
    /// The remaining bytes of the payload; during the length, its value so far.
    private var remaining: UInt64 = 0
    /// The mask, rotated so that its lowest byte is for the next byte.
    private var mask: UInt32 = 0
    /// The kind of the incomplete message; nil between messages.
    private var kind: WebSocketMessage.Kind?
    private var message: [UInt8] = []
    private var text = UTF8Check()
    private var control: [UInt8] = []

    /// Creates a parser for the bytes after the handshake. `messageLimit` is the maximum of a message, and so of its
    /// frames, in bytes.
    public init(messageLimit: Int) {
        self.messageLimit = messageLimit
    }

    /// The memory of the incomplete message, in bytes.
    public var heldBytes: Int { message.capacity }

    /// Whether a message is incomplete.
    public var isInMessage: Bool { kind != nil }

    /// Parses until an event or the end of the bytes. Returns the number of consumed bytes, and the event. A nil event
    /// means that all bytes are consumed and more are needed. The parser cannot be used after an error.
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
        // RFC 6455 §5.1: a server must refuse unmasked frames.
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

    /// Begins the payload, once its length is known. A message that would exceed the limit is refused before its bytes
    /// arrive.
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

    /// Ends a frame whose payload is complete.
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

    /// Parses the payload of a close frame: RFC 6455 §5.5.1 and §7.4.
    private static func code(ofClose payload: [UInt8]) throws(WebSocketError) -> WebSocketCloseCode? {
        guard !payload.isEmpty else { return nil }
        guard payload.count >= 2 else { throw .malformedFrame("a close frame has half a code") }
        let code = WebSocketCloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
        guard code.isSendable else { throw .malformedFrame("\(code.rawValue) is not a close code") }
        var reason = UTF8Check()
        guard reason.accept(payload.span.extracting(2...)), reason.isComplete else { throw .invalidText }
        return code
    }
}

/// The opcode of a frame: RFC 6455 §5.2.
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
    /// Appends bytes and unmasks them. The mask's lowest byte is for the first one: RFC 6455 §5.3.
    fileprivate mutating func append(_ bytes: Span<UInt8>, unmaskedBy mask: UInt32) {
        // The mask is repeated to 128 bytes so that the compiler vectorises the loop: five times as fast as byte by
        // byte.
        var repeated = InlineArray<128, UInt8>(repeating: 0)
        for index in 0..<Swift.min(bytes.count, 128) {
            repeated[index] = UInt8(truncatingIfNeeded: mask &>> UInt32(8 * (index & 3)))
        }
        let block = repeated.span
        append(addingCapacity: bytes.count) { output in
            var index = 0
            while index < bytes.count {
                let piece = bytes.extracting(index..<Swift.min(index + block.count, bytes.count))
                for index in piece.indices { output.append(piece[index] ^ block[index]) }
                index += piece.count
            }
        }
    }
}
