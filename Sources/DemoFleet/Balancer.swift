internal import HTTPServer
internal import System

/// Passes TCP connections on to those replicas that are up, in turn. A connection stays with its replica, and ends with it, unless the
/// request under way can be sent to another one: see ``RelayedExchange``.
final class Balancer: Sendable {
    /// Where it listens.
    let address: SocketAddress
    private let listener: Listener
    private let poller: Poller.Instance
    private let wakeup: Wakeup
    private let wanted: Locked<Wanted>

    /// What others want of its thread.
    fileprivate struct Wanted {
        /// The replicas' ports on 127.0.0.1; nil for one that is not up.
        var ports: [Int?]
        var isStopping = false
    }

    /// The most bytes that wait for a slow reader. For the rest the one who sends has to wait.
    static let chunk = 65536

    /// Listens, and takes no connections before ``start()``.
    init(host: String, port: Int, replicas: Int) throws(ServerError) {
        listener = try Listener(host: host, port: port, users: 1, unsentBytes: Self.chunk)
        address = listener.address
        wanted = Locked(Wanted(ports: Array(repeating: nil, count: replicas)))
        do throws(SystemError) {
            poller = try Poller.Instance()
            wakeup = try Wakeup()
        } catch {
            throw .outOfResources("the balancer: \(error)")
        }
    }

    /// Takes connections from now on.
    func start() throws(SystemError) {
        let parts = BalancerLoop.Parts(listener: listener, poller: poller, wakeup: wakeup, wanted: wanted)
        try Thread.start(name: "pawl balancer") {
            do throws(SystemError) {
                var loop = try BalancerLoop(parts)
                loop.run()
            } catch {
                // Nobody is served. It can have only too little memory for one more descriptor to be watched.
            }
        }
    }

    /// A replica listens on this port of 127.0.0.1. With nil it gets no more connections, and those that it has end before long.
    func set(_ port: Int?, of replica: Int) {
        wanted.withLock { $0.ports[replica] = port }
        wakeup.signal()
    }

    /// Takes no more connections; those that there are go on until they end.
    func stop() {
        wanted.withLock { $0.isStopping = true }
        wakeup.signal()
    }
}

/// The balancer's thread.
private struct BalancerLoop: ~Copyable {
    struct Parts: Sendable {
        let listener: Listener
        let poller: Poller.Instance
        let wakeup: Wakeup
        let wanted: Locked<Balancer.Wanted>
    }

    /// The most connections at once, of two descriptors each. Further ones wait to be accepted.
    private static let mostRelays = 1000
    /// How often it looks after what no event tells of.
    private static let tick: Duration = .seconds(1)
    private static let listenerToken = UInt64.max
    private static let wakeupToken = UInt64.max - 1

    private let parts: Parts
    private var poller: Poller
    /// A relay's number is its sockets' token without the last bit, which tells them apart.
    private var relays: [UInt64: Relay] = [:]
    private var lastNumber: UInt64 = 0
    /// Those that may have something to pass on.
    private var ready: Set<UInt64> = []
    private var turn = 0
    private var isAccepting = false
    /// When the listener is looked at again, if it isn't at the moment.
    private var acceptsAgain = ContinuousClock.now
    private var buffer = [UInt8](repeating: 0, count: Balancer.chunk)

    init(_ parts: Parts) throws(SystemError) {
        self.parts = parts
        poller = Poller(parts.poller)
        try poller.add(wakeup: parts.wakeup.descriptor, token: Self.wakeupToken)
    }

    /// Works until it is stopped and the last connection has ended.
    mutating func run() {
        while true {
            let wanted = parts.wanted.withLock { $0 }
            if wanted.isStopping {
                if isAccepting { pauseAccepting() }
                parts.listener.leave()
                break
            }
            if !isAccepting, relays.count < Self.mostRelays, acceptsAgain <= .now { resumeAccepting() }
            round(wanted.ports)
        }
        while !relays.isEmpty { round(parts.wanted.withLock { $0.ports }) }
    }

