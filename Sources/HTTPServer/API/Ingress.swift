public import HTTPCore

/// How requests reach the server: through which proxies, and below which path.
///
/// A proxy hides what it stands before: the client's address, the scheme and the host that the client used, and the beginning of the path
/// if it takes that off. It says so in fields that anybody can send, so that they are believed of the proxies that are trusted only.
public struct Ingress: Sendable {
    /// Where the proxies connect from that are believed. Those that come over a Unix socket always are.
    public var trustedProxies: [AddressBlock] = []
    /// What stands before every path, unless a proxy takes it off.
    public var basePath = PathPrefix.none

    /// No proxy, and no prefix.
    public init() {}

    /// Fills in what a request says of the client, as it came from `peer`: where it comes from, its `Host` and scheme, and what its URL
    /// has before the path. The path is without that from then on.
    public func admit(_ request: inout Request, from peer: SocketAddress) {
        request.arrive(from: peer)
        var stripped = PathPrefix.none
        if peer.isUnixSocket || !trustedProxies.isEmpty, isTrusted(peer) { stripped = believe(&request) }
        request.linkPrefix = stripped
        guard !basePath.isEmpty else { return }
        if request.head.target.drop(basePath) {
            // A proxy may name the prefix although it leaves it in the path.
            if !stripped.ends(with: basePath) { request.linkPrefix = stripped + basePath }
        } else if stripped.isEmpty {
            request.linkPrefix = basePath
            request.isBelowBasePath = false
        }
    }

    /// Whether a proxy that is believed connects from that address.
    func isTrusted(_ peer: SocketAddress) -> Bool {
        peer.isUnixSocket || IPAddress(parsing: peer.host).map { isTrusted($0) } == true
    }

    private func isTrusted(_ address: IPAddress) -> Bool {
        trustedProxies.contains { $0.contains(address) || $0.contains(address.unmapped) }
    }

    /// Takes over what a trusted proxy says, and returns the prefix that it has taken off the path.
    private func believe(_ request: inout Request) -> PathPrefix {
        let fields = request.head.fields
        let route = route(fields)
        let standard = standardRoute(fields)
        // Many a proxy sets one of them and lets the other pass as the client sent it: then it is the client that contradicts.
        if let client = Self.agreed(route.client, standard.client) { request.peer = client }
        request.scheme = Self.agreed(route.scheme, standard.scheme)
        if let host = Self.agreed(route.host, standard.host) { request.head.fields.set(.host, host) }
        return route.prefix
    }

    /// What both say, or the one that says anything; nil if they contradict each other.
    private static func agreed<Value: Equatable>(_ one: Value?, _ other: Value?) -> Value? {
        guard let one, let other else { return one ?? other }
        return one == other ? one : nil
    }

    /// What the fields say of the client.
    private struct Route {
        var client: SocketAddress?
        var scheme: String?
        var host: String?
        var prefix = PathPrefix.none

        /// Only what we could be reached by.
        mutating func take(scheme text: String) {
            if text == "http" || text == "https" { scheme = text }
        }
    }

    /// What `Forwarded` says: RFC 7239. Each proxy appends an element, so that it is read from its end, for as long as who sent the
    /// request on is one of the trusted.
    private func standardRoute(_ fields: borrowing Fields) -> Route {
        var route = Route()
        guard let field = fields.combined(.forwarded), let elements = ForwardedElement.list(parsing: field) else { return route }
        for element in elements.reversed() {
            if let scheme = element.scheme { route.take(scheme: scheme) }
            if let host = element.host { route.host = host }
            guard let node = element.node, goesOn(behind: node, &route) else { break }
        }
        return route
    }

    /// What the fields say that were in use before the standard, and are.
    private func route(_ fields: borrowing Fields) -> Route {
        var route = Route()
        // Our peer, and each that is skipped, has appended a member to each of the fields, unless it has replaced what was there.
        var hops = 1
        for member in Self.members(.xForwardedFor, fields).reversed() {
            guard let node = ForwardedNode(parsingMember: member), goesOn(behind: node, &route) else { break }
            hops += 1
        }
        if let scheme = Self.members(.xForwardedProto, fields).suffix(hops).first { route.take(scheme: scheme.lowercased()) }
        if let host = Self.members(.xForwardedHost, fields).suffix(hops).first, Authority.isValid(host) { route.host = host }
        let prefixes = Self.members(.xForwardedPrefix, fields).suffix(hops)
        let parsed = prefixes.compactMap { PathPrefix(parsing: $0) }
        if parsed.count == prefixes.count { route.prefix = parsed.reduce(.none, +) }
        return route
    }

    /// Takes a node for the client, and says whether it is a proxy that is trusted to tell who sent it the request.
    private func goesOn(behind node: ForwardedNode, _ route: inout Route) -> Bool {
        guard case .address(let address, let port) = node else { return false }
        route.client = SocketAddress(host: address.description, port: port ?? 0)
        return isTrusted(address)
    }

    /// The members of a list in which quotes mean nothing: who sends one cannot hide what a proxy appends.
    private static func members(_ name: FieldName, _ fields: borrowing Fields) -> [String] {
        guard let field = fields.combined(name) else { return [] }
        let isSpace = { (character: UInt8) in character == UInt8(ascii: " ") || character == UInt8(ascii: "\t") }
        return field.utf8.split(separator: UInt8(ascii: ",")).compactMap { member in
            let text = Array(member.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
            return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
        }
    }
}
