public import HTTPCore

/// The route of requests to the server: the trusted proxies, and the base path.
///
/// A proxy hides the client's address, and the scheme and host that the client used. It may also remove the beginning
/// of the path. It sends these in fields, which any client can send, too. So only trusted proxies' fields are used.
public struct Ingress: Sendable {
    /// The addresses of trusted proxies. All peers of a Unix socket are trusted.
    public var trustedProxies: [AddressBlock] = []
    /// The prefix of every path, unless a proxy removes it.
    public var basePath = PathPrefix.none

    /// Creates an ingress without proxies and without a prefix.
    public init() {}

    /// Sets a request's client address, `Host`, scheme and prefix of links, for a connection from `peer`. The prefix is
    /// removed from the path.
    public func admit(_ request: inout Request, from peer: SocketAddress) {
        request.arrive(from: peer)
        var stripped = PathPrefix.none
        if peer.isUnixSocket || !trustedProxies.isEmpty, isTrusted(peer) { stripped = believe(&request) }
        if !stripped.isEmpty { request.linkPrefix = stripped }
        guard !basePath.isEmpty else { return }
        if request.head.target.drop(basePath) {
            // A proxy may send the prefix in a field, but also leave it in the path.
            if !stripped.ends(with: basePath) { request.linkPrefix = stripped + basePath }
        } else if stripped.isEmpty {
            request.linkPrefix = basePath
            request.isBelowBasePath = false
        }
    }

    /// Whether the address belongs to a trusted proxy.
    func isTrusted(_ peer: SocketAddress) -> Bool {
        peer.isUnixSocket || IPAddress(parsing: peer.host).map { isTrusted($0) } == true
    }

    private func isTrusted(_ address: IPAddress) -> Bool {
        // A proxy that connects to `localhost` may come from ::1 as well as from 127.0.0.1.
        let other = address == .v6(1) ? .v4(0x7F00_0001) : address.unmapped
        return trustedProxies.contains { $0.contains(address) || $0.contains(other) }
    }

    /// Applies the fields of a trusted proxy; returns the prefix that it has removed from the path.
    private func believe(_ request: inout Request) -> PathPrefix {
        let fields = request.head.fields
        let route = route(fields)
        let standard = standardRoute(fields)
        // Many proxies set one kind of field and forward the other as the client sent it. A contradiction then comes
        // from the client.
        if let client = Self.agreed(route.client, standard.client) { request.peer = client }
        request.scheme = Self.agreed(route.scheme, standard.scheme)
        if let host = Self.agreed(route.host, standard.host) { request.head.fields.set(.host, host) }
        return route.prefix
    }

    /// The common value, or the only one; nil if the two differ.
    private static func agreed<Value: Equatable>(_ one: Value?, _ other: Value?) -> Value? {
        guard let one, let other else { return one ?? other }
        return one == other ? one : nil
    }

    /// The client, scheme, host and prefix in the fields.
    private struct Route {
        var client: SocketAddress?
        var scheme: String?
        var host: String?
        var prefix = PathPrefix.none

        /// Sets the scheme if it is http or https, by which the server can be reached.
        mutating func take(scheme text: String) {
            if text == "http" || text == "https" { scheme = text }
        }
    }

    /// Evaluates `Forwarded` (RFC 7239). Each proxy appends an element, so the field is read from its end, as long as
    /// the sender of the forwarded request is trusted.
    private func standardRoute(_ fields: borrowing Fields) -> Route {
        var route = Route()
        guard let field = fields.combined(.forwarded), let elements = ForwardedElement.list(parsing: field) else { return route }
        for element in elements.reversed() {
            if let scheme = element.scheme { route.take(scheme: scheme) }
            if let host = element.host { route.host = host }
            guard let node = element.node, continues(behind: node, &route) else { break }
        }
        return route
    }

    /// Evaluates the `X-Forwarded-` fields, which are older than the standard and still in use.
    private func route(_ fields: borrowing Fields) -> Route {
        var route = Route()
        // The peer and each skipped proxy have appended a member to each field, unless they replaced the field.
        var hops = 1
        for member in Self.members(.xForwardedFor, fields).reversed() {
            guard let node = ForwardedNode(parsingMember: member), continues(behind: node, &route) else { break }
            hops += 1
        }
        if let scheme = Self.members(.xForwardedProto, fields).suffix(hops).first { route.take(scheme: scheme.lowercased()) }
        if let host = Self.members(.xForwardedHost, fields).suffix(hops).first, Authority.isValid(host) { route.host = host }
        let prefixes = Self.members(.xForwardedPrefix, fields).suffix(hops)
        let parsed = prefixes.compactMap { PathPrefix(parsing: $0) }
        if parsed.count == prefixes.count { route.prefix = parsed.reduce(.none, +) }
        return route
    }

    /// Sets the client to a node; returns whether it is a trusted proxy, so that the node before it may be read.
    private func continues(behind node: ForwardedNode, _ route: inout Route) -> Bool {
        guard case .address(let address, let port) = node else { return false }
        route.client = SocketAddress(host: address.description, port: port ?? 0)
        return isTrusted(address)
    }

    /// The members of a list. Quotes have no meaning in it, so that a client cannot hide the members that a proxy
    /// appends.
    private static func members(_ name: FieldName, _ fields: borrowing Fields) -> [String] {
        guard let field = fields.combined(name) else { return [] }
        let isSpace = { (character: UInt8) in character == UInt8(ascii: " ") || character == UInt8(ascii: "\t") }
        return field.utf8.split(separator: UInt8(ascii: ",")).compactMap { member in
            let text = Array(member.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
            return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
        }
    }
}
