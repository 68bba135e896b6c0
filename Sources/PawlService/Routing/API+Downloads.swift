internal import Catalog
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON

/// The downloads: list, add, show, command, remove.
extension API {
    /// `GET /downloads`.
    func list(_ request: borrowing Request, _ response: inout Response) throws(Problem) -> Answer {
        var reader = try QueryReader(request.head.target)
        let states = try reader.choices("state", DownloadState.self)
        let label = try reader.value("label")
        let text = try reader.value("q")
        let limit = try reader.integer("limit", in: 1...200) ?? 50
        let cursor = try reader.value("cursor")
        let order = try reader.choice("order", ListQuery.Order.self) ?? .newest
        try reader.finish()
        var after: DownloadID?
        if let cursor {
            guard let id = DownloadID(cursor) else {
                throw Problem(
                    .invalidRequest, "the query parameter 'cursor' is '\(cursor)'; it takes the nextCursor of an earlier answer")
            }
            after = id
        }
        let query = ListQuery(
            states: Set(states), label: label, text: text, limit: limit, after: after, order: order)
        let (board, rendered) = (board, rendered)
        // A list may walk over every download there is: not on the event loop.
        return .later { () throws(Problem) in
            let page = board.page(query)
            var response = Response()
            response.forbidStoring()
            response.fill { page.encode(into: &$0, rendered) }
            return response
        }
    }

    private static let shownFields = {
        var fields = Fields(.cacheControl, "no-cache")
        fields.append(.contentType, "application/json")
        return fields
    }()

    /// `GET /downloads/{id}`.
    func show(_ id: DownloadID, _ request: borrowing Request, _ response: inout Response) throws(Problem) -> Answer {
        if request.head.target.rawQuery != nil {
            var reader = try QueryReader(request.head.target)
            let seconds = try reader.integer("wait", in: 0...Self.longestWait)
            try reader.finish()
            // Without what the client knows there is nothing to wait for.
            if let seconds, seconds > 0, request.head.fields.contains(.ifNoneMatch) {
                return waitForChange(of: id, atMost: seconds, request)
            }
        }
        let rendering: RenderedDownloads.Rendering
        if let version = board.version(of: id), let found = rendered.rendering(of: id, version) {
            rendering = found
        } else {
            guard let download = board.download(id) else { throw Problem(DownloadError.notFound) }
            rendering = rendered.rendering(of: download)
        }
        response.fields.append(contentsOf: Self.shownFields)
        response.body.append(contentsOf: rendering.bytes)
        if Preconditions.areAsked(by: request.head.fields) {
            response.validate(for: request, etag: rendering.etag)
        } else {
            response.fields.append(contentsOf: rendering.fields)
        }
        return .ready
    }

    /// `POST /downloads`.
    func add(_ request: borrowing Request) throws(Problem) -> Answer {
        try QueryReader(request.head.target).finish()
        let order = try DownloadOrder(try RequestBody.json(of: request))
        return try once(request) { [self] key throws(Problem) in
            let new = try await resolve(order)
            let addition: Addition
            do throws(DownloadError) {
                addition = try await downloads.add(new, answering: key)
            } catch {
                throw Problem(error)
            }
            var status = HTTPStatus.ok
            if case .created = addition { status = .created }
            return Self.answer(status, addition.download.id) { addition.download.encode(into: &$0) }
        } retell: { [self] outcomes throws(Problem) in
            switch outcomes.first {
            case .created(let id, let shown): return Self.retell(.created, id, try retold(id, shown))
            case .existing(let id, let shown): return Self.retell(.ok, id, try retold(id, shown))
            // A refusal of a single order is not kept.
            case .refused, nil: throw Problem(.internalError, "the answer to this Idempotency-Key is not known")
            }
        }
    }

    private static func answer(_ status: HTTPStatus, _ id: DownloadID, _ encode: (inout JSONWriter) -> Void) -> Response {
        var response = Response()
        response.fields.reserveCapacity(fields: 8, bytes: 256)
        response.fields.append(.location, "/downloads/" + id.description)
        response.forbidStoring()
        response.body.reserveCapacity(900)
        response.fill(status, encode)
        return response
    }

    private static func retell(_ status: HTTPStatus, _ id: DownloadID, _ resource: [UInt8]) -> Response {
        answer(status, id) { $0.raw(resource) }
    }

    /// Looks up the track of an order that names one.
    func resolve(_ order: DownloadOrder) async throws(Problem) -> NewDownload {
        switch order.source {
        case .url(let url): return order.download(of: url)
        case .track(let id):
            let answer: SearchResponse
            do throws(CatalogError) {
                answer = try await catalog.lookup(id)
            } catch {
                // The catalogue knows the parameter of /search/lookup; here it is a member that is wrong.
                if case .invalidRequest = error {
                    throw Problem(.invalidRequest, "'\(order.prefix)trackId' is '\(id)'; it takes \(Catalog.acceptedIDs)")
                }
                throw Problem(error)
            }
            guard let item = answer.items.first else {
                throw Problem(.notFound, "the source has no item '\(id)'")
            }
            guard let text = item.downloadUrl, let url = HTTPURL(text) else {
                throw Problem(.invalidRequest, "'\(order.prefix)trackId' is '\(id)', which has nothing to download")
            }
            return order.download(of: url, track: answer.encodedItem(), named: item.name)
        }
    }

    /// `POST /downloads/{id}/pause`, `/resume`, `/cancel` and `/retry`.
    func perform(_ command: DownloadCommand, on id: DownloadID, _ request: borrowing Request) throws(Problem) -> Answer {
        try QueryReader(request.head.target).finish()
        try RequestBody.checkEmpty(request)
        let downloads = downloads
        return .later { () throws(Problem) in
            let download: Download
            do throws(DownloadError) {
                download = try await downloads.perform(command, on: id)
            } catch {
                throw Problem(error)
            }
            var response = Response()
            response.forbidStoring()
            response.fill { download.encode(into: &$0) }
            return response
        }
    }

    /// `DELETE /downloads/{id}`.
    func remove(_ id: DownloadID, _ request: borrowing Request) throws(Problem) -> Answer {
        var reader = try QueryReader(request.head.target)
        let deletesFile = try reader.bool("deleteFile") ?? false
        try reader.finish()
        try RequestBody.checkEmpty(request)
        let fields = request.head.fields
        let downloads = downloads
        return .later { () throws(Problem) in
            do throws(DownloadError) {
                try await downloads.remove(id, deletingFile: deletesFile) { $0.isMeant(by: .delete, fields) }
            } catch {
                throw Problem(error)
            }
            return Response(status: .noContent)
        }
    }
}
