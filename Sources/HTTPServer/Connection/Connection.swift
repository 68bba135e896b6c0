internal import HTTPCore

/// The connection of one client: the socket, bytes and task around a ``ConnectionState``.
///
/// It is a value in a ``ConnectionBox`` of one loop, and is used on that loop's thread only. The state that a loop's
/// connections share is passed as a parameter. So the compiler proves exclusive access, without checks at run time.
struct Connection: ~Copyable {
    let id: ConnectionID
    let socket: Socket
    let peer: SocketAddress
    /// The refusal for its requests if the connection is surplus; nil otherwise.
    let surplus: Refusal?
    var state: ConnectionState

    /// The socket's readiness as last reported, which is valid until a call would block.
    var isReadable = false
    var isWritable = true

    /// Bytes that have arrived but are not processed: a piece of a head, or requests after the current one.
    var input: [UInt8] = []
    /// Whether processing `input` requires more bytes.
    var needsMoreInput = false
    /// The parser of a head that arrives in pieces.
    var parser: RequestParser?
    /// The request whose body is arriving, between loop passes.
    var partialRequest: Request?
    /// The connection's part of the shared memory of bodies, in bytes.
    var heldStorage = 0
    var bodyRemaining: Int64 = 0
    var decoder: ChunkedDecoder?

    /// The output buffer; `output[sent...]` is still to be sent.
    var output: [UInt8] = []
    var sent = 0
    var hasProgressed = false
    var source = BodySource.none
    var exchange = Exchange()
    var task: Task<Void, Never>?

    /// While output waits: the bytes of the kernel for the client at the last look; nil before the first look.
    var heldByKernel: Int?

    /// The earliest time at which the loop checks this connection without an event.
    var scheduled: Moment?
    /// Whether there is more to do immediately, after the other connections.
    var needsPass = false
    /// Whether the connection is in the loop's queue.
    var isQueued = false

    init(
        id: ConnectionID, socket: consuming Socket, peer: SocketAddress, surplus: Refusal? = nil, _ loop: borrowing LoopContext
    ) {
        self.id = id
        self.socket = socket
        self.peer = peer
        self.surplus = surplus
        state = ConnectionState(now: loop.now, isSurplus: surplus != nil, limits: loop.limits)
    }

    var isClosed: Bool { state.phase == .closed }

    /// The time at which the loop must check the connection without an event of the poller.
    var deadline: Moment? {
        let due: Moment?
        switch source {
        case .none, .parts: return state.deadline
        case .stream(let source): due = pendingOutput == 0 ? source.due : nil
        case .webSocket(let source): due = source.state.deadline
        }
        guard let due else { return state.deadline }
        return state.deadline.map { min($0, due) } ?? due
    }

    /// Handles a change of the socket's readiness.
    mutating func handle(_ event: Poller.Event, _ loop: inout LoopContext) {
        guard !event.isBroken else { return close(&loop) }
        if event.isReadable { isReadable = true }
        if event.isWritable { isWritable = true }
        if event.peerEnded {
            state.peerEnded(loop.now, grace: halfCloseGrace(loop.limits))
            // The network of a client that has left may drop all that follows.
            socket.limitUnacknowledged(to: loop.limits.writeTimeout)
        }
        advance(&loop)
    }

    /// Continues as far as the socket, the request and fairness allow.
    mutating func advance(_ loop: inout LoopContext) {
        needsPass = false
        var reads = 0
        while !isClosed {
            produce(&loop)
            guard !isClosed, !needsPass else { break }
            guard state.readsInput, pendingOutput < loop.limits.outputBuffer else { break }
            if !input.isEmpty, !needsMoreInput {
                consumeInput(&loop)
            } else if isReadable {
                guard reads < Self.readsPerPass else {
                    needsPass = true
                    break
                }
                reads += 1
                read(&loop)
            } else {
                break
            }
        }
        pause(&loop)
    }

    /// The maximum number of reads per loop pass, before the other connections are served.
    static let readsPerPass = 4

    /// Decides how to wait for the next event, when all possible work is done.
    private mutating func pause(_ loop: inout LoopContext) {
        guard !isClosed else { return }
        let isPending = pendingOutput > 0 || isSendingMore
        if !isPending || hasProgressed { heldByKernel = nil }
        let pause = state.paused(
            isPending: isPending, hasProgressed: hasProgressed,
            hasUnreadInput: !input.isEmpty || isReadable, hasPermit: hasPermit, now: loop.now, limits: loop.limits)
        hasProgressed = false
        switch pause {
        case .wait: break
        case .close: close(&loop)
        case .linger: socket.endOutput()
        }
        if state.phase == .lingering { drain(&loop) }
        if pendingOutput == 0 { releaseOutput(&loop) }
    }

    /// Whether the client has proved that it may have its response.
    private var hasPermit: Bool {
        if exchange.permit != nil { return true }
        if case .webSocket(let source) = source { return source.socket.isAdmitted }
        return false
    }

