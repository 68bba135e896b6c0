internal import HTTPCore
internal import HTTPServer
internal import System

/// A client that stays: it sends messages, and hears notifications once it may.
final class RPCSocket: WebSocketHandler {
    private enum Listening {
        /// It has to show the secret first.
        case not
        case listening(Int)
        case closed
    }

    private let aria2: Aria2
    private let peer: SocketAddress
    private let listensAtOnce: Bool
    private let state = Locked(Listening.not)

    init(_ aria2: Aria2, peer: SocketAddress, listensAtOnce: Bool) {
        self.aria2 = aria2
        self.peer = peer
        self.listensAtOnce = listensAtOnce
    }

    func opened(_ socket: WebSocket) {
        if listensAtOnce { listen(socket, by: nil) }
    }

    func received(_ message: WebSocketMessage, on socket: WebSocket) -> WebSocketAnswer {
        aria2.answer(message.bytes, from: peer) { caller in
            if caller.scope != .none { listen(socket, by: caller.permit) }
        }
    }

    func closed() {
        let before = state.withLock { state in
            defer { state = .closed }
            return state
        }
        if case .listening(let number) = before { aria2.stopListening(number) }
    }

    private func listen(_ socket: WebSocket, by permit: Permit?) {
        state.withLock { state in
            guard case .not = state else { return }
            state = .listening(aria2.listen(socket, by: permit))
        }
    }
}