    private mutating func round(_ ports: [Int?]) {
        let count = poller.wait(for: ready.isEmpty ? Self.tick : .zero)
        for index in 0..<count {
            let event = poller.event(at: index)
            switch event.token {
            case Self.wakeupToken: break
            case Self.listenerToken: accept(ports)
            default:
                let number = event.token >> 1
                guard let relay = relays[number] else { continue }
                relay.note(event, ofReplica: event.token & 1 == 1)
                ready.insert(number)
            }
        }
        let now = ContinuousClock.now
        for (number, relay) in relays {
            // One that has died has closed them already, and what it said before is still passed on. One that is stopped has not.
            if !ports.contains(relay.port) { relay.endSoon() }
            if let end = relay.end, end <= now { move(number, relay, ports) }
        }
        for number in ready {
            switch relays[number]?.pass(through: &buffer) {
            case .goOn: continue
            case .wait, nil: break
            case .over: relays[number] = nil
            case .lost:
                if let relay = relays[number] { move(number, relay, ports) }
                continue
            }
            ready.remove(number)
        }
    }

    private mutating func accept(_ ports: [Int?]) {
        while relays.count < Self.mostRelays {
            switch parts.listener.accept() {
            case .none: return
            case .exhausted: return pauseAccepting()
            case .connection(let client, _):
                // Without a replica that takes it, the client's connection is closed.
                guard let replica = nextReplica(ports) else { continue }
                let relay = Relay(client, replica)
                lastNumber += 1
                guard (try? relay.watch(with: poller, number: lastNumber)) != nil else { continue }
                relays[lastNumber] = relay
                ready.insert(lastNumber)
            }
        }
        pauseAccepting()
    }

    /// Connects to the next replica in turn that is up and takes connections.
    private mutating func nextReplica(_ ports: [Int?]) -> ConnectedReplica? {
        for _ in ports {
            turn = (turn + 1) % ports.count
            guard let port = ports[turn], let socket = Socket.connected(toPort: port) else { continue }
            return ConnectedReplica(socket: socket, port: port)
        }
        return nil
    }

    /// Sends the request under way to another replica, or ends the connection if that is not possible.
    private mutating func move(_ number: UInt64, _ relay: Relay, _ ports: [Int?]) {
        guard relay.canMove(among: ports.count), let replica = nextReplica(ports) else { return relays[number] = nil }
        relay.move(to: replica)
        guard (try? relay.watchReplica(with: poller, number: number)) != nil else { return relays[number] = nil }
        ready.insert(number)
    }

    private mutating func pauseAccepting() {
        poller.remove(parts.listener.descriptor)
        isAccepting = false
        acceptsAgain = .now + Self.tick
    }

    private mutating func resumeAccepting() {
        isAccepting = (try? poller.add(listener: parts.listener.descriptor, token: Self.listenerToken)) != nil
    }
}

/// A connection to a replica.
private struct ConnectedReplica: ~Copyable {
    let socket: Socket
    let port: Int
}

/// A client's connection, and the one to its replica.
private final class Relay {
    /// What passing on came to.
    enum Progress {
        /// There may be more to pass on at once.
        case goOn
        /// An event will tell of more.
        case wait
        /// Both sides have ended, or one is gone.
        case over
        /// The replica is gone, and another one can be asked.
        case lost
    }

    /// One side. What is known of it holds until a call says otherwise.
    private struct Side: ~Copyable {
        let socket: Socket
        var isReadable = true
        var isWritable = true

        init(_ socket: consuming Socket) { self.socket = socket }

        mutating func note(_ event: Poller.Event) {
            // What is broken tells so when it is used.
            if event.isReadable || event.isBroken { isReadable = true }
            if event.isWritable || event.isBroken { isWritable = true }
        }
    }

    /// One direction.
    private struct Flow {
        /// Taken from its source, and not yet passed on.
        var waiting: [UInt8] = []
        /// Whether the source has sent its FIN.
        var hasEnded = false
        /// Whether the target has been sent one.
        var isOver = false
    }

    /// How many steps one direction is given in a turn, before others have theirs.
    private static let share = 32
    /// How long a client has to take the rest and to close, after its replica has gone.
    private static let patience: Duration = .seconds(2)

