internal import HTTPCore
internal import Synchronization
internal import System

/// One thread's share of the work: it waits for sockets, messages and deadlines, and gives connections their turns.
struct EventLoop: ~Copyable {
    private let group: LoopGroup
    private let limits: ServerLimits
    private let member: LoopGroup.Member
    private var context: LoopContext
    private var poller: Poller
    /// Empty once it has begun to stop.
    private var listeners: [Listener]
    private var connections = ConnectionTable()
    private var deadlines = DeadlineHeap<ConnectionID>()
    /// Connections that had their share of a round and could go on.
    private var queue: [ConnectionSeat] = []
    private var messages: [Message] = []
    /// While nothing can be accepted: when to try again.
    private var acceptsAgain: Moment?
    private var stopDeadline: Moment?

    /// Tokens that no connection has: of the wake-up, and from there downwards of the listeners.
    private static let wakeupToken = UInt64.max
    private static let mostListeners: UInt64 = 2
    /// Connections accepted in a round, before those there are have their turn.
    private static let acceptsPerRound = 32
    /// Without a deadline the loop looks at its clock now and then all the same.
    private static let longestWait: Duration = .seconds(60)

    /// Makes a loop and runs it on the calling thread. Descriptors that it needs and can't have end it at once.
    static func run(
        group: LoopGroup, member: LoopGroup.Member, listeners: [Listener], application: any Application,
        configuration: ServerConfiguration
    ) {
        do throws(SystemError) {
            var loop = try EventLoop(
                group: group, member: member, listeners: listeners, application: application, configuration: configuration)
            loop.run()
        } catch {
            for listener in listeners { listener.leave() }
            for message in member.mailbox.close() { message.discard() }
            group.ended()
        }
    }

    private init(
        group: LoopGroup, member: LoopGroup.Member, listeners: [Listener], application: any Application,
        configuration: ServerConfiguration
    ) throws(SystemError) {
        self.group = group
        self.member = member
        self.listeners = listeners
        limits = configuration.limits
        context = LoopContext(
            application: application, configuration: configuration, mailbox: member.mailbox, bodyStorage: group.bodyStorage,
            unlimitedSockets: group.unlimitedSockets)
        poller = Poller(member.poller)
        try poller.add(wakeup: member.mailbox.wakeup.descriptor, token: Self.wakeupToken)
        try watchListeners()
    }

    /// Serves until a stop has been asked for and the last connection is gone.
    private mutating func run() {
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
        var earliest = deadlines.earliest ?? context.now + Self.longestWait
        if let acceptsAgain { earliest = min(earliest, acceptsAgain) }
        if let stopDeadline { earliest = min(earliest, stopDeadline) }
        // From the beginning of the round, which spares a look at the clock: late by what the round took.
        return context.now.distance(to: earliest)
    }

    private mutating func handle(_ event: Poller.Event) {
        switch event.token {
        case Self.wakeupToken: break
        case (Self.wakeupToken - Self.mostListeners)..<Self.wakeupToken:
            accept(from: Int(Self.wakeupToken - event.token) - 1, atMost: Self.acceptsPerRound)
        default:
            guard let seat = connections[ConnectionID(token: event.token)] else { return }
            seat.connection.handle(event, &context)
            finishTurn(of: seat)
        }
    }

    private mutating func readMessages() {
        member.mailbox.take(into: &messages)
        guard !messages.isEmpty else { return }
        for message in messages { handle(message) }
        messages.removeAll(keepingCapacity: messages.count <= 1024)
    }

    private mutating func handle(_ message: Message) {
        switch message {
        case .adopt(let descriptor, let peer): add(Socket(owning: descriptor), peer)
        case .response(let id, let request, var response):
            guard let seat = connections[id] else { return response.discardBody() }
            seat.connection.respond(to: request, &response, &context)
            finishTurn(of: seat)
        case .answer(let id, let number, let answer):
            guard let seat = connections[id] else { return }
            seat.connection.answer(number, answer, &context)
            finishTurn(of: seat)
        case .wake(let id):
            guard let seat = connections[id] else { return }
            seat.connection.wake(&context)
            finishTurn(of: seat)
        case .endRevoked:
            for seat in connections.all {
                seat.connection.endIfRevoked(&context)
                finishTurn(of: seat)
            }
        case .giveWay(let id, let since): giveWay(id, since)
        case .stop(let deadline): stop(context.translation.moment(of: deadline))
        }
    }

    private mutating func runQueue() {
        guard !queue.isEmpty else { return }
        var turns: [ConnectionSeat] = []
        swap(&turns, &queue)
        for seat in turns {
            seat.connection.isQueued = false
            guard !seat.connection.isClosed else { continue }
            seat.connection.turn(&context)
            finishTurn(of: seat)
        }
    }

    /// After every turn: forgets a connection that is closed, otherwise sees that it gets its next turn.
    private mutating func finishTurn(of seat: ConnectionSeat) {
        let actions = seat.connection.takeLoopActions()
        if actions.isClosed { return remove(seat) }
        seat.entry.idleSince = seat.connection.state.idleSince
        if actions.isToBeQueued { queue.append(seat) }
        if let deadline = actions.deadline { deadlines.insert(deadline, seat.connection.id) }
    }

