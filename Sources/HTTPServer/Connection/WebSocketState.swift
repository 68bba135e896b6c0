/// The state machine of a WebSocket: events go in, actions come out, and the time is a parameter.
///
///     open → closing → ended
///
/// A close frame is sent once, and nothing after it. Frames and messages belong to the ``WebSocketSource``.
struct WebSocketState {
    enum Phase: Equatable {
        case open
        /// The server's close frame is being sent, and the client's is awaited.
        case closing
        /// Nothing more is read. The queue is sent, and then the connection ends.
        case ended
    }

    private(set) var phase = Phase.open
    /// Whether the client may still be sending, so that a reset could lose the server's close frame.
    private(set) var leavesInputUnread = false
    private var isPinged = false
    /// The time at which the client gets a ping, or the connection is closed, if nothing arrives.
    private var quietDeadline: Moment
    private var messageDeadline: Moment?
    private var closeDeadline: Moment?

    /// Creates the state of an opened socket.
    init(now: Moment, limits: borrowing WebSocketLimits) {
        quietDeadline = now + limits.pingInterval
    }

    /// The time at which ``expired(_:isReading:limits:)`` must be called at the latest; nil if there is no deadline.
    var deadline: Moment? {
        switch phase {
        case .open: messageDeadline.map { min($0, quietDeadline) } ?? quietDeadline
        case .closing: closeDeadline
        case .ended: nil
        }
    }

    /// Records that bytes of any kind have arrived from the client.
    mutating func heard(_ now: Moment, limits: borrowing WebSocketLimits) {
        isPinged = false
        quietDeadline = now + limits.pingInterval
    }

    /// Records that the input has been parsed. `isInMessage`: a message is incomplete. `isNewMessage`: it is not the
    /// one that was incomplete before.
    mutating func hasRead(isInMessage: Bool, isNewMessage: Bool, _ now: Moment, limits: borrowing WebSocketLimits) {
        if !isInMessage {
            messageDeadline = nil
        } else if messageDeadline == nil || isNewMessage {
            messageDeadline = now + limits.messageTimeout
        }
    }

    /// Begins a close by the server. Returns whether a close frame must be sent.
    mutating func close(_ now: Moment, within limit: Duration) -> Bool {
        guard phase == .open else { return false }
        phase = .closing
        closeDeadline = now + limit
        return true
    }

    /// Records the client's close frame. Returns whether a reply must be sent.
    mutating func peerClosed() -> Bool {
        defer { phase = .ended }
        return phase == .open
    }

    /// Records an error that makes further input unreadable. Returns whether a close frame must be sent.
    mutating func fail() -> Bool {
        defer { phase = .ended }
        leavesInputUnread = true
        return phase == .open
    }

    /// The action for a deadline that has passed.
    enum Expiry: Equatable {
        case nothing
        case ping
        /// The message has exceeded its time limit.
        case refuseMessage
        /// The client has left, or has not replied to the close frame.
        case drop
    }

    /// Checks the deadlines; may be called at any time. `isReading`: whether the server reads, so that it would notice
    /// the client.
    mutating func expired(_ now: Moment, isReading: Bool, limits: borrowing WebSocketLimits) -> Expiry {
        guard let deadline, deadline <= now else { return .nothing }
        guard phase == .open else { return .drop }
        guard isReading else {
            quietDeadline = now + limits.pingInterval
            if messageDeadline != nil { messageDeadline = now + limits.messageTimeout }
            return .nothing
        }
        if let messageDeadline, messageDeadline <= now { return .refuseMessage }
        guard !isPinged else { return .drop }
        isPinged = true
        quietDeadline = now + limits.pongTimeout
        return .ping
    }
}
