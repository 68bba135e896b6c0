internal import Catalog
internal import DownloadCore
internal import DownloadIndex
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import PawlConfiguration
internal import Subscriptions
internal import System

/// Requests that list, add, show, command and remove downloads.
extension API {
    /// `GET /downloads`.
    func list(_ request: borrowing Request, _ caller: Caller, _ response: inout Response) throws(Problem) -> RouteResult {
        let (index, rendered) = (index, rendered(for: request, by: caller))
        let (text, publications) = (request.head.target.rawQuery ?? [], index.publications)
        if let list = rendered.lists.find(text, at: publications) {
            response.fill(withList: list)
            return .ready
        }
        var query = try QueryReader.read(request.head.target) { reader throws(Problem) in
            ListQuery(
                states: Set(try reader.choices("state", DownloadState.self)), label: try reader.value("label"),
                folder: try reader.value("folder"), text: try reader.value("q"),
                limit: try reader.integer("limit", in: 1...200) ?? 50,
                after: try Self.cursor(&reader), order: try reader.choice("order", ListQuery.Order.self) ?? .newest)
        }
        // Whether a search text matches reveals text, so possible secrets are not searched.
        query.hidesSecrets = caller.scope != .full
        if query.isWalk {
            let encoding = response.fill(with: index.listing(query), rendered, rendering: Self.renderedItems)
            if encoding == .constant { rendered.lists.keep(response.body, text, at: publications) }
            if encoding != .incomplete { return .ready }
        }
        // Other lists may visit every download, so they are not made on the event loop.
        return .later { [self, query] () throws(Problem) in
            try await read {
                var response = Response()
                let encoding = response.fill(with: index.listing(query), rendered)
                if encoding == .constant { rendered.lists.keep(response.body, text, at: publications) }
                return response
            }
        }
    }

    /// The maximum number of items of a list that are rendered on the event loop. The others are copied from the cache.
    private static let renderedItems = 8

    /// Makes a response that takes long to make, when the lane for such responses admits it.
    /// - Throws: `unavailable` if it does not admit it in time.
    func read(_ make: () throws(Problem) -> Response) async throws(Problem) -> Response {
        let response = try await readingLane.run(within: Self.readingLimit) { () throws(Problem) in try make() }
        guard let response else {
            throw Problem(
                .unavailable, "the service is busy with other lists, and nothing was done; try again in 5 s", retryAfter: 5)
        }
        return response
    }

    static func cursor(_ reader: inout QueryReader) throws(Problem) -> RecordID? {
        guard let text = try reader.value("cursor") else { return nil }
        guard let id = RecordID(text) else {
            throw Problem(
                .invalidRequest, "the query parameter 'cursor' is '\(text)'; it takes the nextCursor of an earlier response")
        }
        return id
    }

    /// `GET /downloads/{id}`.
    func show(
        _ id: RecordID, _ request: borrowing Request, _ caller: Caller, _ response: inout Response
    ) throws(Problem) -> RouteResult {
        guard request.head.target.rawQuery != nil else {
            try fill(&response, withDownload: id, for: request, of: caller)
            return .ready
        }
        let seconds = try QueryReader.read(request.head.target) { reader throws(Problem) in
            try reader.integer("wait", in: 0...Self.longestWait)
        }
        // Without `If-None-Match`, the client's version is unknown and there is no change to wait for.
        if let seconds, seconds > 0, request.head.fields.contains(.ifNoneMatch) {
            return waitForChange(of: id, atMost: seconds, request, caller)
        }
        try fill(&response, withDownload: id, for: request, of: caller)
        return .ready
    }

    /// Fills in the response with the current state of a download.
    func fill(
        _ response: inout Response, withDownload id: RecordID, for request: borrowing Request, of caller: Caller
    ) throws(Problem) {
        guard let rendering = rendered(for: request, by: caller).rendering(of: id, in: index) else {
            throw DownloadError.notFound.problem
        }
        response.fields.append(contentsOf: rendering.text.fields)
        rendering.append(to: &response.body)
        response.body.append(UInt8(ascii: "\n"))
        if Preconditions.arePresent(in: request.head.fields) { response.validate(for: request, etag: rendering.etag) }
    }

