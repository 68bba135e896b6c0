/// The life of a WebSocket as a value: what has happened goes in, what to do comes out, and the time is passed in.
///
///     open → closing → ended
///
/// A close frame is sent once, and nothing after it. Frames and messages are the ``WebSocketSource``'s.
struct WebSocketState {
    enum Phase: Equatable {
        case open
        /// Our close frame is on its way, and the client's is awaited.
        case closing
        /// Nothing more is read. What is queued is sent, and then the connection ends.
        case ended
    }

    private(set) var phase = Phase.open
    /// The client may still be sending, and would lose our close frame to a reset.
    private(set) var leavesInputUnread = false
    private var isPinged = false
    /// When the client must have been heard of, or is sent a ping.
    private var quietDeadline: Moment
    private var messageDeadline: Moment?
    private var closeDeadline: Moment?

    /// A socket that was just opened.
    init(now: Moment, limits: borrowing WebSocketLimits) {
        quietDeadline = now + limits.pingInterval
    }

    /// When ``expired(_:isReading:limits:)`` must be called at the latest; nil if nothing is being waited for.
    var deadline: Moment? {
        switch phase {
        case .open: messageDeadline.map { min($0, quietDeadline) } ?? quietDeadline
        case .closing: closeDeadline
        case .ended: nil
        }
    }

    /// Something has come from the client, whatever it is.
    mutating func heard(_ now: Moment, limits: borrowing WebSocketLimits) {
        isPinged = false
        quietDeadline = now + limits.pingInterval
    }

    /// What has come was read; `isInMessage`: of a message the end is missing. `isNewMessage`: it isn't the one that was missing before.
    mutating func hasRead(isInMessage: Bool, isNewMessage: Bool, _ now: Moment, limits: borrowing WebSocketLimits) {
        if !isInMessage {
            messageDeadline = nil
        } else if messageDeadline == nil || isNewMessage {
            messageDeadline = now + limits.messageTimeout
        }
    }

    /// We close the socket. Returns whether a close frame is to be sent.
    mutating func close(_ now: Moment, within limit: Duration) -> Bool {
        guard phase == .open else { return false }
        phase = .closing
        closeDeadline = now + limit
        return true
    }

    /// The client's close frame has come. Returns whether it is to be answered.
    mutating func peerClosed() -> Bool {
        defer { phase = .ended }
        return phase == .open
    }

    /// What has come can't be read any further. Returns whether a close frame is to be sent.
    mutating func fail() -> Bool {
        defer { phase = .ended }
        leavesInputUnread = true
        return phase == .open
    }

    /// What a deadline that has passed asks for.
    enum Expiry: Equatable {
        case nothing
        case ping
        /// The message takes too long.
        case refuseMessage
        /// Nobody is there, or the close frame isn't answered.
        case drop
    }

    /// Looks at the deadlines; may be called at any time. `isReading`: the client is heard if it says anything.
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
