internal import DownloadCore
internal import HTTPCore
internal import HTTPServer
internal import JSON
internal import PawlConfiguration

/// The log line of a request: its path without the query, which may hold secrets, and the name of its token.
struct RequestLogEntry: Sendable {
    /// Method and path; empty if the request could not be read.
    private let line: [(name: String, value: Log.Value)]
    private let id: String
    private let peer: SocketAddress

    init(_ request: borrowing Request) {
        line = [
            ("method", .text(request.head.method.name)),
            ("path", .text(Self.path(request))),
        ]
        id = request.id.description
        peer = request.peer
    }

    /// The path, with a placeholder for a key in it.
    private static func path(_ request: borrowing Request) -> String {
        let path = request.head.target.rawPath
        let listen = Aria2Address.listenPath
        return path.starts(with: listen.utf8) ? listen + "(hidden)" : String(decoding: path, as: UTF8.self)
    }

    /// The entry of a request that the server refused while it read it.
    init(refused request: borrowing Request) {
        line = []
        id = request.id.description
        peer = request.peer
    }

    /// Writes the line of a request, once the status of the response is known.
    func write(to log: Log, _ level: LogLevel, _ status: HTTPStatus, duration: Duration?, by caller: Caller?) {
        var values = line + [("status", .integer(Int64(status.code)))]
        if let duration { values.append(("duration", .milliseconds(duration))) }
        values += [("requestId", .text(id)), ("address", .text(peer.host))]
        log.write(level, "request", values + Self.token(caller))
    }

    /// Writes the log line of a change, at any level.
    func write(_ change: Endpoint.Change, to log: Log, _ response: borrowing Response, by caller: Caller?) {
        var values = Self.token(caller) + [("address", .text(peer.host)), ("requestId", .text(id))] + line
        values.append(("status", .integer(Int64(response.status.code))))
        if change.hasResult, response.status.isSuccessful {
            values.append(("result", .text(Self.result(response.body))))
        }
        log.writeAlways(change.line, values)
    }

    /// The text of a response, with the number of default webhooks in place of their URLs, which may hold secrets.
    private static func result(_ body: [UInt8]) -> String {
        guard case .object(let members) = try? JSONValue(parsing: body) else { return "" }
        let shown = members.map { member in
            guard member.name == ServiceSettings.webhooksName, let urls = member.value.array else { return member }
            return JSONMember(name: member.name, value: .integer(Int64(urls.count)))
        }
        return String(decoding: JSONValue.object(shown).serialized(), as: UTF8.self)
    }

    private static func token(_ caller: Caller?) -> [(name: String, value: Log.Value)] {
        caller?.name.map { [("token", .text($0))] } ?? []
    }
}
