/// Why what a client sends over a WebSocket can't be read any further.
public enum WebSocketError: Error, Sendable, Hashable {
    /// The framing is broken; the text says how.
    case malformedFrame(String)
    /// A text, or a close frame's reason, is not UTF-8.
    case invalidText
    /// The message would be longer than the limit in bytes.
    case messageTooBig(limit: Int)

    /// The code of the close frame that says so: RFC 6455 §7.4.1.
    public var code: WebSocketCloseCode {
        switch self {
        case .malformedFrame: .protocolError
        case .invalidText: .invalidData
        case .messageTooBig: .messageTooBig
        }
    }

    /// What was wrong and what is accepted, as a sentence that fits into a close frame.
    public var detail: String {
        switch self {
        case .malformedFrame(let reason): "Malformed frame: \(reason)."
        case .invalidText: "The text is not valid UTF-8."
        case .messageTooBig(let limit): "The message is longer than \(limit) bytes."
        }
    }
}

extension WebSocketError: CustomStringConvertible {
    /// The same as `detail`.
    public var description: String { detail }
}
