/// The check of a request that opens a WebSocket: RFC 6455 §4.2.1.
public enum WebSocketHandshake {
    /// The reason why a request cannot open a WebSocket.
    public enum Failure: Error, Sendable, Hashable {
        /// The method is not GET.
        case method(HTTPMethod)
        /// The version of HTTP is below 1.1.
        case protocolVersion(HTTPVersion)
        /// The request has a body.
        case body
        /// `Upgrade` does not list `websocket`.
        case upgrade
        /// `Connection` does not list `upgrade`.
        case connection
        /// The version of the WebSocket protocol is unsupported or missing (nil).
        case version(String?)
        /// `Sec-WebSocket-Key` is missing, repeated or not 16 bytes.
        case key

        /// The status of the response.
        public var status: HTTPStatus {
            switch self {
            case .method, .body, .key: .badRequest
            // RFC 6455 §4.4 requires 426 for a version. RFC 9110 §15.5.22 has it for a protocol that was not asked for.
            case .version, .upgrade, .connection, .protocolVersion: .upgradeRequired
            }
        }

        /// The fault and the accepted form, as a sentence.
        public var detail: String {
            switch self {
            case .method(let method): "A WebSocket is opened by GET, not by \(method.name)."
            case .protocolVersion(let version): "A WebSocket is opened over HTTP/1.1, not over \(version). \(Self.proxies)"
            case .body: "A request that opens a WebSocket has no body."
            case .upgrade: "The field Upgrade does not list websocket. \(Self.proxies)"
            case .connection: "The field Connection does not list upgrade. \(Self.proxies)"
            case .version(let version?): "Version \(version) of the WebSocket protocol is not served; version 13 is."
            case .version(nil): "The field Sec-WebSocket-Version is missing; version 13 is served."
            case .key: "There must be one field Sec-WebSocket-Key, 16 bytes in base 64."
            }
        }

        private static let proxies =
            "A proxy in front needs a setting for WebSockets: with nginx, proxy_http_version 1.1 and both fields by proxy_set_header."
    }

    /// The only supported version of the protocol.
    public static let version = "13"

    /// Whether a request asks for a WebSocket, with or without errors. One whose `Upgrade` was removed by a proxy has a key.
    public static func isRequested(by head: borrowing RequestHead) -> Bool {
        upgrades(head) || (head.method == .get && head.fields.contains(.secWebSocketKey))
    }

    private static func upgrades(_ head: borrowing RequestHead) -> Bool {
        head.fields.contains(.upgrade) && head.fields.contains(.upgrade, token: "websocket")
    }

    /// Checks a request and returns its key, from which the server computes `Sec-WebSocket-Accept`. Offered
    /// subprotocols and extensions are ignored: none is chosen.
    public static func key(in head: borrowing RequestHead) throws(Failure) -> String {
        guard head.method == .get else { throw .method(head.method) }
        guard upgrades(head) else { throw .upgrade }
        guard head.version >= .http11 else { throw .protocolVersion(head.version) }
        guard head.framing == .none || head.framing == .length(0) else { throw .body }
        guard head.fields.contains(.connection, token: "upgrade") else { throw .connection }
        let versions = head.fields.values(.secWebSocketVersion)
        guard versions == [version] else { throw .version(head.fields.combined(.secWebSocketVersion)) }
        let keys = head.fields.values(.secWebSocketKey)
        guard let key = keys.first, keys.count == 1, key.utf8.count == 24, key.hasSuffix("=="),
            Base64.decode(key.utf8)?.count == 16
        else { throw .key }
        return key
    }
}