    private mutating func remove(_ seat: ConnectionSeat) {
        let id = seat.connection.id
        guard connections[id] != nil else { return }
        connections.remove(id)
        group.registry.remove(seat.entry)
        member.connections.subtract(1, ordering: .relaxed)
        // A descriptor is about to be free.
        if acceptsAgain != nil { acceptsAgain = context.now }
    }

    private mutating func checkDeadlines() {
        while let entry = deadlines.popDue(context.now) {
            // Entries aren't taken out when they are overtaken by an earlier one: those belong to nobody any more.
            guard let seat = connections[entry.owner], seat.connection.scheduled == entry.time else { continue }
            seat.connection.scheduled = nil
            seat.connection.checkTime(&context)
            finishTurn(of: seat)
        }
        if let acceptsAgain, acceptsAgain <= context.now { resumeAccepting() }
        if let stopDeadline, stopDeadline <= context.now { closeAll() }
    }
}

// MARK: - Accepting

extension EventLoop {
    private mutating func watchListeners() throws(SystemError) {
        for (index, listener) in listeners.enumerated() {
            try poller.add(listener: listener.descriptor, token: Self.wakeupToken - 1 - UInt64(index))
        }
    }

    private mutating func ignoreListeners() {
        for listener in listeners { poller.remove(listener.descriptor) }
    }

    private mutating func accept(from index: Int, atMost limit: Int) {
        guard acceptsAgain == nil, index < listeners.count else { return }
        for _ in 0..<limit {
            switch listeners[index].accept() {
            case .connection(let socket, let peer): place(socket, peer)
            case .none: return
            case .exhausted: return pauseAccepting()
            }
        }
    }

    /// Gives a new connection to the loop that should have it.
    private mutating func place(_ socket: consuming Socket, _ peer: SocketAddress) {
        let target = stopDeadline == nil ? group.member(for: member) : member
        target.connections.add(1, ordering: .relaxed)
        guard target !== member else { return add(socket, peer) }
        if !target.mailbox.post(.adopt(descriptor: socket.release(), peer)) {
            target.connections.subtract(1, ordering: .relaxed)
        }
    }

    private mutating func add(_ socket: consuming Socket, _ peer: SocketAddress) {
        let id = connections.reserve()
        guard let admission = group.registry.admit(id, member, from: peer, now: context.now) else { return drop(id) }
        for leaver in admission.leavers {
            if leaver.entry.member === member {
                giveWay(leaver.entry.id, leaver.since)
            } else {
                leaver.entry.member.mailbox.post(.giveWay(leaver.entry.id, since: leaver.since))
            }
        }
        guard (try? poller.add(connection: socket.descriptor, token: id.token)) != nil else {
            group.registry.remove(admission.entry)
            return drop(id)
        }
        let seat = ConnectionSeat(
            Connection(id: id, socket: socket, peer: peer, surplus: admission.refusal, context), admission.entry)
        connections.insert(id, seat)
        if stopDeadline != nil {
            // The request may have come with the connection.
            seat.connection.isReadable = true
            seat.connection.stop(&context)
        }
        finishTurn(of: seat)
    }

    /// A connection that was accepted isn't served.
    private mutating func drop(_ id: ConnectionID) {
        connections.remove(id)
        member.connections.subtract(1, ordering: .relaxed)
    }

    /// Closes a connection for a new one, if it is idle still.
    private mutating func giveWay(_ id: ConnectionID, _ since: Moment) {
        guard let seat = connections[id] else { return }
        seat.connection.giveWay(since: since, &context)
        if !seat.connection.isClosed { group.registry.keep(seat.entry) }
        finishTurn(of: seat)
    }

    /// No descriptor or memory is left, and the listeners would report that again and again.
    private mutating func pauseAccepting() {
        ignoreListeners()
        acceptsAgain = context.now + limits.acceptPause
    }

    private mutating func resumeAccepting() {
        acceptsAgain = nil
        do throws(SystemError) {
            try watchListeners()
        } catch {
            pauseAccepting()
        }
    }
}

// MARK: - Stopping

extension EventLoop {
    private mutating func stop(_ deadline: Moment) {
        if let stopDeadline {
            self.stopDeadline = min(stopDeadline, deadline)
            return
        }
        stopDeadline = deadline
        // Whoever is in the listener's queue already shook hands with us: they get their response too.
        for index in listeners.indices { accept(from: index, atMost: .max) }
        if acceptsAgain == nil { ignoreListeners() }
        acceptsAgain = nil
        for listener in listeners { listener.leave() }
        listeners = []
        for seat in connections.all {
            seat.connection.stop(&context)
            finishTurn(of: seat)
        }
    }

    private mutating func closeAll() {
        for seat in connections.all {
            seat.connection.close(&context)
            finishTurn(of: seat)
        }
    }
}
