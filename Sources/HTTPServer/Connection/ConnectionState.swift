internal import HTTPCore

/// The life of one connection as a value: what has happened goes in, what to do comes out, and the time is passed in.
///
///     awaiting → head → (body) → handling → (sending) → awaiting …
///                          ↓                          ↘ finishing → (lingering) → closed
///                      upgraded ──────────────────────────↗
///
/// It knows phases and deadlines; bytes, sockets and tasks are the ``Connection``'s.
struct ConnectionState {
    enum Phase: Equatable {
        /// Between requests: nothing of the next has come.
        case awaiting
        /// A head has begun.
        case head
        /// A head is complete and its body is coming.
        case body
        /// The request is complete and its response isn't there yet.
        case handling
        /// The head of the response is written, and its body follows as the client takes it.
        case sending
        /// It is a WebSocket now, which has a state of its own: ``WebSocketState``.
        case upgraded
        /// The last response is complete; what is left of it is being written.
        case finishing
        /// The output has ended. What the client still sends is dropped.
        case lingering
        case closed
    }

    private(set) var phase = Phase.awaiting
    /// Whether the response being prepared is the last one of the connection.
    private(set) var closesAfterResponse = false
    /// The peer has sent a FIN: it has left, or has only no more to send.
    private(set) var peerHasEnded = false
    private var isFirstRequest = true
    /// The server is shutting down: this response is the last.
    private(set) var isStopping = false
    /// A request was refused without having been read to its end.
    private var leavesInputUnread = false
    /// The response being sent has no end of its own that a client could be waiting for.
    private var isOpenEnded = false
    private var phaseDeadline: Moment?
    private var outputDeadline: Moment?
    /// When to look whether the client has taken output, though none could be written; not after the deadline.
    private var outputLook: Moment?
    /// Since when nothing has been owed to the client: it has sent no complete request since, and has its last response. Nil while
    /// something is owed. Of a head that is coming, it is the time that it began. To a client without a permit nothing is owed while it is
    /// waited for.
    private(set) var idleSince: Moment?
    private var windowBytes = 0
    private var drainedBytes: Int64 = 0

    /// A connection that was just accepted. `isSurplus`: it is one too many.
    init(now: Moment, isSurplus: Bool = false, limits: borrowing ServerLimits) {
        phaseDeadline = now + (isSurplus ? limits.surplusTimeout : limits.headTimeout)
        idleSince = now
    }

    /// When ``expired(_:limits:)`` must be called at the latest; nil if nothing is being waited for.
    var deadline: Moment? {
        guard let phaseDeadline else { return outputLook }
        guard let outputLook else { return phaseDeadline }
        return min(phaseDeadline, outputLook)
    }

    /// Whether bytes from the client are wanted now.
    var readsInput: Bool {
        switch phase {
        case .awaiting, .head, .body: true
        case .handling, .sending, .upgraded, .finishing, .lingering, .closed: false
        }
    }
}

// MARK: - Requests

extension ConnectionState {
    /// What follows a complete head.
    enum HeadStep: Equatable {
        case handle
        /// The body comes; `100 Continue` must be sent first if the client waits for it.
        case readBody(sendsContinue: Bool)
        case refuse(RequestError)
    }

    /// The first byte of a head is there, but not all of it.
    mutating func headBegan(_ now: Moment, limits: borrowing ServerLimits) {
        guard phase == .awaiting else { return }
        phase = .head
        // On a new connection the time has run since it was accepted.
        guard !isFirstRequest else { return }
        phaseDeadline = now + limits.headTimeout
        idleSince = now
    }

    /// A head is complete. `bodyHasBegun`: bytes of its body are there already.
    mutating func headCompleted(
        _ head: borrowing RequestHead, bodyHasBegun: Bool, now: Moment, limits: borrowing ServerLimits
    ) -> HeadStep {
        closesAfterResponse = !head.keepsAlive || isStopping
        phaseDeadline = nil
        idleSince = nil
        switch head.framing {
        case .none, .length(0):
            phase = .handling
            return .handle
        case .length(let length) where length > Int64(limits.body):
            return .refuse(.contentTooLarge(limit: limits.body))
        case .length, .chunked:
            phase = .body
            windowBytes = 0
            phaseDeadline = now + limits.bodyRateWindow
            // RFC 9110 §10.1.1: not for HTTP/1.0, and needless once the body has begun.
            return .readBody(sendsContinue: head.expectsContinue && head.version >= .http11 && !bodyHasBegun)
        }
    }

