internal import HTTPCore
internal import Synchronization

/// One thread's share of the work: it waits for sockets, messages and deadlines, and gives connections their turns.
final class EventLoop {
    private let group: LoopGroup
    private let member: LoopGroup.Member
    private let context: LoopContext
    private var poller: Poller
    private var listener: Listener?
    private var connections = ConnectionTable()
    private var deadlines = DeadlineHeap<ConnectionID>()
    /// Connections that had their share of a round and could go on.
    private var queue: [Connection] = []
    private var messages: [Message] = []
    /// While nothing can be accepted: when to try again.
    private var acceptsAgain: ContinuousClock.Instant?
    private var stopDeadline: ContinuousClock.Instant?

    /// Tokens that no connection has.
    private static let listenerToken = UInt64.max
    private static let wakeupToken = UInt64.max - 1
    /// Connections accepted in a round, before those there are have their turn.
    private static let acceptsPerRound = 32

    init(
        group: LoopGroup, member: LoopGroup.Member, listener: Listener, application: any Application,
        configuration: ServerConfiguration
    ) throws(SystemError) {
        self.group = group
        self.member = member
        self.listener = listener
        context = LoopContext(application: application, configuration: configuration, mailbox: member.mailbox)
        poller = Poller(member.poller)
        try poller.add(wakeup: member.mailbox.wakeup.descriptor, token: Self.wakeupToken)
        try poller.add(listener: listener.descriptor, token: Self.listenerToken)
    }

    /// Serves until a stop has been asked for and the last connection is gone.
    func run() {
        while !isOver {
            let count = poller.wait(for: timeout)
            context.tick()
            for index in 0..<count { handle(poller.event(at: index)) }
            readMessages()
            checkDeadlines()
            runQueue()
        }
        for message in member.mailbox.close() {
            if case .adopt = message { member.connections.subtract(1, ordering: .relaxed) }
            message.discard()
        }
        group.ended()
    }

    private var isOver: Bool { stopDeadline != nil && connections.count == 0 }

    private var timeout: Duration {
        guard queue.isEmpty else { return .zero }
        var earliest = deadlines.earliest ?? context.now + .seconds(60)
        if let acceptsAgain { earliest = min(earliest, acceptsAgain) }
        if let stopDeadline { earliest = min(earliest, stopDeadline) }
        // From the beginning of the round, which spares a look at the clock: late by what the round took.
        return context.now.duration(to: earliest)
    }

    private func handle(_ event: Poller.Event) {
        switch event.token {
        case Self.listenerToken: accept(atMost: Self.acceptsPerRound)
        case Self.wakeupToken: break
        default:
            guard let connection = connections[ConnectionID(token: event.token)] else { return }
            connection.handle(event)
            settle(connection)
        }
    }

    private func readMessages() {
        member.mailbox.take(into: &messages)
        guard !messages.isEmpty else { return }
        for message in messages { handle(message) }
        messages.removeAll(keepingCapacity: messages.count <= 1024)
    }

    private func handle(_ message: Message) {
        switch message {
        case .adopt(let descriptor, let peer): add(Socket(owning: descriptor), peer)
        case .answer(let id, let request, var response):
            guard let connection = connections[id] else { return response.discardBody() }
            connection.answer(request, &response)
            settle(connection)
        case .wake(let id):
            guard let connection = connections[id] else { return }
            connection.wake()
            settle(connection)
        case .stop(let deadline): stop(deadline)
        }
    }

    private func runQueue() {
        guard !queue.isEmpty else { return }
        var turns: [Connection] = []
        swap(&turns, &queue)
        for connection in turns {
            connection.isQueued = false
            guard !connection.isClosed else { continue }
            connection.turn()
            settle(connection)
        }
    }

