internal import Aria2
internal import Catalog
internal import DownloadCore
internal import DownloadIndex
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON
internal import PawlConfiguration
internal import Subscriptions
internal import System

/// The service's HTTP interface: finds the endpoint of a request, checks that the client may use it, and responds.
///
/// Each group of endpoints has its own extension (`API+Downloads`, `API+Search`, …). Requests that only read memory are
/// answered on the event loop; those that have to wait are answered later.
final class API: Application {
    /// A response that is filled in, or work that will return it.
    enum RouteResult {
        case ready
        case later(@Sendable () async throws(Problem) -> Response)
    }

    let downloads: DownloadService
    let index: SnapshotIndex
    let catalog: Catalog
    let subscriptions: SubscriptionService
    let condition: ServiceCondition
    let metrics: ServiceMetrics
    let log: Log
    private let rendered: RenderedResources
    private let renderedWithoutSecrets: RenderedResources
    /// Renderings with other link prefixes, which only trusted proxies can request.
    private let renderedElsewhere = Locked<[Elsewhere: RenderedResources]>([:])
    let feedTags = FeedTags()
    let files = FileFields()
    /// The interface for clients of aria2; `nil` if it is disabled.
    let aria2: Aria2?
    let descriptors: DescriptorBudget
    private let logsRequests: Bool
    private let router = Router()
    let access: AccessPolicy
    let crossOrigin: CrossOriginPolicy

    /// The text of a problem about a path outside of the table. A client may have left out the base path.
    private let noSuchPath: String
    /// The Content-Security-Policy of the console's files.
    let consolePolicy: String
    /// Limits the number of lists and long messages processed at once to half of the processors. Downloads use the
    /// others.
    let readingLane = Lane(width: max(1, Thread.processorCount / 2))
    /// The maximum time that a request waits for the lane.
    static let readingLimit: Duration = .seconds(4)

    init(
        configuration: Configuration, tokens: [NamedToken] = [], downloads: DownloadService, catalog: Catalog,
        subscriptions: SubscriptionService,
        condition: ServiceCondition,
        metrics: ServiceMetrics, log: Log, descriptors: DescriptorBudget
    ) {
        self.descriptors = descriptors
        self.downloads = downloads
        index = downloads.index
        self.catalog = catalog
        self.subscriptions = subscriptions
        self.condition = condition
        self.metrics = metrics
        self.log = log
        let base = configuration.basePath.text
        noSuchPath =
            "this path does not exist; \(base.isEmpty ? "" : "all paths begin with \(base), and ")\(base)/openapi.yaml lists"
            + " all paths"
        logsRequests = configuration.logsRequests
        consolePolicy = ConsoleFile.contentSecurityPolicy(
            sources: [configuration.itunesURL, configuration.postsURL, configuration.archiveURL])
        access = AccessPolicy(configuration, listed: tokens, ticketKey: downloads.secret)
        rendered = RenderedResources(linkPrefix: configuration.basePath, needsToken: access.needsToken)
        renderedWithoutSecrets = RenderedResources(linkPrefix: configuration.basePath, hidesSecrets: true)
        crossOrigin = CrossOriginPolicy(configuration.corsOrigins)
        let path = (configuration.downloads.downloadsDirectory ?? configuration.downloads.dataDirectory) + "/files"
        aria2 =
            configuration.leavesOutAria2
            ? nil
            : Aria2(
                // In object storage a local path has no meaning, and `/` is the same at every replica.
                downloads: downloads, filesDirectory: downloads.keepsObjects ? "/" : ProcessEnvironment.absolutePath(path),
                access: Aria2Secrets(access: access, metrics: metrics, log: log), lane: readingLane)
    }

    func respond(to request: borrowing Request, with response: inout Response) -> Handling {
        if let aria2, let address = aria2Address(of: request) {
            return respond(to: request, of: aria2, at: address, with: &response)
        }
        let match = match(request)
        var pending = begin(request, match)
        do throws(Problem) {
            switch try route(request, match, &pending.caller, &response) {
            case .ready: break
            case .later(let work):
                return .later { [self, pending, id = request.id] in
                    var response = Response()
                    do throws(Problem) {
                        response = try await work()
                    } catch {
                        report(error, ofRequest: id)
                        error.fill(&response)
                    }
                    finish(pending, &response)
                    return response
                }
            }
        } catch {
            response.fields.removeAll(keepingCapacity: true)
            report(error, ofRequest: request.id)
            error.fill(&response)
        }
        finish(pending, &response)
        return .ready
    }

