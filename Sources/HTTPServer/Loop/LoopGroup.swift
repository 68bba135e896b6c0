internal import Synchronization
internal import System

/// What the loops of one server know of each other: how many connections each has, and where to leave one.
final class LoopGroup: Sendable {
    /// One loop.
    final class Member: Sendable {
        let mailbox: Mailbox
        let poller: Poller.Instance
        let connections = Atomic<Int>(0)

        init() throws(SystemError) {
            mailbox = try Mailbox()
            poller = try Poller.Instance()
        }
    }

    let members: [Member]
    /// What bodies that are arriving take of ``ServerLimits/bodyStorage``.
    let bodyStorage = SharedBudget()
    /// Connections of all loops that are among the ``ServerLimits/unlimitedSockets``.
    let unlimitedSockets = SharedBudget()
    /// Which of all connections there is room for.
    let registry: ConnectionRegistry
    private let running: Locked<(count: Int, waiters: [CheckedContinuation<Void, Never>])>

    init(loops: Int, limits: ServerLimits, ingress: Ingress = Ingress()) throws(SystemError) {
        registry = ConnectionRegistry(limits: limits, ingress: ingress)
        var members: [Member] = []
        for _ in 0..<loops { members.append(try Member()) }
        self.members = members
        running = Locked((members.count, []))
    }

    /// Open connections of all loops.
    var connectionCount: Int {
        members.reduce(0) { $0 + $1.connections.load(ordering: .relaxed) }
    }

    /// The loop that should have a connection that `acceptor` has accepted: usually itself, unless another has clearly fewer.
    /// Handing over costs a wake-up, so it isn't done for small differences.
    func member(for acceptor: Member) -> Member {
        guard members.count > 1 else { return acceptor }
        let own = acceptor.connections.load(ordering: .relaxed)
        var best = acceptor
        var fewest = own - max(4, own / 8)
        for member in members {
            let count = member.connections.load(ordering: .relaxed)
            if count < fewest {
                best = member
                fewest = count
            }
        }
        return best
    }

    /// A loop has ended.
    func ended() {
        let waiters = running.withLock { running -> [CheckedContinuation<Void, Never>] in
            running.count -= 1
            guard running.count == 0 else { return [] }
            defer { running.waiters = [] }
            return running.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when all loops have ended.
    func allEnded() async {
        await withCheckedContinuation { continuation in
            let isOver = running.withLock { running in
                if running.count > 0 { running.waiters.append(continuation) }
                return running.count == 0
            }
            if isOver { continuation.resume() }
        }
    }
}