    /// Bytes of a body have come, framing included.
    mutating func bodyArrived(_ count: Int) {
        windowBytes += count
    }

    mutating func bodyCompleted() {
        phase = .handling
        phaseDeadline = nil
        idleSince = nil
    }

    /// The response doesn't wait for the rest of the request, and the connection closes after it; that rest isn't read, if there is any.
    mutating func refused(readsAll: Bool = false) {
        phase = .handling
        phaseDeadline = nil
        idleSince = nil
        closesAfterResponse = true
        leavesInputUnread = !readsAll
    }
}

// MARK: - Responses

extension ConnectionState {
    /// The response will come from a task.
    mutating func handlingBegan(_ now: Moment, limits: borrowing ServerLimits) {
        if peerHasEnded { phaseDeadline = now + limits.halfCloseGrace }
    }

    /// The response's end is the connection's.
    mutating func responseEndsConnection() {
        closesAfterResponse = true
    }

    /// The response's head is in the output, and its body too unless `isSending`. `isOpenEnded`: the body's length is unknown.
    /// Returns false if there is nobody to send the body to.
    mutating func responseBegan(isSending: Bool, isOpenEnded: Bool) -> Bool {
        phaseDeadline = nil
        self.isOpenEnded = isOpenEnded
        guard isSending else {
            responseEnded()
            return true
        }
        phase = .sending
        return !(isOpenEnded && peerHasEnded)
    }

    /// The head that makes it a WebSocket is in the output. Returns false if there is nobody to speak to.
    mutating func upgradeBegan() -> Bool {
        phaseDeadline = nil
        phase = .upgraded
        return !peerHasEnded
    }

    /// All that the WebSocket has to send is in the output. `leavesInputUnread`: the client may not have sent its last frame.
    mutating func upgradeEnded(leavesInputUnread: Bool) {
        self.leavesInputUnread = leavesInputUnread
        responseEndsConnection()
        responseEnded()
    }

    /// The whole response is in the output.
    mutating func responseEnded() {
        isFirstRequest = false
        phaseDeadline = nil
        phase = closesAfterResponse || isStopping ? .finishing : .awaiting
    }
}

// MARK: - The socket

extension ConnectionState {
    /// What to do about a client that may have left.
    enum PeerEndAction: Equatable {
        case goOn
        /// Nobody is there for what is being done.
        case close
    }

    /// The peer has sent a FIN; what it sent before may still be unread.
    ///
    /// TCP doesn't say whether it has left or only has no more to send. What has an end is sent to its end; a stream
    /// without one stops, and a task has ``ServerLimits/halfCloseGrace`` to finish.
    mutating func peerEnded(_ now: Moment, limits: borrowing ServerLimits) -> PeerEndAction {
        guard !peerHasEnded else { return .goOn }
        peerHasEnded = true
        switch phase {
        case .handling:
            phaseDeadline = now + limits.halfCloseGrace
            return .goOn
        case .sending: return isOpenEnded ? .close : .goOn
        case .awaiting, .head, .body, .upgraded, .finishing, .lingering, .closed: return .goOn
        }
    }

    /// Everything the peer sent has been read, and it sends no more. Returns whether that breaks a request off in the middle,
    /// which gets 400 (RFC 9112 §8): the client may have ended its output only.
    mutating func inputEnded() -> Bool {
        peerHasEnded = true
        leavesInputUnread = false
        switch phase {
        case .awaiting:
            phase = .finishing
            phaseDeadline = nil
        case .head, .body: return true
        case .lingering: close()
        case .handling, .sending, .upgraded, .finishing, .closed: break
        }
        return false
    }

    /// Input was read and dropped after the output ended; false when it has been enough.
    mutating func drained(_ count: Int, limits: borrowing ServerLimits) -> Bool {
        drainedBytes += Int64(count)
        return drainedBytes < limits.lingerBytes
    }

    /// What to do when neither socket nor request can go on for now.
    enum Pause: Equatable {
        case wait
        /// End the output, and read on for a while.
        case linger
        case close
    }