    /// Decides from the head alone, before the body takes any memory.
    func decide(onBodyOf request: borrowing Request, with response: inout Response) -> BodyDecision {
        if let address = aria2Address(of: request) { return decide(onBodyOf: request, at: address, with: &response) }
        let match = match(request)
        var caller: Caller?
        do throws(Problem) {
            // Requests that only read ignore a body.
            let operation = try checkHead(request, match, countsRequest: true, &caller)
            guard let operation, operation.method != .get else { return .ignore }
            try BodyReader.checkCoding(request.head.fields)
            // A chunked body may be empty; a body with a length is not. One over the limit is refused as too large
            // instead.
            if case .length(let length) = request.head.framing, length <= Int64(ServerLimits().body) {
                try BodyReader.mediaType(of: request.head.fields, operation.body)
            }
            response.permit = caller?.permit
            return .read
        } catch {
            var pending = begin(request, match)
            pending.caller = caller
            error.fill(&response)
            finish(pending, &response)
            return .refuse
        }
    }

    func begin(_ request: borrowing Request, _ match: borrowing Router.Match) -> Pending {
        let change = match.endpoint?.operation(request.head.method)?.change
        return Pending(
            endpoint: match.number, begun: SystemTime.sinceStart,
            origin: crossOrigin.isOpen ? request.head.fields[.origin] : nil, change: change,
            entry: log.writes(requestLevel) || change != nil ? RequestLogEntry(request) : nil)
    }

    /// The log level of a request's line.
    private var requestLevel: LogLevel { logsRequests ? .info : .debug }

    /// The data of a request that is needed when its response is finished.
    struct Pending: Sendable {
        /// The endpoint's index in `Endpoint.all`; `nil` for a path without an endpoint.
        let endpoint: Int?
        let begun: Int64
        let origin: String?
        /// The change that the log records at any level, unless the request is refused.
        let change: Endpoint.Change?
        let entry: RequestLogEntry?
        /// The sender of the request, once it is known.
        var caller: Caller?
    }

    /// Completes every response, whether immediate or later, and records it in the metrics and the log.
    func finish(_ pending: Pending, _ response: inout Response) {
        let isFile = pending.endpoint.map { Endpoint.all[$0].isFile } ?? false
        crossOrigin.decorate(&response.fields, forOrigin: pending.origin, isFile: isFile)
        let nanoseconds = SystemTime.sinceStart &- pending.begun
        metrics.record(pending.endpoint, response.status, nanoseconds: nanoseconds)
        response.permit = pending.caller?.permit ?? response.permit
        guard let entry = pending.entry else { return }
        entry.write(to: log, requestLevel, response.status, duration: .nanoseconds(nanoseconds), by: pending.caller)
        // A refused request changes nothing; a failed one may have changed something.
        if let change = pending.change, response.status.isSuccessful || response.status.isServerError {
            entry.write(change, to: log, response, by: pending.caller)
        }
    }

    /// Accepts probes over connections beyond the limit, so that open connections cannot make a probe fail.
    func respondsToSurplus(_ request: borrowing Request) -> Bool {
        match(request).endpoint?.isProbe == true
    }

    /// The endpoint of a request. Outside the base path only the probes exist.
    private func match(_ request: borrowing Request) -> Router.Match {
        let match = router.match(request.head.target)
        return request.isBelowBasePath || match.endpoint?.isProbe == true ? match : .nowhere
    }

    private struct Elsewhere: Hashable {
        let linkPrefix: PathPrefix
        let hidesSecrets: Bool
    }

    /// The renderings that a caller may see, with the link prefix of a request.
    func rendered(for request: borrowing Request, by caller: Caller) -> RenderedResources {
        let hidesSecrets = caller.scope != .full
        let usual = hidesSecrets ? renderedWithoutSecrets : rendered
        let prefix = request.linkPrefix
        if prefix == usual.linkPrefix { return usual }
        return renderedElsewhere.withLock { known in
            let key = Elsewhere(linkPrefix: prefix, hidesSecrets: hidesSecrets)
            if let found = known[key] { return found }
            // Each may hold 2 MiB. A proxy has one prefix or a few.
            if known.count >= 4 { known.removeAll() }
            let new = RenderedResources(
                linkPrefix: prefix, hidesSecrets: hidesSecrets, needsToken: access.needsToken)
            known[key] = new
            return new
        }
    }

