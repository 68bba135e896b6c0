public import HTTPCore

/// Decides where transfers may go: everywhere on the public Internet, but not into the private network that the service stands in.
///
/// A URL that somebody else chose must not reach loopback, the local network or a cloud's metadata service (server-side request
/// forgery). Two checks are needed: of the host as it is written, for an early and clear answer, and of each address that is
/// actually connected to. The second one is decisive, because a name can resolve to anything, and to something else the next time.
public struct DestinationGuard: Sendable, Equatable {
    /// What a check of a host or an address.
    public enum Verdict: Sendable, Equatable {
        /// May be connected to.
        case allowed
        /// Must not be connected to; the text says which destination and why.
        case forbidden(String)
        /// A name without a rule: its addresses decide, when they are known.
        case dependsOnAddress
    }

    /// Whether special-use addresses are allowed; see ``IPAddress/specialUse``.
    public let allowsPrivate: Bool
    /// What is allowed besides.
    public let allowed: [AllowedDestination]

    /// A guard that lets through public addresses, those that a rule names, and with `allowsPrivate` all others as well.
    public init(allowsPrivate: Bool = false, allowed: [AllowedDestination] = []) {
        self.allowsPrivate = allowsPrivate
        self.allowed = allowed
    }

    /// Checks a host as it stands in a URL, without resolving it: literals in every spelling, `localhost` names, and rules.
    public func judge(host: String, port: Int) -> Verdict {
        if allowsPrivate { return .allowed }
        let name = HostSpelling.normalize(host)
        if allowed.contains(where: { $0.allows(host: name, port: port) }) { return .allowed }
        if let address = IPAddress(parsingLeniently: name) { return judge(address, port: port, forHost: name) }
        // RFC 6761 §6.3: localhost and the names below it are loopback.
        if name == "localhost" || name.hasSuffix(".localhost") { return .forbidden("\(host) (this machine)") }
        if IPAddress.looksNumeric(name) { return .forbidden("\(host), which is not a valid IPv4 address") }
        if let problem = HostSpelling.problem(name) { return .forbidden("\(host), which \(problem)") }
        return .dependsOnAddress
    }

    /// Checks an address that a connection for `host` is about to use, or uses.
    public func judge(_ address: IPAddress, port: Int, forHost host: String) -> Verdict {
        if allowsPrivate { return .allowed }
        guard let use = address.specialUse else { return .allowed }
        if allowed.contains(where: { $0.allows(address, port: port) }) { return .allowed }
        let name = HostSpelling.normalize(host)
        if allowed.contains(where: { $0.allows(host: name, port: port) }) { return .allowed }
        let text = address.description
        return .forbidden(text == host ? "\(text) (\(use))" : "\(host) at \(text) (\(use))")
    }
}
