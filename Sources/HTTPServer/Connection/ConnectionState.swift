internal import HTTPCore

/// The state machine of one connection: events go in, actions come out, and the time is a parameter.
///
///     awaiting → head → (body) → handling → (sending) → awaiting …
///                          ↓                          ↘ finishing → (lingering) → closed
///                      upgraded ──────────────────────────↗
///
/// It has phases and deadlines. Bytes, sockets and tasks belong to the ``Connection``.
struct ConnectionState {
    enum Phase: Equatable {
        /// Between requests: no byte of the next one has arrived.
        case awaiting
        /// A head has begun.
        case head
        /// A head is complete, and its body is arriving.
        case body
        /// The request is complete, and its response is not ready.
        case handling
        /// The head of the response is written, and its body is sent at the client's speed.
        case sending
        /// The connection is a WebSocket, which has a state of its own: ``WebSocketState``.
        case upgraded
        /// The last response is complete, and its rest is being written.
        case finishing
        /// The output has ended, and further bytes of the client are discarded.
        case lingering
        case closed
    }

    private(set) var phase = Phase.awaiting
    /// Whether the current response is the last one of the connection.
    private(set) var closesAfterResponse = false
    /// Whether the peer has sent a FIN: it has left, or has only finished sending.
    private(set) var peerHasEnded = false
    private var isFirstRequest = true
    /// Whether the server is shutting down, so that this response is the last.
    private(set) var isStopping = false
    /// Whether a request was refused before it was completely read.
    private var leavesInputUnread = false
    /// Whether the client of the request in progress has not proved its right to the response.
    private var handlesStranger = false
    private var phaseDeadline: Moment?
    private var outputDeadline: Moment?
    /// The time of the next check whether the client has taken output that could not be written; at most the deadline.
    private var outputCheck: Moment?
    /// The time since which the connection has been idle: the client has its last response, and has sent no complete
    /// request. For a head that is arriving, it is the time of its beginning. Nil while a response is due. A connection
    /// without a permit is also idle while it waits for the client.
    private(set) var idleSince: Moment?
    private var windowBytes = 0
    private var drainedBytes: Int64 = 0

    /// Creates the state of an accepted connection. `isSurplus`: the connection exceeds a limit.
    init(now: Moment, isSurplus: Bool = false, limits: borrowing ServerLimits) {
        phaseDeadline = now + (isSurplus ? limits.surplusTimeout : limits.headTimeout)
        idleSince = now
    }

    /// The time at which ``expired(_:limits:)`` must be called at the latest; nil if there is no deadline.
    var deadline: Moment? {
        guard let phaseDeadline else { return outputCheck }
        guard let outputCheck else { return phaseDeadline }
        return min(phaseDeadline, outputCheck)
    }

    /// Whether bytes of the client should be read now.
    var readsInput: Bool {
        switch phase {
        case .awaiting, .head, .body: true
        case .handling, .sending, .upgraded, .finishing, .lingering, .closed: false
        }
    }
}

// MARK: - Requests

extension ConnectionState {
    /// The step after a complete head.
    enum HeadStep: Equatable {
        case handle
        /// The body must be read, after `100 Continue` if the client waits for it.
        case readBody(sendsContinue: Bool)
        case refuse(RequestError)
    }

    /// Records that the first byte of a head has arrived, but not all of it.
    mutating func headBegan(_ now: Moment, limits: borrowing ServerLimits) {
        guard phase == .awaiting else { return }
        phase = .head
        // On a new connection, the time began when it was accepted.
        guard !isFirstRequest else { return }
        phaseDeadline = now + limits.headTimeout
        idleSince = now
    }

    /// Records a complete head. `bodyHasBegun`: bytes of its body have already arrived.
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
            // RFC 9110 §10.1.1: not for HTTP/1.0, and unnecessary once the body has begun.
            return .readBody(sendsContinue: head.expectsContinue && head.version >= .http11 && !bodyHasBegun)
        }
    }

    /// Counts bytes of a body, framing included.
    mutating func bodyArrived(_ count: Int) {
        windowBytes += count
    }

    mutating func bodyCompleted() {
        phase = .handling
        phaseDeadline = nil
        idleSince = nil
    }

    /// Records a refusal: the response does not wait for the rest of the request, which is not read. The connection
    /// closes after it. `readsAll`: there is no such rest.
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
    /// Records that the response will come from a task. `isStranger`: the client has not proved that it may have it.
    mutating func handlingBegan(isStranger: Bool = false, _ now: Moment, grace: Duration) {
        handlesStranger = isStranger
        if peerHasEnded { phaseDeadline = now + grace }
    }

    /// Makes the current response the last one of the connection.
    mutating func responseEndsConnection() {
        closesAfterResponse = true
    }

    /// Records that the response's head is in the output, and its body, too, unless `isSending`.
    mutating func responseBegan(isSending: Bool) {
        phaseDeadline = nil
        handlesStranger = false
        guard isSending else { return responseEnded() }
        phase = .sending
    }

    /// Records that the head of a WebSocket's response is in the output. Returns false if the client has left.
    mutating func upgradeBegan() -> Bool {
        phaseDeadline = nil
        phase = .upgraded
        return !peerHasEnded
    }

    /// Records that all output of the WebSocket is in the buffer. `leavesInputUnread`: the client may not have sent its
    /// last frame.
    mutating func upgradeEnded(leavesInputUnread: Bool) {
        self.leavesInputUnread = leavesInputUnread
        responseEndsConnection()
        responseEnded()
    }

    /// Records that the whole response is in the output.
    mutating func responseEnded() {
        isFirstRequest = false
        phaseDeadline = nil
        phase = closesAfterResponse || isStopping ? .finishing : .awaiting
    }
}

