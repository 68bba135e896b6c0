internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration

/// What the log says of a request: of its target the path only, for a query may hold secrets.
struct RequestLogEntry: Sendable {
    private let method: String
    private let path: String
    private let id: String
    private let peer: String

    init(_ request: borrowing Request) {
        method = request.head.method.name
        path = String(decoding: request.head.target.rawPath, as: UTF8.self)
        id = request.id.description
        peer = request.peer.description
    }

    /// Writes the line, once the status of the response is known.
    func write(to log: Log, _ status: HTTPStatus, took duration: Duration) {
        log.write(
            .debug, "request",
            [
                ("method", .text(method)), ("path", .text(path)), ("status", .integer(Int64(status.code))),
                ("duration", .milliseconds(duration)), ("requestId", .text(id)), ("peer", .text(peer)),
            ])
    }
}