    func refuse(_ refusal: Refusal, of request: borrowing Request, with response: inout Response) {
        metrics.record(refusal: refusal.status)
        Problem(refusal).fill(&response)
        if log.writes(requestLevel) {
            RequestLogEntry(refused: request).write(to: log, requestLevel, refusal.status, duration: nil, by: nil)
        }
        crossOrigin.decorate(&response.fields, forOrigin: crossOrigin.isOpen ? request.head.fields[.origin] : nil)
    }

    private func route(
        _ request: borrowing Request, _ match: borrowing Router.Match, _ caller: inout Caller?, _ response: inout Response
    ) throws(Problem) -> RouteResult {
        // The head of a request with a body was checked before the body. The token may have changed since.
        guard let operation = try checkHead(request, match, countsRequest: !request.announcesBody, &caller) else {
            response.status = .noContent
            let allow = match.endpoint?.allow ?? "GET, HEAD, POST, PATCH, DELETE, OPTIONS"
            response.fields.set(.allow, allow)
            if isPreflight(request), match.endpoint != nil { respondToPreflight(request, &response, methods: allow) }
            return .ready
        }
        let call = Endpoint.Call(segment: match.segment, second: match.second, caller: caller ?? .anyone)
        let namesDownload = match.endpoint?.namesDownload == true
        let isUnknown =
            downloads.isShared && operation.method == .get && namesDownload
            && RecordID(parsing: match.segment).map { index.version(of: $0) == nil } ?? false
        guard isUnknown || call.caller.key != nil else { return try perform(operation, request, call, &response) }
        let request = copy request
        return .later { [self] () throws(Problem) in
            if call.caller.key != nil { try await checkKey(of: call, isFile: namesDownload, request) }
            // Another replica may have just added the download.
            if isUnknown { try await DownloadError.asProblem(await downloads.catchUp()) }
            var response = Response()
            if case .later(let work) = try perform(operation, request, call, &response) { response = try await work() }
            if call.caller.key != nil {
                response.permit = Caller.anyone.permit
                // A browser that shows the response must not pass on its address.
                response.fields.set(.referrerPolicy, "no-referrer")
            }
            return response
        }
    }

    /// The method of a request, with GET for HEAD: the server leaves out the body.
    func method(of request: borrowing Request) -> HTTPMethod {
        if case .head = request.head.method { .get } else { request.head.method }
    }

    /// Whether a request is a CORS preflight, which browsers send without the token.
    func isPreflight(_ request: borrowing Request) -> Bool {
        guard case .options = request.head.method else { return false }
        return request.head.fields.contains(.origin) && request.head.fields.contains(.accessControlRequestMethod)
    }

    /// Responds to a preflight of an allowed origin, and logs a refusal.
    func respondToPreflight(_ request: borrowing Request, _ response: inout Response, methods: String) {
        guard let origin = request.head.fields[.origin] else { return }
        if let reason = crossOrigin.preflightRefusal(request.head.fields, methods: methods) {
            noteRefusedPreflight(request, reason)
        }
        if crossOrigin.allows(origin) { crossOrigin.respondToPreflight(&response, for: request, methods: methods) }
    }

    /// Logs the refusal of a preflight. A browser tells a page's author less than this.
    private func noteRefusedPreflight(_ request: borrowing Request, _ reason: String) {
        log.write(
            .info, "preflight refused",
            [
                ("origin", .text(request.head.fields[.origin] ?? "")),
                ("path", .text(String(decoding: request.head.target.rawPath, as: UTF8.self))),
                ("requestId", .text(request.id.description)), ("reason", .text(reason)),
            ])
    }