// MARK: - The socket

extension ConnectionState {
    /// Records a FIN of the peer. Bytes before it may still be unread.
    ///
    /// TCP does not distinguish a peer that has left from one that has only finished sending. So a response goes on until
    /// a write fails: the system of a peer that has left replies to bytes with an RST. A task has no bytes to write, so
    /// the peer is probed after `grace`.
    mutating func peerEnded(_ now: Moment, grace: Duration) {
        guard !peerHasEnded else { return }
        peerHasEnded = true
        if phase == .handling { phaseDeadline = now + grace }
    }

    /// Records that all bytes of the peer have been read, and no more follow. Returns whether a request is incomplete.
    /// It gets 400 (RFC 9112 §8), since the client may still read.
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

    /// Counts bytes that were discarded after the output's end; returns false at the limit.
    mutating func drained(_ count: Int, limits: borrowing ServerLimits) -> Bool {
        drainedBytes += Int64(count)
        return drainedBytes < limits.lingerBytes
    }

    /// The action when neither the socket nor a request can continue for now.
    enum Pause: Equatable {
        case wait
        /// End the output, and read on for a while.
        case linger
        case close
    }

    /// Decides on the next action when all possible work is done.
    /// - Parameters:
    ///   - isPending: Whether output waits for the client.
    ///   - hasProgressed: Whether some output was taken since the last call.
    ///   - hasUnreadInput: Whether closing now would cause a reset.
    ///   - hasPermit: Whether the client has proved that it may have its response.
    ///   - now: The current time.
    ///   - limits: The server's limits.
    mutating func paused(
        isPending: Bool, hasProgressed: Bool, hasUnreadInput: Bool, hasPermit: Bool, now: Moment,
        limits: borrowing ServerLimits
    ) -> Pause {
        noteStranger(isPending: isPending, hasPermit: hasPermit, now)
        if !isPending {
            outputDeadline = nil
            outputCheck = nil
        } else if hasProgressed || outputDeadline == nil {
            outputDeadline = now + limits.writeTimeout
            // Bytes that were just written are still in transit. If the client takes them, it does so soon, not at the
            // end of the time limit.
            outputCheck = now + limits.writeTimeout / 60
        }
        guard !isPending else { return .wait }
        switch phase {
        case .awaiting:
            // The idle time begins when the client has all of the last response.
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

    /// Records the time since which a client without a permit is being waited for.
    private mutating func noteStranger(isPending: Bool, hasPermit: Bool, _ now: Moment) {
        let waits =
            switch phase {
            case .body, .upgraded: true
            case .awaiting, .sending, .finishing: isPending
            case .handling: handlesStranger
            case .head, .lingering, .closed: false
            }
        if waits { idleSince = hasPermit ? nil : idleSince ?? now }
    }

    /// Whether it is time, before ``expired(_:limits:)``, to check if the client has taken output that was written
    /// earlier.
    func isOutputCheckDue(_ now: Moment) -> Bool {
        outputCheck.map { $0 <= now } ?? false
    }

    /// Records a check of the client's progress. The client's time limit begins with the first check, and again
    /// whenever it has taken some output, with a delay of up to a sixth of the limit. `taken` is also true for the
    /// first check, which has no earlier value.
    mutating func outputWasSeen(taken: Bool, _ now: Moment, limits: borrowing ServerLimits) {
        guard let outputDeadline else { return }
        let deadline = taken ? now + limits.writeTimeout : outputDeadline
        self.outputDeadline = deadline
        outputCheck = min(deadline, now + limits.writeTimeout / 6)
    }

    mutating func close() {
        phase = .closed
        idleSince = nil
        phaseDeadline = nil
        outputDeadline = nil
        outputCheck = nil
    }
}

// MARK: - Time

extension ConnectionState {
    /// The action for a deadline that has passed.
    enum Expiry: Equatable {
        case nothing
        case close
        /// End with an RST, so that the kernel's buffer does not wait for the client, too.
        case reset
        case refuse(HTTPStatus)
        /// Send an interim response, to which the system of a client that has left replies with an RST.
        case probe
    }

    /// Checks the deadlines; may be called at any time.
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
        case .awaiting, .lingering: return .close
        case .handling:
            self.phaseDeadline = nil
            return .probe
        case .sending, .upgraded, .finishing, .closed:
            self.phaseDeadline = nil
            return .nothing
        }
    }

    /// Begins the shutdown: current requests are the last. Between requests and in the middle of a head, the connection
    /// ends immediately, since no response is due. A body that is arriving has ``ServerLimits/stopGrace``.
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
