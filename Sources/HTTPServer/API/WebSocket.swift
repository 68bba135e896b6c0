public import HTTPCore
internal import Synchronization
internal import System

/// The way to the client of a WebSocket: messages that it hasn't asked for, and the end. May be used from any thread, at any time.
public final class WebSocket: Sendable {
    /// What the loop is to send, and hasn't taken yet.
    struct Outbox {
        var frames: [[UInt8]] = []
        /// With what it is to be closed, after those.
        var close: (code: WebSocketCloseCode, reason: String)?
        /// Nobody reads: the connection is to be reset.
        var isDeaf = false
        fileprivate var isEnded = false
    }

    private let outbox = Locked(Outbox())
    /// Bytes of the outbox, and of what the loop has taken of it and the socket hasn't.
    private let unread = Atomic<Int>(0)
    private let limit: Int
    private let admitted = Atomic<Bool>(false)
    let waker: StreamWaker

    init(waker: StreamWaker, limits: borrowing WebSocketLimits) {
        self.waker = waker
        limit = limits.unreadEvents
    }

    /// Admits the client: its connection gives way to new ones no longer.
    public func admit() {
        admitted.store(true, ordering: .relaxed)
    }

    /// Whether the client was admitted.
    var isAdmitted: Bool { admitted.load(ordering: .relaxed) }

    /// Sends a message. False if the socket is being closed, or is now, because more than ``WebSocketLimits/unreadEvents`` wait already.
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

    /// Closes the socket, after what has been sent before: the client gets the code and up to 123 bytes of the reason. A code that may not
    /// be sent (``WebSocketCloseCode/isSendable``) is left out. The first call counts.
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") {
        let isNew = outbox.withLock { outbox -> Bool in
            guard !outbox.isEnded, outbox.close == nil else { return false }
            outbox.close = (code, reason)
            return true
        }
        if isNew { waker.wake() }
    }

    /// Takes what is to be sent, and leaves nothing.
    func take() -> Outbox {
        outbox.withLock { outbox in
            let taken = outbox
            outbox.frames = []
            return taken
        }
    }

    /// So many bytes of what was taken are the socket's now.
    func wrote(_ count: Int) {
        unread.subtract(count, ordering: .relaxed)
    }

    /// Takes no more.
    func end() {
        outbox.withLock { outbox in
            outbox.isEnded = true
            outbox.frames = []
        }
    }
}
