internal import HTTPCore

extension Request {
    /// Whether the request asks for a WebSocket, with or without errors.
    public var asksForWebSocket: Bool { WebSocketHandshake.isRequested(by: head) }
}

/// An accepted handshake, and the handler of its WebSocket.
public struct WebSocketUpgrade: Sendable {
    let handler: any WebSocketHandler

    fileprivate init(_ handler: any WebSocketHandler) {
        self.handler = handler
    }
}

extension Response {
    /// Makes the connection a WebSocket (RFC 6455 §4.2): sets the status 101 and the fields. `handler` then receives
    /// the client's messages. No subprotocol and no extension is chosen. The application must check the client's rights
    /// before.
    ///
    /// If the request is invalid, it sets the status (400 or 426) and fields, and returns the reason. The application
    /// provides the body. `handler` is then already closed.
    public mutating func upgrade(to handler: any WebSocketHandler, for request: borrowing Request) -> Refusal? {
        fields.remove(Self.upgradeFields)
        do throws(WebSocketHandshake.Failure) {
            let key = try WebSocketHandshake.key(in: request.head)
            status = .switchingProtocols
            fields.append(.upgrade, "websocket")
            fields.append(.secWebSocketAccept, WebSocketHandshake.accept(for: key))
            body.removeAll(keepingCapacity: true)
            content = .webSocket(WebSocketUpgrade(handler))
            return nil
        } catch {
            handler.closed()
            status = error.status
            if status == .upgradeRequired {
                fields.append(.upgrade, "websocket")
                fields.append(.secWebSocketVersion, WebSocketHandshake.version)
            }
            return Refusal(status: status, detail: error.detail)
        }
    }

    private static let upgradeFields = FieldNameSet([.upgrade, .secWebSocketAccept, .secWebSocketVersion])
}
