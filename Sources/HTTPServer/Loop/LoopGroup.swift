internal import Synchronization
internal import System

/// The loops of one server, with the number of their connections and their mailboxes.
final class LoopGroup: Sendable {
    /// One event loop.
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
    /// The use of ``ServerLimits/bodyStorage``.
    let bodyStorage = SharedBudget()
    /// The use of ``ServerLimits/unlimitedSockets``.
    let unlimitedSockets = SharedBudget()
    /// The registry of all connections.
    let registry: ConnectionRegistry
    private let running: Atomic<Int>
    private let end = Outcome<Void>()

    init(loops: Int, limits: ServerLimits, ingress: Ingress = Ingress()) throws(SystemError) {
        registry = ConnectionRegistry(limits: limits, ingress: ingress)
        var members: [Member] = []
        for _ in 0..<loops { members.append(try Member()) }
        self.members = members
        running = Atomic(members.count)
    }

    /// The number of open connections of all loops.
    var connectionCount: Int {
        members.reduce(0) { $0 + $1.connections.load(ordering: .relaxed) }
    }

    /// Chooses the loop for a connection that `acceptor` has accepted: itself, unless another one has clearly fewer
    /// connections. A transfer costs a wake-up, so small differences are ignored.
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

    /// Records that a loop has ended.
    func ended() {
        if running.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 { end.set(()) }
    }

    /// Returns when all loops have ended.
    func allEnded() async { await end.value() }
}
