/// The reason why a client's WebSocket data cannot be read any further.
public enum WebSocketError: Error, Sendable, Hashable {
    /// The framing is malformed; the text gives the fault.
    case malformedFrame(String)
    /// A text, or the reason of a close frame, is not UTF-8.
    case invalidText
    /// The message exceeds the limit, in bytes.
    case messageTooBig(limit: Int)

    /// The code of the close frame for the error: RFC 6455 §7.4.1.
    public var code: WebSocketCloseCode {
        switch self {
        case .malformedFrame: .protocolError
        case .invalidText: .invalidData
        case .messageTooBig: .messageTooBig
        }
    }

    /// The fault and the accepted form, as a sentence that fits into a close frame.
    public var detail: String {
        switch self {
        case .malformedFrame(let reason): "Malformed frame: \(reason)."
        case .invalidText: "The text is not valid UTF-8."
        case .messageTooBig(let limit): "The message is longer than \(limit) bytes."
        }
    }
}

extension WebSocketError: CustomStringConvertible {
    /// The same as ``detail``.
    public var description: String { detail }
}