    /// Checks the deadlines.
    mutating func checkTime(_ loop: inout LoopContext) {
        // The poller reports a socket as writable only when a good part of its buffer is free. A client that takes less
        // in the time, such as a media player that reads at playback speed, is still not stalled.
        if state.isOutputCheckDue(loop.now) {
            if case .parts(let source) = source, source.isUnlimited { limit(source, loop) }
            let held = heldByKernel
            heldByKernel = socket.unacknowledged
            // The first look has no earlier value, so the client's time begins with it.
            let isTaken = if let heldByKernel { held.map { heldByKernel < $0 } ?? true } else { false }
            state.outputWasSeen(taken: isTaken, loop.now, limits: loop.limits)
        }
        let isUnasked = state.phase == .awaiting || state.phase == .head
        switch state.expired(loop.now, limits: loop.limits) {
        case .nothing:
            switch source {
            case .none, .parts: break
            case .stream(let source): if source.isDue(loop.now) { advance(&loop) }
            case .webSocket(let source): checkTime(of: source, &loop)
            }
        case .close:
            guard isUnasked, let surplus else { return close(&loop) }
            refusePartialRequest(surplus, &loop)
            advance(&loop)
        case .reset: reset(&loop)
        case .probe:
            // RFC 9110 §15.2: HTTP/1.0 has no interim responses. HTTP/1.1 clients discard this one.
            guard exchange.version >= .http11 else { return close(&loop) }
            appendContinue(&loop)
            advance(&loop)
        case .refuse(let status):
            let late = Refusal(status: status, detail: "The request did not arrive in time.")
            refusePartialRequest(isUnasked ? surplus ?? late : late, &loop)
            advance(&loop)
        }
    }

    /// The time after a FIN at which a task's client is probed. One with HTTP/1.0 cannot be, and counts as left later.
    func halfCloseGrace(_ limits: borrowing ServerLimits) -> Duration {
        limits.halfCloseGrace * (exchange.version >= .http11 ? 1 : 5)
    }

    /// Gives way to a new connection: closes this one if it has been idle since the given moment and no request has
    /// just arrived.
    mutating func closeIfIdle(since: Moment, _ loop: inout LoopContext) {
        guard state.idleSince == since else { return }
        isReadable = true
        advance(&loop)
        guard state.idleSince == since else { return }
        // A close would leave a stranger's unread bytes in the kernel's memory. A client with a permit may still read them.
        let leavesBytes = pendingOutput > 0 || isSendingMore || socket.hasUnacknowledged
        if leavesBytes, !hasPermit { reset(&loop) } else { close(&loop) }
    }

    /// The actions of the loop for a connection after serving it.
    struct LoopActions {
        /// The connection must be removed.
        var isClosed = false
        /// The connection has more to do, after the others.
        var isToBeQueued = false
        /// The time at which the connection must be checked; nil: no new time.
        var deadline: Moment?
    }

    /// Returns the actions, and assumes that the loop carries them out.
    mutating func takeLoopActions() -> LoopActions {
        var actions = LoopActions(isClosed: isClosed)
        if isClosed { return actions }
        if needsPass, !isQueued {
            isQueued = true
            actions.isToBeQueued = true
        }
        guard let deadline else { return actions }
        if let scheduled, scheduled <= deadline { return actions }
        scheduled = deadline
        actions.deadline = deadline
        return actions
    }

    /// Begins the shutdown of the connection.
    mutating func stop(_ loop: inout LoopContext) {
        advance(&loop)
        guard !isClosed else { return }
        state.stop(loop.now, limits: loop.limits)
        if state.phase == .finishing, pendingOutput == 0 {
            // A client in the middle of a head gets no response, so its further bytes need not be read.
            input = []
            abandonRequest(&loop)
        }
        if case .stream(let streaming) = source {
            streaming.stream.serverIsStopping()
            streaming.wait = .room
        }
        advance(&loop)
    }

    /// Ends the connection with an RST.
    mutating func reset(_ loop: inout LoopContext) {
        socket.resetOnClose()
        close(&loop)
    }

    /// Ends all work for this client. The socket is closed when the loop releases the connection.
    mutating func close(_ loop: inout LoopContext) {
        guard !isClosed else { return }
        // The client may still read the bytes. It has the same time for that as before the close.
        if socket.hasUnacknowledged { socket.limitUnacknowledged(to: loop.limits.writeTimeout) }
        state.close()
        task?.cancel()
        task = nil
        switch source {
        case .none, .parts: break
        case .stream(let streaming): streaming.stream.closed()
        case .webSocket(let webSocket): webSocket.finish()
        }
        source = .none
        input = []
        abandonRequest(&loop)
        sent = output.count
        releaseOutput(&loop)
    }

    /// Discards the request that is arriving.
    mutating func abandonRequest(_ loop: inout LoopContext) {
        parser = nil
        partialRequest = nil
        decoder = nil
        holdStorage(0, &loop)
    }
}

/// The object that holds a connection for the loop's table, queue and poller.
final class ConnectionBox {
    var connection: Connection
    /// The connection's entry in the registry of all loops.
    let entry: ConnectionRegistry.Entry

    init(_ connection: consuming Connection, _ entry: ConnectionRegistry.Entry) {
        self.connection = connection
        self.entry = entry
    }
}
