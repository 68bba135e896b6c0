internal import HTTPCore

extension Request {
    /// Whether it asks for a WebSocket, rightly or not.
    public var asksForWebSocket: Bool { WebSocketHandshake.isAsked(by: head) }
}

/// A handshake that was accepted, and who takes it from there.
public struct WebSocketUpgrade: Sendable {
    let handler: any WebSocketHandler

    fileprivate init(_ handler: any WebSocketHandler) {
        self.handler = handler
    }
}

extension Response {
    /// Has the connection become a WebSocket (RFC 6455 §4.2): sets the status, 101, and the fields, and `handler` gets the client's
    /// messages. No subprotocol and no extension is chosen. Who may open one is the application's to decide before.
    ///
    /// If the request isn't what it must be, status (400, or 426) and fields say so, and the reason is returned; the body is the
    /// application's. `handler` is then closed already.
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
