import HTTPCore
import System

/// A reader of the local network, with a result that is at most a few seconds old. Any thread may use it.
///
/// Addresses change while a service runs: a lease ends, or a container joins a network. So the first caller after
/// ``validity`` reads them again, which takes some ten microseconds.
final class LocalNetworkReader: Sendable {
    /// The time for which a result is valid.
    static let validity: Duration = .seconds(5)
    /// The time from a failure to the next attempt.
    static let patience: Duration = .seconds(1)

    /// The reader of this process.
    static let system = LocalNetworkReader { () throws(SystemError) in try LocalNetwork.ofSystem() }

    private struct State {
        var network: LocalNetwork?
        var due: ContinuousClock.Instant?
    }

    private let state = Locked(State())
    private let now: @Sendable () -> ContinuousClock.Instant
    private let read: @Sendable () throws(SystemError) -> LocalNetwork

    /// Creates a reader with a function that reads the network, and a clock.
    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        read: @escaping @Sendable () throws(SystemError) -> LocalNetwork
    ) {
        self.now = now
        self.read = read
    }

    /// The network as last read; nil until the first success. A failure keeps the last result.
    var network: LocalNetwork? {
        let now = now()
        return state.withLock { state in
            if let due = state.due, now < due { return state.network }
            if let network = try? read() {
                state.network = network
                state.due = now + Self.validity
            } else {
                state.due = now + Self.patience
            }
            return state.network
        }
    }
}

extension LocalNetwork {
    /// Reads the network of the system. Without tables of routes, as where /proc is not mounted, it has only the
    /// interfaces.
    fileprivate static func ofSystem() throws(SystemError) -> LocalNetwork {
        let interfaces = try NetworkInterfaces.addresses().compactMap { entry -> Interface? in
            guard let address = IPAddress(networkOrder: entry.bytes) else { return nil }
            return Interface(
                name: entry.interface, address: address, prefixLength: entry.prefixLength,
                peer: entry.peer.flatMap(IPAddress.init(networkOrder:)), isPointToPoint: entry.isPointToPoint)
        }
        var network = LocalNetwork(
            interfaces, routesV4: String(decoding: (try? NetworkInterfaces.routesV4()) ?? [], as: UTF8.self),
            routesV6: String(decoding: (try? NetworkInterfaces.routesV6()) ?? [], as: UTF8.self),
            trieV4: String(decoding: (try? NetworkInterfaces.trieV4()) ?? [], as: UTF8.self))
        network.insertServices(ProcessEnvironment.variables(endingWith: LocalNetwork.serviceVariables))
        return network
    }
}
