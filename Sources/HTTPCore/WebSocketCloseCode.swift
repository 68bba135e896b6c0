/// The reason for closing a WebSocket: RFC 6455 §7.4, and IANA's WebSocket Close Code Number Registry.
public struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    /// The number in a close frame. Some numbers are illegal there: ``isSendable``.
    public let rawValue: UInt16

    /// Creates a code from any number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 1000: the WebSocket has served its purpose.
    public static var normal: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1000) }
    /// 1001: the server shuts down, or the user leaves the page.
    public static var goingAway: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1001) }
    /// 1002: a frame violates RFC 6455.
    public static var protocolError: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1002) }
    /// 1007: a text that is not UTF-8.
    public static var invalidData: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1007) }
    /// 1008: the peer violates a policy.
    public static var policyViolation: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1008) }
    /// 1009: the message is too long.
    public static var messageTooBig: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1009) }
    /// 1013: the server is overloaded; a later attempt may succeed.
    public static var tryAgainLater: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1013) }

    /// Whether a close frame may have the code. It must be registered and not reserved for local use (1005, 1006,
    /// 1015), or belong to a library or an application (3000–4999).
    public var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
