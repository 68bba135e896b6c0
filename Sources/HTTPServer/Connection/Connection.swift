internal import HTTPCore

/// One client's connection: the bytes, the socket and the task around a ``ConnectionState``.
///
/// Belongs to one loop and is used on its thread only.
final class Connection {
    let id: ConnectionID
    let socket: Socket
    let peer: SocketAddress
    let loop: LoopContext
    var state: ConnectionState

    /// The socket's readiness as last reported: true until a call says otherwise.
    var isReadable = false
    var isWritable = true

    /// Bytes that have come and whose turn hasn't: a piece of a head, or requests behind the one being answered.
    var input: [UInt8] = []
    /// Nothing can be done with `input` until more comes.
    var needsMoreInput = false
    /// The parser of a head that came in pieces.
    var parser: RequestParser?
    /// The request whose body is coming, while it isn't being worked on.
    var partialRequest: Request?
    var bodyRemaining: Int64 = 0
    var decoder: ChunkedDecoder?

    /// Bytes to be sent, `output[sent...]`.
    var output: [UInt8] = []
    var sent = 0
    var hasProgressed = false
    var source = BodySource.none
    var exchange = Exchange()
    var task: Task<Void, Never>?

    /// While output waits: what the kernel held for the client when that began, or was last seen to become less.
    var heldByKernel: Int?

    /// The earliest time at which the loop looks at this connection by itself.
    var scheduled: ContinuousClock.Instant?
    /// There is more to do at once, but others come first.
    var wantsTurn = false
    /// It is in the loop's list of those.
    var isQueued = false

    init(id: ConnectionID, socket: consuming Socket, peer: SocketAddress, loop: LoopContext) {
        self.id = id
        self.socket = socket
        self.peer = peer
        self.loop = loop
        state = ConnectionState(now: loop.now, limits: loop.limits)
    }

    var isClosed: Bool { state.phase == .closed }

    /// When the loop must look at it without being told by the poller.
    var deadline: ContinuousClock.Instant? {
        guard case .stream(let source) = source, pendingOutput == 0, let due = source.due else { return state.deadline }
        return state.deadline.map { min($0, due) } ?? due
    }

    /// Readiness has changed.
    func handle(_ event: Poller.Event) {
        guard !event.isBroken else { return close() }
        if event.isReadable { isReadable = true }
        if event.isWritable { isWritable = true }
        if event.peerEnded, state.peerEnded(loop.now, limits: loop.limits) == .close { return close() }
        turn()
    }

    /// Goes on as far as the socket, the request and fairness allow.
    func turn() {
        wantsTurn = false
        var reads = 0
        while !isClosed {
            produce()
            guard !isClosed, !wantsTurn else { break }
            guard state.readsInput, pendingOutput < loop.limits.outputBuffer else { break }
            if !input.isEmpty, !needsMoreInput {
                consumeInput()
            } else if isReadable {
                guard reads < Self.readsPerTurn else {
                    wantsTurn = true
                    break
                }
                reads += 1
                read()
            } else {
                break
            }
        }
        pause()
    }

    /// How often one connection reads before the others have their turn.
    private static let readsPerTurn = 4

    /// Sends what there is; decides how to wait for what comes next.
    private func pause() {
        guard !isClosed else { return }
        let isPending = pendingOutput > 0 || isSendingParts
        if !isPending {
            heldByKernel = nil
        } else if hasProgressed || heldByKernel == nil {
            heldByKernel = socket.unacknowledged
        }
        let pause = state.paused(
            isPending: isPending, hasProgressed: hasProgressed,
            hasUnreadInput: !input.isEmpty || isReadable, now: loop.now, limits: loop.limits)
        hasProgressed = false
        switch pause {
        case .wait: break
        case .close: close()
        case .linger: socket.endOutput()
        }
        if state.phase == .lingering { drain() }
        if pendingOutput == 0 { releaseOutput() }
    }

    /// A deadline may have passed.
    func checkTime() {
        // A socket is writable again when a third of its buffer is free. A client that takes less than that in the time, such as
        // a player that reads as fast as it plays, takes some nonetheless.
        if state.isOutputOverdue(loop.now), let held = heldByKernel, let left = socket.unacknowledged, left < held {
            heldByKernel = left
            state.outputTaken(loop.now, limits: loop.limits)
        }
        switch state.expired(loop.now, limits: loop.limits) {
        case .nothing:
            if case .stream(let source) = source, source.isDue(loop.now) { turn() }
        case .close: close()
        case .reset: reset()
        case .refuse(let status):
            if state.phase == .head { exchange = Exchange(number: exchange.number &+ 1) }
            abandonRequest()
            refuse(Refusal(status: status, detail: "The request did not arrive in time."))
            turn()
        }
    }

    /// The shutdown has begun.
    func stop() {
        turn()
        guard !isClosed else { return }
        state.stop()
        if case .stream(let streaming) = source {
            streaming.stream.serverIsStopping()
            streaming.wait = .room
        }
        turn()
    }

    /// Breaks the connection off with an RST.
    func reset() {
        socket.resetOnClose()
        close()
    }

    /// Ends everything that goes on for this client. The socket is closed when the loop lets go of the connection.
    func close() {
        guard !isClosed else { return }
        state.close()
        task?.cancel()
        task = nil
        if case .stream(let streaming) = source { streaming.stream.closed() }
        source = .none
        input = []
        abandonRequest()
        sent = output.count
        releaseOutput()
    }

    func abandonRequest() {
        parser = nil
        partialRequest = nil
        decoder = nil
    }
}
