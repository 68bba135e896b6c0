internal import HTTPCore

/// Who may ask: by the `Host` a request names and by the token it carries.
struct AccessPolicy: Sendable {
    private let hosts: [AllowedHost]
    /// Those of them that are whole names or IPv4 addresses, as bytes.
    private let plainHosts: [[UInt8]]
    private let token: AccessToken?

    init(_ configuration: Configuration) {
        hosts = AllowedHost.defaults(boundTo: configuration.host) + configuration.allowedHosts
        plainHosts = hosts.compactMap(\.plainName)
        token = configuration.token
    }

    /// Complains of a `Host` that is not one of ours: what a name looks like that somebody rebound to our address.
    func checkHost(_ fields: borrowing Fields) throws(Problem) {
        // Only HTTP/1.0 may leave it out (RFC 9112 §3.2), and no browser does.
        guard let sent = fields.bytes(.host) else { return }
        // Nearly every request names the host as itself or with a port behind it.
        if plainHosts.contains(where: { Self.names($0, sent) }) { return }
        let authority = String(decoding: sent, as: UTF8.self)
        guard let name = AllowedHost.name(ofAuthority: authority), hosts.contains(where: { $0.allows(name) }) else {
            throw Problem(
                .hostNotAllowed, "the Host '\(authority)' is not one this service answers to; --allowed-host adds one")
        }
    }

    /// Whether a Host field is that name in lower case, with or without a port.
    private static func names(_ host: [UInt8], _ sent: ArraySlice<UInt8>) -> Bool {
        guard sent.count >= host.count else { return false }
        let bytes = sent.span
        for index in host.indices where bytes[index] != host[index] { return false }
        guard bytes.count > host.count else { return true }
        guard bytes[host.count] == UInt8(ascii: ":"), bytes.count <= host.count + 6 else { return false }
        for index in host.count + 1..<bytes.count where !(0x30...0x39).contains(bytes[index]) { return false }
        return true
    }

    /// Complains of a missing or wrong token.
    func checkToken(_ fields: borrowing Fields) throws(Problem) {
        guard let token else { return }
        let count = fields.values(.authorization).count
        guard count <= 1 else {
            // RFC 9110 §11.6.2 knows one. Which of several counts is guessed differently by each program on the way.
            throw Problem(.unauthorized, "the request carries \(count) Authorization fields; send one")
        }
        guard let authorization = fields.bytes(.authorization) else {
            throw Problem(.unauthorized, "the request carries no token; send Authorization: Bearer <token>")
        }
        guard token.isCarried(by: authorization) else {
            throw Problem(.unauthorized, "the token is wrong; send Authorization: Bearer <token>")
        }
    }
}
