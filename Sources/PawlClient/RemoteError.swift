internal import CommandLine

/// Why a request to a service failed.
enum RemoteError: Error, Sendable, Equatable {
    /// Nothing responds there; the reason is the HTTP client's.
    case unreachable(server: String, reason: String)
    /// What responds is no Pawl; the reason says how that shows.
    case notPawl(server: String, reason: String)
    /// The token is wrong, or missing.
    case unauthorized(server: String, hasToken: Bool)
    /// A problem (RFC 9457), by the contract's code.
    case problem(code: String, detail: String)
    /// The command line, or what it refers to, is wrong, as shows before anything is sent.
    case usage(String)
    /// Something is wrong on this side.
    case local(String)

    /// One line that says what is wrong, and what can be done.
    var message: String {
        switch self {
        case .unreachable(let server, let reason):
            "no service at \(server): \(reason); 'pawl serve' starts one, --server or PAWL_SERVER names another"
        case .notPawl(let server, let reason):
            "what responds at \(server) is no Pawl service: \(reason); --server or PAWL_SERVER names another"
        case .unauthorized(let server, true): "\(server) refuses the token that it was given"
        case .unauthorized(let server, false):
            "\(server) wants a token: give it by PAWL_TOKEN, --token-file PATH or --token TOKEN"
        case .problem(_, let detail): detail
        case .usage(let reason), .local(let reason): reason
        }
    }

    /// How the process ends by it.
    var status: ExitStatus {
        switch self {
        case .unreachable, .notPawl: .unreachable
        case .unauthorized: .unauthorized
        case .usage: .usage
        case .problem, .local: .failed
        }
    }
}
