internal import CommandLine
internal import HTTPClient
internal import HTTPCore
internal import JSON
internal import PawlConfiguration

/// A running service, as a client sees it.
struct RemoteService: Sendable {
    /// All limits of a client, each with its reason.
    enum ClientLimits {
        /// The most bytes of a response: a page of 200 downloads, each with as large a track as is kept.
        static let response = 64 << 20
        /// A service that does not take a connection within this time is not there.
        static let connecting: Duration = .seconds(10)
        /// A search may wait for its source, and its turn there, that long.
        static let whole: Duration = .seconds(120)
        /// Comments come every 15 s: a stream that is silent for this long is dead.
        static let silence: Duration = .seconds(45)
        /// Downloads in one page of a list: what the service gives at most.
        static let page = 200
        /// Pages that are read to find an identifier by its beginning.
        static let pages = 500
        /// Downloads, and bytes of JSON, in one request to add them.
        static let batch = (items: 500, bytes: 512 << 10)
    }

    /// Where it is, as messages say it.
    let name: String
    private let base: HTTPURL
    private let client: HTTPClient
    private let authorization: String?

    /// The service that an invocation names; nothing is sent yet.
    init(_ invocation: Invocation) throws(RemoteError) {
        base = invocation.client.server
        name = base.string.hasSuffix("/") ? String(base.string.dropLast()) : base.string
        var configuration = invocation.configuration
        do throws(StartError) {
            try configuration.readToken()
        } catch {
            throw .usage(error.description)
        }
        authorization = configuration.token?.authorization
        var settings = ClientConfiguration()
        settings.threads = 1
        settings.caFile = configuration.caFile
        settings.userAgent = Program.userAgent
        do throws(ClientError) {
            client = try HTTPClient(configuration: settings)
        } catch {
            // Without a CA file, nothing that the user gave is to blame.
            throw settings.caFile == nil ? .local(error.message) : .usage(error.message)
        }
    }

    /// Ends all connections.
    func close() {
        client.shutdown()
    }

    /// Sends a request, and returns the response's JSON; `null` where it has none.
    /// - Throws: what was wrong, a problem of the service's included.
    @discardableResult
    func send(
        _ method: String, _ path: String, query: [QueryItem] = [], body: JSONValue? = nil
    ) async throws(RemoteError) -> JSONValue {
        var request = request(path, query)
        request.method = method
        request.totalTimeout = ClientLimits.whole
        if let body {
            request.body = .bytes(body.serialized())
            request.fields.append((name: "Content-Type", value: "application/json"))
        }
        let response: ClientResponse
        do throws(ClientError) {
            response = try await client.fetch(request, bodyLimit: ClientLimits.response)
        } catch {
            throw remoteError(error)
        }
        return try json(of: response.body, status: response.head.status.code)
    }

    /// Reads the events of all downloads into a sink, until the stream ends.
    func follow(_ sink: EventSink) -> TransferHandle {
        client.start(eventsRequest, sink: sink)
    }

    /// The request for the stream of all downloads' events.
    var eventsRequest: ClientRequest {
        var request = request("downloads/events", [])
        request.fields.append((name: "Accept", value: "text/event-stream"))
        request.headTimeout = ClientLimits.connecting
        // One byte in that time suffices: an idle stream has three bytes every 15 s.
        request.lowSpeedLimit = (0.001, ClientLimits.silence)
        return request
    }

    /// The JSON of a response, or the error that a response without success is.
    func json(of body: [UInt8], status: Int) throws(RemoteError) -> JSONValue {
        let value = body.isEmpty ? JSONValue.null : (try? JSONValue(parsing: body))
        if (200...299).contains(status), let value { return value }
        if status == 401 { throw .unauthorized(server: name, hasToken: authorization != nil) }
        guard let code = value?["code"]?.string, let detail = value?["detail"]?.string, status >= 400 else {
            throw .notPawl(server: name, reason: "it responds with \(status)\(value == nil ? " without JSON" : "")")
        }
        throw .problem(code: code, detail: detail)
    }

    /// What a failed request means here.
    func remoteError(_ error: ClientError) -> RemoteError {
        switch error {
        case .invalidResponse(let reason): .notPawl(server: name, reason: reason)
        case .tooManyRedirects: .notPawl(server: name, reason: "it redirects to somewhere else")
        default: .unreachable(server: name, reason: error.message)
        }
    }

    private func request(_ path: String, _ query: [QueryItem]) -> ClientRequest {
        var request = ClientRequest(url: base.appending(path: path, query: query))
        request.connectTimeout = ClientLimits.connecting
        // A redirect would turn a POST into a GET, and does not carry the token.
        request.maximumRedirects = 0
        if let authorization { request.fields.append((name: "Authorization", value: authorization)) }
        return request
    }
}
