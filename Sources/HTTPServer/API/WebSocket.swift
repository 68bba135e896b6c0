public import HTTPCore
internal import Synchronization
internal import System

/// The sending side of a WebSocket, for unsolicited messages and the close. Any thread may use it, at any time.
public final class WebSocket: Sendable {
    /// The messages that the loop has not taken yet.
    struct Outbox {
        var frames: [[UInt8]] = []
        /// The code and reason of the close frame to send after the frames; nil: none.
        var close: (code: WebSocketCloseCode, reason: String)?
        /// Whether the client does not read, so that the connection must be reset.
        var isDeaf = false
        fileprivate var isEnded = false
    }

    private let outbox = Locked(Outbox())
    /// The bytes of the outbox, and of messages that the loop has taken but not written to the socket.
    private let unread = Atomic<Int>(0)
    private let limit: Int
    private let admitted = Atomic<Bool>(false)
    let waker: StreamWaker

    init(waker: StreamWaker, limits: borrowing WebSocketLimits) {
        self.waker = waker
        limit = limits.unreadEvents
    }

    /// Admits the client: new connections no longer displace its connection.
    public func admit() {
        admitted.store(true, ordering: .relaxed)
    }

    /// Whether the client was admitted.
    var isAdmitted: Bool { admitted.load(ordering: .relaxed) }

    /// Sends a message.
    /// - Returns: False if the socket is closed or being closed, or if the client is now disconnected because more than
    ///   ``WebSocketLimits/unreadEvents`` bytes wait.
    @discardableResult
    public func send(_ message: OutgoingMessage) -> Bool {
        let (isTaken, isNew) = outbox.withLock { outbox -> (Bool, Bool) in
            guard !outbox.isEnded, outbox.close == nil else { return (false, false) }
            guard unread.load(ordering: .relaxed) <= limit else {
                outbox.frames = []
                outbox.isDeaf = true
                outbox.isEnded = true
                return (false, true)
            }
            unread.add(message.frame.count, ordering: .relaxed)
            outbox.frames.append(message.frame)
            return (true, true)
        }
        if isNew { waker.wake() }
        return isTaken
    }

    /// Closes the socket after all earlier messages. The client receives the code and up to 123 bytes of the reason. A
    /// code that is not ``WebSocketCloseCode/isSendable`` is omitted. Only the first call has an effect.
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") {
        let isNew = outbox.withLock { outbox -> Bool in
            guard !outbox.isEnded, outbox.close == nil else { return false }
            outbox.close = (code, reason)
            return true
        }
        if isNew { waker.wake() }
    }

    /// Returns the outbox, and removes its frames.
    func take() -> Outbox {
        outbox.withLock { outbox in
            let taken = outbox
            outbox.frames = []
            return taken
        }
    }

    /// Records that bytes of taken messages were written to the socket.
    func wrote(_ count: Int) {
        unread.subtract(count, ordering: .relaxed)
    }

    /// Refuses further messages.
    func end() {
        outbox.withLock { outbox in
            outbox.isEnded = true
            outbox.frames = []
        }
    }
}