    /// Checks the head of a request, and returns its operation; `nil` if only the options are requested.
    ///
    /// The order of the checks reveals as little as possible: host, rate, token, then whether the path exists.
    /// - Parameters:
    ///   - countsRequest: Whether the request still has to be counted against the rate limit.
    ///   - caller: Receives the sender of the request if the endpoint requires one, also if the request is refused
    ///     later.
    private func checkHead(
        _ request: borrowing Request, _ match: borrowing Router.Match, countsRequest: Bool, _ caller: inout Caller?
    ) throws(Problem) -> Endpoint.Operation? {
        try access.checkHost(request.head.fields)
        if match.endpoint?.isPublic != true {
            if countsRequest { try access.checkRate(request) }
            if !isPreflight(request) { caller = try identify(request, match.endpoint) }
        }
        let isOptions = if case .options = request.head.method { true } else { false }
        if isOptions, request.head.target.isAsterisk { return nil }
        guard let endpoint = match.endpoint else {
            if isPreflight(request) { noteRefusedPreflight(request, "this path does not exist") }
            throw Problem(.notFound, noSuchPath)
        }
        if isOptions { return nil }
        guard let operation = endpoint.operation(method(of: request)) else {
            throw Problem(
                .methodNotAllowed, "\(endpoint.path) takes \(endpoint.allow), not \(request.head.method.name.prefix(32))",
                fields: Fields(.allow, endpoint.allow))
        }
        if !endpoint.isPublic { try caller?.check(operation, of: endpoint) }
        if operation.method != .get, !crossOrigin.allowsChange(by: request.head.fields, scheme: request.scheme) {
            throw Problem(.originNotAllowed, crossOrigin.refusal(of: request.head.fields))
        }
        guard endpoint.isPublic || crossOrigin.allowsRead(by: request.head.fields, isFile: endpoint.isFile) else {
            throw Problem(.originNotAllowed, "a page of another site may not use this path; allow its origin with --cors-origin")
        }
        return operation
    }

    /// Identifies the sender of a request. Counts and logs a refusal because of a missing or wrong token.
    private func identify(_ request: borrowing Request, _ endpoint: Endpoint?) throws(Problem) -> Caller {
        do throws(Problem) {
            return try access.caller(
                of: request, takesTicket: endpoint?.takesTicket == true, takesKey: endpoint?.takesKey == true)
        } catch {
            record(error, of: request)
            throw error
        }
    }

    /// Counts and logs a refusal if its reason is a missing or wrong secret.
    func record(_ refusal: Problem, of request: borrowing Request) {
        guard refusal.code == .unauthorized || refusal.code == .rateLimited else { return }
        metrics.recordAuthenticationFailure()
        log.write(
            .warning, "authentication failed",
            [
                ("address", .text(request.peer.host)), ("requestId", .text(request.id.description)),
                ("reason", .text(refusal.detail)),
            ])
    }

    private func perform(
        _ operation: Endpoint.Operation, _ request: borrowing Request, _ call: borrowing Endpoint.Call, _ response: inout Response
    ) throws(Problem) -> RouteResult {
        if request.head.target.rawQuery != nil, !operation.takesQuery {
            try QueryReader.read(request.head.target) { (_) throws(Problem) in }
        }
        return try operation.handler(self, request, call, &response)
    }

    /// Logs a failure of the service itself, at any level.
    private func report(_ problem: Problem, ofRequest id: RequestIdentifier) {
        guard problem.code == .internalError else { return }
        log.write(
            .error, "request failed",
            [
                ("detail", .text(problem.detail)), ("requestId", .text(id.description)),
            ])
    }
}

extension Response {
    /// Fills in a JSON body, reusing the storage of the response. Its last line has an end, for terminals.
    mutating func fill(_ status: HTTPStatus = .ok, _ encode: (inout JSONWriter) -> Void) {
        self.status = status
        content = .bytes
        fields.append(contentsOf: Self.jsonFields)
        var writer = JSONWriter()
        swap(&writer.bytes, &body)
        writer.bytes.removeAll(keepingCapacity: true)
        encode(&writer)
        writer.bytes.append(UInt8(ascii: "\n"))
        body = writer.bytes
    }

    static let jsonFields = Fields(.contentType, "application/json")

    /// Forbids caches to keep the response, which is out of date as soon as it is sent.
    mutating func forbidStoring() {
        fields.append(contentsOf: Self.noStore)
    }

    private static let noStore = Fields(.cacheControl, "no-store")

    /// Gives the body a strong validator, and evaluates the request's conditions and ranges.
    mutating func validate(for request: borrowing Request) {
        validate(for: request, etag: ContentTag.of(body))
    }

    /// Evaluates the request's conditions and ranges with a known validator.
    mutating func validate(for request: borrowing Request, etag: EntityTag) {
        serveBody(for: request, etag: etag)
        switch status {
        case .preconditionFailed:
            Problem(.preconditionFailed, "the current version does not match If-Match; ETag contains the current version").fill(
                &self)
        case .rangeNotSatisfiable: Problem(.rangeNotSatisfiable, "no range in Range begins within the content").fill(&self)
        default: break
        }
    }
}
