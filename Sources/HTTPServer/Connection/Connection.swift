internal import HTTPCore

/// One client's connection: the bytes, the socket and the task around a ``ConnectionState``.
///
/// A value that sits in a ``ConnectionSeat`` of one loop and is used on its thread only. What the connections of a loop share is passed
/// in: so the compiler knows that nobody else touches either meanwhile, and nothing has to check that at run time.
struct Connection: ~Copyable {
    let id: ConnectionID
    let socket: Socket
    let peer: SocketAddress
    /// Why it is refused what it asks, if it is one too many.
    let surplus: Refusal?
    var state: ConnectionState

    /// The socket's readiness as last reported: true until a call says otherwise.
    var isReadable = false
    var isWritable = true

    /// Bytes that have come and whose turn hasn't: a piece of a head, or requests behind the one being handled.
    var input: [UInt8] = []
    /// Nothing can be done with `input` until more comes.
    var needsMoreInput = false
    /// The parser of a head that came in pieces.
    var parser: RequestParser?
    /// The request whose body is coming, while it isn't being worked on.
    var partialRequest: Request?
    /// What its body has of the storage that all bodies share, in bytes.
    var heldStorage = 0
    var bodyRemaining: Int64 = 0
    var decoder: ChunkedDecoder?

    /// Bytes to be sent, `output[sent...]`.
    var output: [UInt8] = []
    var sent = 0
    var hasProgressed = false
    var source = BodySource.none
    var exchange = Exchange()
    var task: Task<Void, Never>?

    /// While output waits: what the kernel held for the client when it was looked last; nil before the first look.
    var heldByKernel: Int?

    /// The earliest time at which the loop looks at this connection by itself.
    var scheduled: Moment?
    /// There is more to do at once, but others come first.
    var wantsTurn = false
    /// It is in the loop's list of those.
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

    /// When the loop must look at it without an event of the poller.
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

    /// Readiness has changed.
    mutating func handle(_ event: Poller.Event, _ loop: inout LoopContext) {
        guard !event.isBroken else { return close(&loop) }
        if event.isReadable { isReadable = true }
        if event.isWritable { isWritable = true }
        if event.peerEnded, state.peerEnded(loop.now, limits: loop.limits) == .close { return close(&loop) }
        turn(&loop)
    }

    /// Goes on as far as the socket, the request and fairness allow.
    mutating func turn(_ loop: inout LoopContext) {
        wantsTurn = false
        var reads = 0
        while !isClosed {
            produce(&loop)
            guard !isClosed, !wantsTurn else { break }
            guard state.readsInput, pendingOutput < loop.limits.outputBuffer else { break }
            if !input.isEmpty, !needsMoreInput {
                consumeInput(&loop)
            } else if isReadable {
                guard reads < Self.readsPerTurn else {
                    wantsTurn = true
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

    /// How often one connection reads before the others have their turn.
    static let readsPerTurn = 4

    /// Sends what there is; decides how to wait for what comes next.
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

    /// Whether the client has shown that it may have what it asks for.
    private var hasPermit: Bool {
        if exchange.permit != nil { return true }
        if case .webSocket(let source) = source { return source.socket.isAdmitted }
        return false
    }

    /// A deadline may have passed.
    mutating func checkTime(_ loop: inout LoopContext) {
        // A socket is writable again when a good part of its buffer is free. A client that takes less than that in the time, such as
        // a player that reads as fast as it plays, takes some nonetheless.
        if state.looksAtOutput(loop.now) {
            if case .parts(let source) = source, source.isUnlimited { limit(source, loop) }
            let held = heldByKernel
            heldByKernel = socket.unacknowledged
            // The first look has nothing to compare with: the client's time begins with it.
            let isTaken = if let heldByKernel { held.map { heldByKernel < $0 } ?? true } else { false }
            state.outputWasSeen(taken: isTaken, loop.now, limits: loop.limits)
        }
        let isUnasked = state.phase == .awaiting || state.phase == .head
        switch state.expired(loop.now, limits: loop.limits) {
        case .nothing:
            switch source {
            case .none, .parts: break
            case .stream(let source): if source.isDue(loop.now) { turn(&loop) }
            case .webSocket(let source): checkTime(of: source, &loop)
            }
        case .close:
            guard isUnasked, let surplus else { return close(&loop) }
            refusePartialRequest(surplus, &loop)
            turn(&loop)
        case .reset: reset(&loop)
        case .refuse(let status):
            let late = Refusal(status: status, detail: "The request did not arrive in time.")
            refusePartialRequest(isUnasked ? surplus ?? late : late, &loop)
            turn(&loop)
        }
    }

    /// A new connection needs this one's place. Closes it if it has been idle since that moment, and what has come just now is no request.
    mutating func giveWay(since: Moment, _ loop: inout LoopContext) {
        guard state.idleSince == since else { return }
        isReadable = true
        turn(&loop)
        if state.idleSince == since { close(&loop) }
    }

    /// What the loop must do about a connection after its turn.
    struct LoopActions {
        /// It can go.
        var isClosed = false
        /// It has more to do when the others have had their turn.
        var isToBeQueued = false
        /// It must be looked at at that time.
        var deadline: Moment?
    }

    /// Returns the actions, and assumes that the loop carries them out.
    mutating func takeLoopActions() -> LoopActions {
        var actions = LoopActions(isClosed: isClosed)
        if isClosed { return actions }
        if wantsTurn, !isQueued {
            isQueued = true
            actions.isToBeQueued = true
        }
        guard let deadline else { return actions }
        if let scheduled, scheduled <= deadline { return actions }
        scheduled = deadline
        actions.deadline = deadline
        return actions
    }

    /// The shutdown has begun.
    mutating func stop(_ loop: inout LoopContext) {
        turn(&loop)
        guard !isClosed else { return }
        state.stop(loop.now, limits: loop.limits)
        if state.phase == .finishing, pendingOutput == 0 {
            // Nothing is owed to a client in the middle of a head, and nothing it sent has to be read for it to learn that.
            input = []
            abandonRequest(&loop)
        }
        if case .stream(let streaming) = source {
            streaming.stream.serverIsStopping()
            streaming.wait = .room
        }
        turn(&loop)
    }

    /// Breaks the connection off with an RST.
    mutating func reset(_ loop: inout LoopContext) {
        socket.resetOnClose()
        close(&loop)
    }

    /// Ends everything that goes on for this client. The socket is closed when the loop lets go of the connection.
    mutating func close(_ loop: inout LoopContext) {
        guard !isClosed else { return }
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

    /// Forgets the request that is arriving.
    mutating func abandonRequest(_ loop: inout LoopContext) {
        parser = nil
        partialRequest = nil
        decoder = nil
        holdStorage(0, &loop)
    }
}

/// Where a connection sits while the loop's table, its queue and its poller know it by name.
final class ConnectionSeat {
    var connection: Connection
    /// What all loops know of it.
    let entry: ConnectionRegistry.Entry

    init(_ connection: consuming Connection, _ entry: ConnectionRegistry.Entry) {
        self.connection = connection
        self.entry = entry
    }
}