    /// Everything possible has been done. `isPending`: output waits for the client; `hasProgressed`: some of it was taken since
    /// the last time; `hasUnreadInput`: closing now would be a reset; `hasPermit`: the client has shown that it may have what it asks for.
    mutating func paused(
        isPending: Bool, hasProgressed: Bool, hasUnreadInput: Bool, hasPermit: Bool, now: Moment,
        limits: borrowing ServerLimits
    ) -> Pause {
        noteStranger(isPending: isPending, hasPermit: hasPermit, now)
        if !isPending {
            outputDeadline = nil
            outputLook = nil
        } else if hasProgressed || outputDeadline == nil {
            outputDeadline = now + limits.writeTimeout
            // What was written just now is still on its way: it is taken, if at all, in this moment, and not when the time is over.
            outputLook = now + limits.writeTimeout / 60
        }
        guard !isPending else { return .wait }
        switch phase {
        case .awaiting:
            // The idle time begins when the client has been given all of the last response.
            if phaseDeadline == nil { phaseDeadline = now + limits.idleTimeout }
            if idleSince == nil { idleSince = now }
            return .wait
        case .finishing:
            guard leavesInputUnread || hasUnreadInput else {
                close()
                return .close
            }
            phase = .lingering
            idleSince = now
            phaseDeadline = now + (isStopping ? min(limits.lingerTimeout, limits.stopGrace) : limits.lingerTimeout)
            return .linger
        case .closed: return .close
        case .head, .body, .handling, .sending, .upgraded, .lingering: return .wait
        }
    }

    /// Notes since when a client without a permit is waited for.
    private mutating func noteStranger(isPending: Bool, hasPermit: Bool, _ now: Moment) {
        let waits =
            switch phase {
            case .body, .upgraded: true
            case .awaiting, .sending, .finishing: isPending
            case .head, .handling, .lingering, .closed: false
            }
        if waits { idleSince = hasPermit ? nil : idleSince ?? now }
    }

    /// Whether it is time to look, before ``expired(_:limits:)``, if the client has taken output though none could be written since.
    func looksAtOutput(_ now: Moment) -> Bool {
        outputLook.map { $0 <= now } ?? false
    }

    /// It was looked. The time of a client begins with the first look, and anew when it is seen to have taken some, up to a sixth of the
    /// limit after it has. `taken` is true of the first look, too, which has nothing to compare with.
    mutating func outputWasSeen(taken: Bool, _ now: Moment, limits: borrowing ServerLimits) {
        guard let outputDeadline else { return }
        let deadline = taken ? now + limits.writeTimeout : outputDeadline
        self.outputDeadline = deadline
        outputLook = min(deadline, now + limits.writeTimeout / 6)
    }

    mutating func close() {
        phase = .closed
        idleSince = nil
        phaseDeadline = nil
        outputDeadline = nil
        outputLook = nil
    }
}

// MARK: - Time

extension ConnectionState {
    /// What a deadline that has passed asks for.
    enum Expiry: Equatable {
        case nothing
        case close
        /// With an RST: what the kernel still holds would otherwise wait for the client too.
        case reset
        case refuse(HTTPStatus)
    }

    /// Looks at the deadlines; may be called at any time.
    mutating func expired(_ now: Moment, limits: borrowing ServerLimits) -> Expiry {
        if let outputDeadline, outputDeadline <= now { return .reset }
        guard let phaseDeadline, phaseDeadline <= now else { return .nothing }
        switch phase {
        case .head: return .refuse(.requestTimeout)
        case .body:
            if isStopping { return .close }
            let required = Double(limits.bodyRate) * (limits.bodyRateWindow / .seconds(1))
            guard Double(windowBytes) >= required else { return .refuse(.requestTimeout) }
            windowBytes = 0
            self.phaseDeadline = now + limits.bodyRateWindow
            return .nothing
        case .awaiting, .handling, .lingering: return .close
        case .sending, .upgraded, .finishing, .closed:
            self.phaseDeadline = nil
            return .nothing
        }
    }

    /// The server is shutting down: what is under way is the last. A connection ends at once if nothing is owed to its client:
    /// between requests, and in the middle of a head. A body that is still coming has ``ServerLimits/stopGrace``.
    mutating func stop(_ now: Moment, limits: borrowing ServerLimits) {
        isStopping = true
        closesAfterResponse = true
        switch phase {
        case .awaiting, .head:
            phase = .finishing
            phaseDeadline = nil
        case .body, .lingering:
            let last = now + limits.stopGrace
            phaseDeadline = phaseDeadline.map { min($0, last) } ?? last
        case .handling, .sending, .upgraded, .finishing, .closed: break
        }
    }
}
