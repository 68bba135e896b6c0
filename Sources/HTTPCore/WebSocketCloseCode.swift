/// Why a WebSocket is closed: RFC 6455 §7.4, and IANA's WebSocket Close Code Number Registry.
public struct WebSocketCloseCode: RawRepresentable, Hashable, Sendable {
    /// As in a close frame. Not each number may stand there: ``isSendable``.
    public let rawValue: UInt16

    /// A code of any number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 1000: what it was for is done.
    public static var normal: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1000) }
    /// 1001: the server shuts down, or the page is left.
    public static var goingAway: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1001) }
    /// 1002: the frames are not what RFC 6455 allows.
    public static var protocolError: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1002) }
    /// 1003: a kind of message that isn't served.
    public static var unsupportedData: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1003) }
    /// 1007: a text that is not UTF-8.
    public static var invalidData: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1007) }
    /// 1008: what the peer does is against the rules.
    public static var policyViolation: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1008) }
    /// 1009: the message is too long.
    public static var messageTooBig: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1009) }
    /// 1011: something failed that the client can't help.
    public static var internalError: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1011) }
    /// 1013: there is too much to do; later there may be less.
    public static var tryAgainLater: WebSocketCloseCode { WebSocketCloseCode(rawValue: 1013) }

    /// Whether it may stand in a close frame: it is registered and not reserved for what is no frame (1005, 1006, 1015), or it is a
    /// library's or an application's (3000–4999).
    public var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
