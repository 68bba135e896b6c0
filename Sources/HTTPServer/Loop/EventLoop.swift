internal import CSystem
internal import Synchronization
internal import System

/// One thread of the server. It waits for sockets, messages and deadlines, and serves connections.
struct EventLoop: ~Copyable {
    private let group: LoopGroup
    private let limits: ServerLimits
    private let member: LoopGroup.Member
    private var context: LoopContext
    private var poller: Poller
    /// The listeners; empty once the stop has begun.
    private var listeners: [Listener]
    private var connections = ConnectionTable()
    private var deadlines = DeadlineHeap<ConnectionID>()
    /// Connections that used up their share of a loop pass and could continue.
    private var queue: [ConnectionBox] = []
    private var messages: [Message] = []
    /// The time of the next attempt to accept, while accepting is paused.
    private var acceptsAgain: Moment?
    private var stopDeadline: Moment?

    /// The tokens that no connection has: of the wake-up, and, in descending order, of the listeners.
    private static let wakeupToken = UInt64.max
    private static let maximumListeners: UInt64 = 3
    /// The maximum number of connections accepted per loop pass, before the existing ones are served.
    private static let acceptsPerRound = 32
    /// The maximum wait of a loop without deadlines.
    private static let longestWait: Duration = .seconds(60)

    /// Creates a loop and runs it on the calling thread. It ends immediately if a required descriptor is not available.
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

    /// Serves until the last connection has ended after a stop.
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
        // Relative to the beginning of the loop pass, which saves a system call. The wait then ends late by the
        // duration of the pass.
        return context.now.distance(to: earliest)
    }

    private mutating func handle(_ event: Poller.Event) {
        switch event.token {
        case Self.wakeupToken: break
        case (Self.wakeupToken - Self.maximumListeners)..<Self.wakeupToken:
            accept(from: Int(Self.wakeupToken - event.token) - 1, atMost: Self.acceptsPerRound)
        default:
            guard let box = connections[ConnectionID(token: event.token)] else { return }
            box.connection.handle(event, &context)
            finishPass(of: box)
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
            guard let box = connections[id] else { return response.discardBody() }
            box.connection.respond(to: request, &response, &context)
            finishPass(of: box)
        case .answer(let id, let number, let answer):
            guard let box = connections[id] else { return }
            box.connection.answer(number, answer, &context)
            finishPass(of: box)
        case .wake(let id):
            guard let box = connections[id] else { return }
            box.connection.wake(&context)
            finishPass(of: box)
        case .endRevoked:
            for box in connections.all {
                box.connection.endIfRevoked(&context)
                finishPass(of: box)
            }
        case .closeIfIdle(let id, let since): closeIfIdle(id, since)
        case .stop(let deadline): stop(context.translation.moment(of: deadline))
        }
    }

    private mutating func runQueue() {
        guard !queue.isEmpty else { return }
        var queued: [ConnectionBox] = []
        swap(&queued, &queue)
        for box in queued {
            box.connection.isQueued = false
            guard !box.connection.isClosed else { continue }
            box.connection.advance(&context)
            finishPass(of: box)
        }
    }

    /// Ends the service of a connection in a loop pass: removes a closed one, and schedules the others.
    private mutating func finishPass(of box: ConnectionBox) {
        let actions = box.connection.takeLoopActions()
        if actions.isClosed { return remove(box) }
        box.entry.idleSince = box.connection.state.idleSince
        if actions.isToBeQueued { queue.append(box) }
        if let deadline = actions.deadline { deadlines.insert(deadline, box.connection.id) }
    }

    private mutating func remove(_ box: ConnectionBox) {
        let id = box.connection.id
        guard connections[id] != nil else { return }
        connections.remove(id)
        group.registry.remove(box.entry)
        member.connections.subtract(1, ordering: .relaxed)
        // A descriptor is about to be closed.
        if acceptsAgain != nil { acceptsAgain = context.now }
    }

    private mutating func checkDeadlines() {
        while let entry = deadlines.popDue(context.now) {
            // An entry that an earlier one has overtaken stays in the heap, but has no effect.
            guard let box = connections[entry.owner], box.connection.scheduled == entry.time else { continue }
            box.connection.scheduled = nil
            box.connection.checkTime(&context)
            finishPass(of: box)
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
            case .connection(let socket, let peer): assign(socket, peer)
            case .none: return
            case .exhausted: return pauseAccepting()
            }
        }
    }

    /// Passes a new connection to the loop that should serve it.
    private mutating func assign(_ socket: consuming Socket, _ peer: SocketAddress) {
        let target = stopDeadline == nil ? group.member(for: member) : member
        target.connections.add(1, ordering: .relaxed)
        guard target !== member else { return add(socket, peer) }
        if !target.mailbox.post(.adopt(descriptor: socket.release(), peer)) {
            target.connections.subtract(1, ordering: .relaxed)
        }
    }

    private mutating func add(_ socket: consuming Socket, _ peer: SocketAddress) {
        let id = connections.reserve()
        let isLast = pawl_is_reserved(socket.descriptor)
        guard let admission = group.registry.admit(id, member, from: peer, isLast: isLast, now: context.now) else {
            return drop(id)
        }
        for leaver in admission.leavers { displace(leaver) }
        guard (try? poller.add(connection: socket.descriptor, token: id.token)) != nil else {
            group.registry.remove(admission.entry)
            return drop(id)
        }
        let box = ConnectionBox(
            Connection(id: id, socket: socket, peer: peer, surplus: admission.refusal, context), admission.entry)
        connections.insert(id, box)
        if stopDeadline != nil {
            // The request may have arrived with the connection.
            box.connection.isReadable = true
            box.connection.stop(&context)
        }
        finishPass(of: box)
    }

    /// Removes an accepted connection that is not served.
    private mutating func drop(_ id: ConnectionID) {
        connections.remove(id)
        member.connections.subtract(1, ordering: .relaxed)
    }

    /// Makes the loop of a connection close it in favour of a new one.
    private mutating func displace(_ leaver: ConnectionRegistry.Leaver) {
        if leaver.entry.member === member {
            closeIfIdle(leaver.entry.id, leaver.since)
        } else {
            leaver.entry.member.mailbox.post(.closeIfIdle(leaver.entry.id, since: leaver.since))
        }
    }

    /// Closes a connection in favour of a new one, if it is still idle.
    private mutating func closeIfIdle(_ id: ConnectionID, _ since: Moment) {
        guard let box = connections[id] else { return }
        box.connection.closeIfIdle(since: since, &context)
        if !box.connection.isClosed { group.registry.keep(box.entry) }
        finishPass(of: box)
    }

    /// Pauses accepting, because no descriptor or memory is left, and closes the connection that has been idle for the
    /// longest. The poller would report the listeners again and again.
    private mutating func pauseAccepting() {
        ignoreListeners()
        acceptsAgain = context.now + limits.acceptPause
        if let leaver = group.registry.longestIdle(now: context.now) { displace(leaver) }
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
        // Connections in the listener's queue are established, so they get a response, too.
        for index in listeners.indices { accept(from: index, atMost: .max) }
        if acceptsAgain == nil { ignoreListeners() }
        acceptsAgain = nil
        for listener in listeners { listener.leave() }
        listeners = []
        for box in connections.all {
            box.connection.stop(&context)
            finishPass(of: box)
        }
    }

    private mutating func closeAll() {
        for box in connections.all {
            box.connection.close(&context)
            finishPass(of: box)
        }
    }
}
