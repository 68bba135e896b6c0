/// What a request must be to become a WebSocket: RFC 6455 §4.2.1.
public enum WebSocketHandshake {
    /// Why it doesn't.
    public enum Failure: Error, Sendable, Hashable {
        /// Another method.
        case method(HTTPMethod)
        /// An older version of HTTP.
        case protocolVersion(HTTPVersion)
        /// There is a body.
        case body
        /// `Upgrade` doesn't list `websocket`.
        case upgrade
        /// `Connection` doesn't list `upgrade`.
        case connection
        /// Another version of the protocol, or none.
        case version(String?)
        /// There isn't one `Sec-WebSocket-Key` of 16 bytes.
        case key

        /// The status that says so.
        public var status: HTTPStatus {
            switch self {
            case .method, .protocolVersion, .body, .upgrade, .connection, .key: .badRequest
            // RFC 6455 §4.4.
            case .version: .upgradeRequired
            }
        }

        /// What was wrong and what is accepted, as a sentence.
        public var detail: String {
            switch self {
            case .method(let method): "A WebSocket is opened by GET, not by \(method.name)."
            case .protocolVersion(let version): "A WebSocket is opened over HTTP/1.1, not over \(version)."
            case .body: "A request that opens a WebSocket has no body."
            case .upgrade: "The field Upgrade does not list websocket."
            case .connection: "The field Connection does not list upgrade."
            case .version(let version?): "Version \(version) of the WebSocket protocol is not served; version 13 is."
            case .version(nil): "The field Sec-WebSocket-Version is missing; version 13 is served."
            case .key: "There must be one field Sec-WebSocket-Key, 16 bytes in base 64."
            }
        }
    }

    /// The one version there is.
    public static let version = "13"

    /// Whether a request asks for a WebSocket, rightly or not.
    public static func isAsked(by head: borrowing RequestHead) -> Bool {
        head.fields.contains(.upgrade) && head.fields.contains(.upgrade, token: "websocket")
    }

    /// The key by which the client recognises the answer; throws unless all is as it must be. Subprotocols and extensions that are offered
    /// don't matter: none is chosen.
    public static func key(in head: borrowing RequestHead) throws(Failure) -> String {
        guard head.method == .get else { throw .method(head.method) }
        guard head.version >= .http11 else { throw .protocolVersion(head.version) }
        guard head.framing == .none || head.framing == .length(0) else { throw .body }
        guard isAsked(by: head) else { throw .upgrade }
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