    /// `POST /downloads`.
    func add(_ request: borrowing Request) throws(Problem) -> RouteResult {
        let requested = try DownloadRequest(try BodyReader.json(of: request))
        let prefix = request.linkPrefix
        return try once(request) { [self] key throws(Problem) in
            let new = try await resolve(requested)
            return [.success(try await DownloadError.asProblem(await downloads.add(new, key: key)))]
        } kept: {
            $0.outcomes
        } response: { outcomes throws(Problem) in
            switch outcomes.first {
            case .success(.created(let download)): return Self.response(.created, download, prefix)
            case .success(.existing(let download)): return Self.response(.ok, download, prefix)
            case .failure(let problem): throw problem
            case nil: throw Problem(.internalError, "the outcome of the request is unknown")
            }
        }
    }

    private static func response(_ status: HTTPStatus, _ download: Download, _ linkPrefix: PathPrefix) -> Response {
        var response = Response()
        response.fields.reserveCapacity(fields: 8, bytes: 256)
        response.fields.append(.location, linkPrefix.text + "/downloads/" + download.id.description)
        response.forbidStoring()
        response.body.reserveCapacity(900)
        response.fill(status) { download.encode(into: &$0, linkPrefix) }
        return response
    }

    /// The download that a request asks for, looked up if the request names a track.
    private func resolve(_ request: DownloadRequest) async throws(Problem) -> NewDownload {
        switch request.source {
        case .url(let url): return NewDownload(url: url.withoutUserInfo, request.options)
        case .track(let id): return try Self.download(request, id, await Result(catching: catalog, id))
        }
    }

    /// The download of a track, from the result of its lookup.
    static func download(
        _ request: DownloadRequest, _ id: String, _ found: Result<SearchResponse, CatalogError>
    ) throws(Problem) -> NewDownload {
        let member = "'\(request.prefix)trackId' is '\(id)'"
        switch found {
        // The catalogue's message names the parameter of `/search/lookup`; here a member is wrong.
        case .failure(.invalidRequest):
            throw Problem(.invalidRequest, "'\(request.prefix)trackId' \(Catalog.objection(toID: id))")
        case .failure(let error): throw error.problem
        case .success(let response):
            guard let item = response.items.first, let track = response.encodedItems.first else {
                throw Problem(.notFound, "the source has no item '\(id)'")
            }
            guard let text = item.downloadUrl, let url = HTTPURL(text) else {
                let hint = item.hasParts ? "; GET /search/parts lists its parts" : ""
                throw Problem(.notFound, "\(member), which has no file to download\(hint)")
            }
            return NewDownload(of: item, at: url, track: track, request.options)
        }
    }

    /// `POST /downloads/{id}/pause`, `/resume`, `/cancel` and `/retry`.
    func perform(_ command: DownloadCommand, on id: RecordID, _ request: borrowing Request) throws(Problem) -> RouteResult {
        try BodyReader.checkEmpty(request)
        let (downloads, prefix) = (downloads, request.linkPrefix)
        return .later { () throws(Problem) in
            let download = try await DownloadError.asProblem(await downloads.perform(command, on: id))
            var response = Response()
            response.forbidStoring()
            response.fill { download.encode(into: &$0, prefix) }
            return response
        }
    }

    /// `DELETE /downloads/{id}`.
    func remove(_ id: RecordID, _ request: borrowing Request) throws(Problem) -> RouteResult {
        let deletesFile = try QueryReader.read(request.head.target) { reader throws(Problem) in
            try reader.bool("deleteFile") ?? false
        }
        try BodyReader.checkEmpty(request)
        let fields = request.head.fields
        let (downloads, prefix) = (downloads, request.linkPrefix)
        return .later { () throws(Problem) in
            try await DownloadError.asProblem(
                await downloads.remove(
                    id, deletingFile: deletesFile, if: Self.condition(of: .delete, fields, prefix)))
            return Response(status: .noContent)
        }
    }
}

extension Response {
    /// Fills in a page of the list.
    fileprivate mutating func fill(
        with listing: IndexListing, _ rendered: RenderedResources, rendering limit: Int = .max
    ) -> IndexListing.Encoding {
        var encoding = IndexListing.Encoding.incomplete
        forbidStoring()
        fill { encoding = listing.encode(into: &$0, rendered, rendering: limit) }
        return encoding
    }

    /// Fills in a kept list, which shares its storage.
    fileprivate mutating func fill(withList list: [UInt8]) {
        forbidStoring()
        fields.append(contentsOf: Self.jsonFields)
        body = list
    }
}

extension Result where Success == SearchResponse, Failure == CatalogError {
    /// The result of a lookup.
    fileprivate init(catching catalog: Catalog, _ id: String) async {
        do throws(CatalogError) {
            self = .success(try await catalog.lookup(id))
        } catch {
            self = .failure(error)
        }
    }
}
