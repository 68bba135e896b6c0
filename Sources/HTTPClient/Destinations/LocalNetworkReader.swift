import HTTPCore
import System

/// Knows where this machine stands, as of a few seconds ago. Any thread may ask.
///
/// Addresses come and go while a service runs: a lease ends, a container joins a network. So the system is asked again, by whoever
/// asks here first after a while; it takes some ten microseconds.
final class LocalNetworkReader: Sendable {
    /// How long an answer of the system holds.
    static let validity: Duration = .seconds(5)
    /// How long after a failure the system is asked again.
    static let patience: Duration = .seconds(1)

    /// That of this process.
    static let system = LocalNetworkReader { () throws(SystemError) in try LocalNetwork.ofSystem() }

    private struct State {
        var network: LocalNetwork?
        var due: ContinuousClock.Instant?
    }

    private let state = Locked(State())
    private let now: @Sendable () -> ContinuousClock.Instant
    private let read: @Sendable () throws(SystemError) -> LocalNetwork

    /// A reader that asks `read`, by the time that `now` tells.
    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        read: @escaping @Sendable () throws(SystemError) -> LocalNetwork
    ) {
        self.now = now
        self.read = read
    }

    /// What the system said last; nil as long as it has never said anything. A failure leaves the last answer as it is.
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
    /// Asks the system. Without its tables of routes, as where /proc is not mounted, the interfaces have to do.
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
