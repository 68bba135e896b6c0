import HTTPCore
import Synchronization
import TestSupport

@testable import HTTPServer

extension OutgoingMessage {
    init(text: String) { self.init(text: Array(text.utf8)) }
    init(binary: [UInt8]) { self.init(.binary, binary) }
}

/// A handler that records its calls, and responds as configured.
final class TestWebSocket: WebSocketHandler {
    struct State: Sendable {
        var opened = 0
        var closed = 0
        var messages: [WebSocketMessage] = []
        var socket: WebSocket?
    }

    let state = Box(State())
    private let answer: @Sendable (WebSocketMessage, WebSocket) -> WebSocketAnswer

    init(_ answer: @escaping @Sendable (WebSocketMessage, WebSocket) -> WebSocketAnswer = TestWebSocket.echo) {
        self.answer = answer
    }

    /// Responds with the message.
    static let echo: @Sendable (WebSocketMessage, WebSocket) -> WebSocketAnswer = { message, _ in
        .ready(message.kind == .text ? OutgoingMessage(text: message.bytes) : OutgoingMessage(binary: message.bytes))
    }

    func opened(_ socket: WebSocket) {
        state.update {
            $0.opened += 1
            $0.socket = socket
        }
    }

    func received(_ message: WebSocketMessage, on socket: WebSocket) -> WebSocketAnswer {
        state.update { $0.messages.append(message) }
        return answer(message, socket)
    }

    func closed() {
        state.update { $0.closed += 1 }
    }
}

/// A handler of requests that opens WebSockets, each with the next handler, and refuses an invalid handshake with the
/// reason.
func opening(
    _ make: @escaping @Sendable () -> TestWebSocket = { TestWebSocket() }, permit: Permit? = nil
) -> @Sendable (borrowing Request, inout Response) -> Handling {
    { request, response in
        guard request.asksForWebSocket else { return echo(request, &response) }
        if let refusal = response.upgrade(to: make(), for: request) {
            response.body = Array(refusal.detail.utf8)
        } else {
            response.permit = permit
        }
        return .ready
    }
}
