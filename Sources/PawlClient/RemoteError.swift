internal import CommandLine
internal import HTTPCore

/// The error of a request to a service.
enum RemoteError: Error, Sendable, Equatable {
    /// The service is unreachable; the reason comes from the HTTP client.
    case unreachable(server: String, reason: String)
    /// The response is not one of a Pawl service, for this reason.
    case notPawl(server: String, reason: String)
    /// The token is wrong or missing.
    case unauthorized(server: String, hasToken: Bool)
    /// A problem (RFC 9457); the code is `nil` if this release does not know it.
    case problem(ProblemCode?, detail: String)
    /// The command line is wrong, as found before any request.
    case usage(String)
    /// A failure of this program.
    case local(String)

    /// A line of text with the error and a remedy.
    var message: String {
        switch self {
        case .unreachable(let server, let reason):
            "the service at \(server) is unreachable: \(reason); start one with 'pawl serve', or name another with --server or PAWL_SERVER"
        case .notPawl(let server, let reason):
            "the server at \(server) is not a Pawl service: \(reason); name another with --server or PAWL_SERVER, with its base path if it has one"
        case .unauthorized(let server, true): "\(server) refuses the given token"
        case .unauthorized(let server, false):
            "\(server) requires a token: give it with PAWL_TOKEN, --token-file PATH or --token TOKEN"
        case .problem(_, let detail): detail
        case .usage(let reason), .local(let reason): reason
        }
    }

    /// The exit status of the process after the error.
    var status: ExitStatus {
        switch self {
        case .unreachable, .notPawl: .unreachable
        case .unauthorized: .unauthorized
        case .usage: .usage
        case .problem, .local: .failed
        }
    }
}
