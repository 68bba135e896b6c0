internal import HTTPCore
internal import HTTPServer
internal import System

/// A client's WebSocket: it sends messages. If a secret is required, it receives notifications once it has sent a right one,
/// unless its handshake carried a proof.
final class RPCSocket: WebSocketHandler {
    private enum Phase {
        case new
        case open(Listener)
        case closed
    }

    private struct Listener {
        /// Its number in the notification hub.
        let number: Int
        /// The permit of the secret that the client sent; `nil` if it sent none or none is required.
        var permit: Permit?
        /// Closes the socket unless a secret arrives in time; `nil` once it has arrived, or if none is required.
        var timer: Task<Void, Never>?
    }

    private let aria2: Aria2
    /// The sender of the handshake, if it has proved the right to receive notifications.
    private let listener: Aria2Caller?
    private let peer: SocketAddress
    private let state = Locked(Phase.new)

    init(_ aria2: Aria2, of listener: Aria2Caller?, peer: SocketAddress) {
        self.aria2 = aria2
        self.listener = listener
        self.peer = peer
    }

    func opened(_ socket: WebSocket) {
        state.withLock { state in
            guard case .new = state else { return }
            let limit = listener == nil ? aria2.secretLimit : nil
            if limit == nil { socket.admit() }
            let timer = limit.map { limit in
                Task {
                    do { try await Task.sleep(for: limit) } catch { return }
                    socket.close(.policyViolation, reason: "The client sent no call with the right secret in time.")
                }
            }
            let number = aria2.notifications.add(socket, limit == nil ? .permitted(listener?.permit) : .unknown)
            state = .open(Listener(number: number, permit: listener?.permit, timer: timer))
        }
    }

    func received(_ message: WebSocketMessage, on socket: WebSocket) -> WebSocketAnswer {
        aria2.answer(message.bytes, from: peer, authorized: { self.authorized($0, on: socket) }, hold: hold)
    }

    func closed() {
        let before = state.withLock { state in
            defer { state = .closed }
            return state
        }
        guard case .open(let listener) = before else { return }
        listener.timer?.cancel()
        aria2.notifications.remove(listener.number)
    }

    /// Accepts the caller of a message with a right secret.
    private func authorized(_ caller: Aria2Caller, on socket: WebSocket) {
        socket.admit()
        state.withLock { state in
            guard case .open(var listener) = state else { return }
            listener.timer?.cancel()
            // After its secret is revoked, a client may send another one.
            let isNew = listener.timer != nil || listener.permit?.isRevoked == true
            listener.timer = nil
            if isNew, caller.scope != .none {
                listener.permit = caller.permit
                aria2.notifications.permit(listener.number, by: caller.permit)
            }
            state = .open(listener)
        }
    }

    /// Holds notifications back until an answer is enqueued.
    /// - Returns: A closure that releases the notifications.
    private func hold() -> @Sendable () -> Void {
        guard case .open(let listener) = state.withLock({ $0 }) else { return {} }
        let (notifications, number) = (aria2.notifications, listener.number)
        notifications.hold(number)
        return { notifications.release(number) }
    }
}