    /// After every turn: forgets a connection that is closed, otherwise sees that it gets its next turn.
    private func settle(_ connection: Connection) {
        guard !connection.isClosed else { return remove(connection) }
        if connection.wantsTurn, !connection.isQueued {
            connection.isQueued = true
            queue.append(connection)
        }
        guard let deadline = connection.deadline else { return }
        if let scheduled = connection.scheduled, scheduled <= deadline { return }
        connection.scheduled = deadline
        deadlines.insert(deadline, connection.id)
    }

    private func remove(_ connection: Connection) {
        guard connections[connection.id] != nil else { return }
        connections.remove(connection.id)
        member.connections.subtract(1, ordering: .relaxed)
        // A descriptor is about to be free.
        if acceptsAgain != nil { acceptsAgain = context.now }
    }

    private func checkDeadlines() {
        while let entry = deadlines.popDue(context.now) {
            // Entries aren't taken out when they are overtaken by an earlier one: those belong to nobody any more.
            guard let connection = connections[entry.owner], connection.scheduled == entry.time else { continue }
            connection.scheduled = nil
            connection.checkTime()
            settle(connection)
        }
        if let acceptsAgain, acceptsAgain <= context.now { resumeAccepting() }
        if let stopDeadline, stopDeadline <= context.now { closeAll() }
    }
}

// MARK: - Accepting

extension EventLoop {
    private func accept(atMost limit: Int) {
        guard acceptsAgain == nil, let listener else { return }
        for _ in 0..<limit {
            switch listener.accept() {
            case .connection(let socket, let peer): place(socket, peer)
            case .none: return
            case .exhausted: return pauseAccepting(listener)
            }
        }
    }

    /// Gives a new connection to the loop that should have it.
    private func place(_ socket: consuming Socket, _ peer: SocketAddress) {
        let target = stopDeadline == nil ? group.member(for: member) : member
        target.connections.add(1, ordering: .relaxed)
        guard target !== member else { return add(socket, peer) }
        if !target.mailbox.post(.adopt(descriptor: socket.release(), peer)) {
            target.connections.subtract(1, ordering: .relaxed)
        }
    }

    private func add(_ socket: consuming Socket, _ peer: SocketAddress) {
        let limits = context.limits
        let excess = group.connectionCount - limits.connections
        let id = connections.reserve()
        let descriptor = socket.descriptor
        guard excess <= limits.refusedConnections, (try? poller.add(connection: descriptor, token: id.token)) != nil else {
            connections.remove(id)
            member.connections.subtract(1, ordering: .relaxed)
            return
        }
        socket.disableDelay()
        let connection = Connection(id: id, socket: socket, peer: peer, loop: context)
        connections.insert(connection)
        if excess > 0 {
            connection.refuse(
                Refusal(status: .serviceUnavailable, detail: "The server has \(limits.connections) connections already."))
            connection.turn()
        } else if stopDeadline != nil {
            // The request may have come with the connection.
            connection.isReadable = true
            connection.stop()
        }
        settle(connection)
    }

    /// No descriptor or memory is left, and the listener would report that again and again.
    private func pauseAccepting(_ listener: Listener) {
        poller.remove(listener.descriptor)
        acceptsAgain = context.now + context.limits.acceptPause
    }

    private func resumeAccepting() {
        acceptsAgain = nil
        guard let listener else { return }
        do {
            try poller.add(listener: listener.descriptor, token: Self.listenerToken)
        } catch {
            acceptsAgain = context.now + context.limits.acceptPause
        }
    }
}

// MARK: - Stopping

extension EventLoop {
    private func stop(_ deadline: ContinuousClock.Instant) {
        if let stopDeadline {
            self.stopDeadline = min(stopDeadline, deadline)
            return
        }
        stopDeadline = deadline
        // Whoever is in the listener's queue already shook hands with us: they get their answer too.
        accept(atMost: .max)
        if let listener, acceptsAgain == nil { poller.remove(listener.descriptor) }
        acceptsAgain = nil
        listener?.leave()
        listener = nil
        for connection in connections.all {
            connection.stop()
            settle(connection)
        }
    }

    private func closeAll() {
        for connection in connections.all {
            connection.close()
            settle(connection)
        }
    }
}
