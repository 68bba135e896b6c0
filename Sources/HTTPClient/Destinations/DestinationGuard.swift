public import HTTPCore

/// Decides where transfers may go: everywhere on the public Internet, but not into the private network that the service stands in.
///
/// A URL that somebody else chose must not reach this machine, its neighbours, the local network or a cloud's metadata service
/// (server-side request forgery). Two checks are needed: of the host as it is written, for an early and clear refusal, and of each
/// address that is actually connected to. The second one is decisive, because a name can resolve to anything, and to something else
/// the next time.
public struct DestinationGuard: Sendable {
    /// What a check of a host or an address.
    public enum Verdict: Sendable, Equatable {
        /// May be connected to.
        case allowed
        /// Must not be connected to; the text says which destination and why.
        case forbidden(String)
        /// A name without a rule: its addresses decide, when they are known.
        case dependsOnAddress
    }

    /// Whether special-use addresses, see ``IPAddress/specialUse``, and those near this machine are allowed.
    public let allowsPrivate: Bool
    /// What is allowed besides.
    public let allowed: [DestinationRule]
    /// What is forbidden whatever else allows it.
    public let denied: [DestinationRule]
    /// Where this machine stands at the moment; nil if that is not known.
    private let network: @Sendable () -> LocalNetwork?

    /// A guard that lets through public addresses that are not near, those that a rule names, and with `allowsPrivate` all others as
    /// well; but none that a rule denies.
    public init(allowsPrivate: Bool = false, allowed: [DestinationRule] = [], denied: [DestinationRule] = []) {
        self.init(allowsPrivate: allowsPrivate, allowed: allowed, denied: denied) { LocalNetworkReader.system.network }
    }

    /// The same on a machine that stands where `network` says.
    init(
        allowsPrivate: Bool = false, allowed: [DestinationRule] = [], denied: [DestinationRule] = [],
        network: @escaping @Sendable () -> LocalNetwork?
    ) {
        self.allowsPrivate = allowsPrivate
        self.allowed = allowed
        self.denied = denied
        self.network = network
    }

    /// The same guard, which lets these destinations through as well.
    public func allowing(_ rules: [DestinationRule]) -> DestinationGuard {
        DestinationGuard(allowsPrivate: allowsPrivate, allowed: allowed + rules, denied: denied, network: network)
    }

    /// Checks a host as it stands in a URL, without resolving it: literals in every spelling, names of this machine, of metadata services and
    /// of the cluster, and rules.
    /// - Parameter isResolvedElsewhere: whether a proxy resolves the name: then its addresses are never seen here.
    public func evaluate(host: String, port: Int, isResolvedElsewhere: Bool = false) -> Verdict {
        if allowsPrivate, denied.isEmpty { return .allowed }
        let name = HostSpelling.normalize(host)
        let address = IPAddress(parsingLeniently: name)
        let known = address == nil ? HostSpelling.knownName(name) : nil
        if !denied.isEmpty, denies(host: name, address.map { [$0] } ?? known?.addresses ?? [], port: port) {
            return .forbidden("\(host) (denied by --deny-destination)")
        }
        if allowsPrivate || allowed.contains(where: { $0.covers(host: name, port: port) }) { return .allowed }
        if let address { return evaluate(address, port: port, forHost: name) }
        if let use = known?.use ?? network()?.services[name] ?? (isResolvedElsewhere ? HostSpelling.useElsewhere(name) : nil) {
            return .forbidden("\(host) (\(use))")
        }
        if IPAddress.looksNumeric(name) { return .forbidden("\(host), which is not a valid IPv4 address") }
        if let problem = HostSpelling.problem(name) { return .forbidden("\(host), which \(problem)") }
        return .dependsOnAddress
    }

    /// Checks an address that a connection for `host` is about to use, or uses.
    public func evaluate(_ address: IPAddress, port: Int, forHost host: String) -> Verdict {
        if allowsPrivate, denied.isEmpty { return .allowed }
        let name = HostSpelling.normalize(host)
        let isDenied = !denied.isEmpty && denies(host: name, [address], port: port)
        let isAllowed =
            allowsPrivate || allowed.contains { $0.covers(address, port: port) || $0.covers(host: name, port: port) }
        guard let reason = isDenied ? "denied by --deny-destination" : isAllowed ? nil : use(of: address) else { return .allowed }
        let text = address.description
        return .forbidden("\(text == host ? text : "\(host) at \(text)") (\(reason))")
    }

    /// Whether a rule denies the host, which is in its one spelling, or one of its addresses, or an IPv4 address that they carry.
    private func denies(host: String, _ addresses: [IPAddress], port: Int) -> Bool {
        denied.contains { rule in
            rule.covers(host: host, port: port)
                || addresses.contains { rule.covers($0, port: port) || $0.carried.contains { rule.covers($0, port: port) } }
        }
    }

    /// Why an address is not to be reached without being asked for; nil for a public one that is not near.
    private func use(of address: IPAddress) -> String? {
        if let use = address.specialUse { return use }
        guard let network = network() else { return "perhaps this machine: the system does not tell its addresses" }
        for spelling in [address] + address.carried {
            if let use = network.use(of: spelling) { return use }
        }
        return nil
    }
}
