internal import HTTPCore

/// Who may ask: by the `Host` a request names and by the token it carries.
struct AccessPolicy: Sendable {
    private let hosts: [AllowedHost]
    private let token: AccessToken?

    init(_ configuration: Configuration) {
        hosts = AllowedHost.defaults(boundTo: configuration.host) + configuration.allowedHosts
        token = configuration.token
    }

    /// Complains of a `Host` that is not one of ours: what a name looks like that somebody rebound to our address.
    func checkHost(_ fields: borrowing Fields) throws(Problem) {
        // Only HTTP/1.0 may leave it out (RFC 9112 §3.2), and no browser does.
        guard let authority = fields[.host] else { return }
        guard let name = AllowedHost.name(ofAuthority: authority), hosts.contains(where: { $0.allows(name) }) else {
            throw Problem(
                .hostNotAllowed, "the Host '\(authority)' is not one this service answers to; --allowed-host adds one")
        }
    }

    /// Complains of a missing or wrong token.
    func checkToken(_ fields: borrowing Fields) throws(Problem) {
        guard let token else { return }
        guard let authorization = fields.bytes(.authorization) else {
            throw Problem(.unauthorized, "the request carries no token; send Authorization: Bearer <token>")
        }
        guard token.isCarried(by: authorization) else {
            throw Problem(.unauthorized, "the token is wrong; send Authorization: Bearer <token>")
        }
    }
}