    /// The replica's port.
    private(set) var port: Int
    /// When it is over at the latest.
    private(set) var end: ContinuousClock.Instant?
    private var client: Side
    private var replica: Side
    private var requests = Flow()
    private var answers = Flow()
    private var exchange = RelayedExchange()
    /// The number of times that another replica was asked.
    private var moves = 0

    init(_ client: consuming Socket, _ replica: consuming ConnectedReplica) {
        self.client = Side(client)
        port = replica.port
        self.replica = Side(replica.socket)
    }

    func note(_ event: Poller.Event, ofReplica: Bool) {
        if ofReplica { replica.note(event) } else { client.note(event) }
    }

    func watch(with poller: borrowing Poller, number: UInt64) throws(SystemError) {
        try poller.add(connection: client.socket.descriptor, token: number << 1)
        try watchReplica(with: poller, number: number)
    }

    func watchReplica(with poller: borrowing Poller, number: UInt64) throws(SystemError) {
        try poller.add(connection: replica.socket.descriptor, token: number << 1 | 1)
    }

    /// Whether another one of so many replicas can be asked.
    func canMove(among count: Int) -> Bool { exchange.isRepeatable && moves < count }

    func move(to replica: consuming ConnectedReplica) {
        moves += 1
        port = replica.port
        self.replica = Side(replica.socket)
        end = nil
        (requests.waiting, requests.isOver) = (exchange.request, false)
        answers = Flow()
    }

    /// Has an end before long, if there is none yet.
    func endSoon() {
        if end == nil { end = .now + Self.patience }
    }

    func pass(through buffer: inout [UInt8]) -> Progress {
        // Answers first: a replica that closes may have said why.
        var steps = [
            Self.pass(&answers, from: &replica, to: &client, through: &buffer, endsTarget: false) { exchange.noteAnswer($0) },
            Self.pass(&requests, from: &client, to: &replica, through: &buffer, endsTarget: true) { exchange.noteRequest($0) },
        ]
        let isLost = answers.hasEnded && answers.waiting.isEmpty || steps[0] == .sourceGone || steps[1] == .targetGone
        if isLost, exchange.isRepeatable { return .lost }
        if answers.hasEnded {
            steps[0] = Self.pass(&answers, from: &replica, to: &client, through: &buffer, endsTarget: true) { _ in }
        }
        if steps.contains(where: \.isOver) || requests.isOver && answers.isOver { return .over }
        if answers.isOver { endSoon() }
        return steps.contains(.goOn) ? .goOn : .wait
    }

    /// The result of passing on in one direction.
    private enum Step {
        case goOn, wait, sourceGone, targetGone

        var isOver: Bool { self == .sourceGone || self == .targetGone }
    }

    /// - Parameters:
    ///   - endsTarget: whether the target is sent a FIN once the source has sent one.
    ///   - note: gets the bytes that the source has sent.
    private static func pass(
        _ flow: inout Flow, from source: inout Side, to target: inout Side, through buffer: inout [UInt8], endsTarget: Bool,
        _ note: ([UInt8]) -> Void
    ) -> Step {
        for _ in 0..<share {
            if !flow.waiting.isEmpty {
                guard target.isWritable else { return .wait }
                switch target.socket.send(flow.waiting, 0..<flow.waiting.count, more: false) {
                case .moved(let count): flow.waiting.removeFirst(count)
                case .wouldBlock: target.isWritable = false
                case .ended, .failed: return .targetGone
                }
            } else if flow.hasEnded {
                guard endsTarget else { return .wait }
                if !flow.isOver { target.socket.endOutput() }
                flow.isOver = true
                return .wait
            } else {
                guard source.isReadable else { return .wait }
                switch source.socket.receive(into: &buffer, at: 0) {
                case .moved(let count):
                    flow.waiting = Array(buffer[..<count])
                    note(flow.waiting)
                case .wouldBlock: source.isReadable = false
                case .ended: flow.hasEnded = true
                case .failed: return .sourceGone
                }
            }
        }
        return .goOn
    }
}
