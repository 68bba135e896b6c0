public import HTTPCore

/// Restricts the destinations of transfers: the public Internet is allowed, the private network of the service is not.
///
/// A URL that a client or an origin chose must not lead to this machine, its neighbours, the local network or a cloud's
/// metadata service (server-side request forgery). There are two checks. The check of the host as written gives an
/// early and clear refusal. The check of each address of a connection is decisive, since a name can resolve to any
/// address, and to another one the next time.
public struct DestinationGuard: Sendable {
    /// The result of a check of a host or an address.
    public enum Verdict: Sendable, Equatable {
        /// The destination is allowed.
        case allowed
        /// The destination is forbidden; the text names it and gives the reason.
        case forbidden(String)
        /// A name without a rule: the decision depends on its addresses.
        case dependsOnAddress
    }

    /// Whether special-use addresses (``IPAddress/specialUse``) and addresses near this machine are allowed.
    public var allowsPrivate: Bool
    /// The rules of additional allowed destinations.
    public var allowed: [DestinationRule]
    /// The rules of forbidden destinations, which take precedence over all that allows them.
    public var denied: [DestinationRule]
    /// The local network of this machine at present; nil if it is not known.
    private let network: @Sendable () -> LocalNetwork?

    /// Creates a guard. It allows public addresses that are not near, and the destinations of the rules in `allowed`.
    /// With `allowsPrivate` it allows all others, too. Destinations of a rule in `denied` are always forbidden.
    public init(allowsPrivate: Bool = false, allowed: [DestinationRule] = [], denied: [DestinationRule] = []) {
        self.init(allowsPrivate: allowsPrivate, allowed: allowed, denied: denied) { LocalNetworkReader.system.network }
    }

    /// Creates a guard for a machine with the given local network.
    init(
        allowsPrivate: Bool = false, allowed: [DestinationRule] = [], denied: [DestinationRule] = [],
        network: @escaping @Sendable () -> LocalNetwork?
    ) {
        self.allowsPrivate = allowsPrivate
        self.allowed = allowed
        self.denied = denied
        self.network = network
    }

    /// Returns a guard that allows these destinations, too.
    public func allowing(_ rules: [DestinationRule]) -> DestinationGuard {
        DestinationGuard(allowsPrivate: allowsPrivate, allowed: allowed + rules, denied: denied, network: network)
    }

    /// Checks a host of a URL without resolving it: address literals in every spelling, rules, and names of this
    /// machine, of metadata services and of the cluster.
    /// - Parameter isResolvedElsewhere: Whether a proxy resolves the name, so that its addresses cannot be checked
    ///   here.
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

    /// Checks an address that a connection for `host` uses or is about to use.
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

    /// Whether a rule denies the normalised host, one of its addresses, or an IPv4 address that one of them carries.
    private func denies(host: String, _ addresses: [IPAddress], port: Int) -> Bool {
        denied.contains { rule in
            rule.covers(host: host, port: port)
                || addresses.contains { rule.covers($0, port: port) || $0.carried.contains { rule.covers($0, port: port) } }
        }
    }

    /// The reason why an address is forbidden without a rule; nil for a public address that is not near.
    private func use(of address: IPAddress) -> String? {
        if let use = address.specialUse { return use }
        guard let network = network() else { return "possibly this machine: the system does not list its addresses" }
        for spelling in [address] + address.carried {
            if let use = network.use(of: spelling) { return use }
        }
        return nil
    }
}
