internal import CommandLine
internal import HTTPClient
internal import HTTPCore
internal import JSON
internal import PawlConfiguration

/// A client of a running service.
struct RemoteService: Sendable {
    /// The limits of the client, each with its reason.
    enum ClientLimits {
        /// The maximum size of a response in bytes: a page of 200 downloads, each with a track of maximum size.
        static let response = 64 << 20
        /// The time limit for a connection, after which the service is considered unreachable.
        static let connecting: Duration = .seconds(10)
        /// The time limit for a request: a search may wait for its source and for the source's rate budget.
        static let whole: Duration = .seconds(120)
        /// The time limit for silence in a stream: the service sends a comment every 4 s.
        static let silence: Duration = .seconds(45)
        /// The number of downloads in one page of a list: the service's maximum.
        static let page = 200
        /// The maximum number of pages read to resolve the beginning of an id.
        static let pages = 500
        /// The maximum number of downloads, and bytes of JSON, in one request to add them.
        static let batch = (items: 500, bytes: 512 << 10)
    }

    /// The URL of the service in messages.
    let name: String
    private let base: HTTPURL
    private let client: HTTPClient
    private let authorization: String?
    /// The key for notifications of the token; `nil` without a token.
    let notificationKey: String?

    /// Creates a client for the service of an invocation, without sending a request.
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
        notificationKey = configuration.token?.digest.notificationKey
        var settings = configuration.client
        settings.threads = 1
        do throws(ClientError) {
            client = try HTTPClient(configuration: settings)
        } catch {
            // The default certificates are not the user's mistake.
            throw settings.caFile == nil ? .local(error.message) : .usage(error.message)
        }
    }

    /// Closes all connections.
    func close() {
        client.shutdown()
    }

    /// Sends a request, and returns the JSON of the response; `null` if it has none.
    /// - Throws: The error of the request, or the service's problem.
    @discardableResult
    func send(
        _ method: String, _ path: String, query: [QueryItem] = [], body: JSONValue? = nil
    ) async throws(RemoteError) -> JSONValue {
        try await exchange(method, path, query: query, body: body).body
    }

    /// Sends a request, and returns status and JSON of the successful response.
    /// - Throws: The error of the request, or the service's problem.
    func exchange(
        _ method: String, _ path: String, query: [QueryItem] = [], body: JSONValue? = nil
    ) async throws(RemoteError) -> (status: Int, body: JSONValue) {
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
        let status = response.head.status.code
        return (status, try json(of: response.body, status: status))
    }

    /// Starts to read the events of all downloads into a sink, until the stream ends.
    func follow(_ sink: EventSink) -> TransferHandle {
        client.start(eventsRequest, sink: sink)
    }

    /// The request for the stream of all downloads' events.
    var eventsRequest: ClientRequest {
        var request = request("downloads/events", [])
        request.fields.append((name: "Accept", value: "text/event-stream"))
        request.headTimeout = ClientLimits.connecting
        // One byte in that time suffices: an idle stream has two bytes every 4 s.
        request.lowSpeedLimit = (0.001, ClientLimits.silence)
        return request
    }

    /// The JSON of a successful response. Throws the error that other responses stand for.
    func json(of body: [UInt8], status: Int) throws(RemoteError) -> JSONValue {
        let value = body.isEmpty ? JSONValue.null : (try? JSONValue(parsing: body))
        if (200...299).contains(status), let value { return value }
        if status == 401 { throw .unauthorized(server: name, hasToken: authorization != nil) }
        guard let code = value?["code"]?.string, let detail = value?["detail"]?.string, status >= 400 else {
            throw .notPawl(server: name, reason: "it responded with \(status)\(value == nil ? " without JSON" : "")")
        }
        throw .problem(ProblemCode(rawValue: code), detail: detail)
    }

    /// The error for a failed request.
    func remoteError(_ error: ClientError) -> RemoteError {
        switch error {
        case .invalidResponse(let reason): .notPawl(server: name, reason: reason)
        case .tooManyRedirects: .notPawl(server: name, reason: "it redirects to another URL")
        default: .unreachable(server: name, reason: error.message)
        }
    }

    private func request(_ path: String, _ query: [QueryItem]) -> ClientRequest {
        var request = ClientRequest(url: base.appending(path: path, query: query))
        request.connectTimeout = ClientLimits.connecting
        request.headTimeout = ClientLimits.whole
        // A redirect would turn a POST into a GET, and would not carry the token.
        request.maximumRedirects = 0
        if let authorization { request.fields.append((name: "Authorization", value: authorization)) }
        return request
    }
}
