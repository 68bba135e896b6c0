internal import Catalog
internal import DownloadCore
internal import DownloadIndex
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON
internal import Subscriptions

/// Requests for many downloads at once.
extension API {
    /// The maximum number of downloads in one batch.
    static let batchLimit = 1000

    /// `POST /downloads/batch`.
    func addBatch(_ request: borrowing Request) throws(Problem) -> RouteResult {
        var reader = try ObjectReader(try BodyReader.json(of: request))
        if reader.holds("partsOf") { return try addParts(try WorkRequest(&reader), request) }
        let downloads = reader.value("downloads")
        _ = reader.value("partsOf")
        try reader.finish()
        guard let value = downloads else {
            throw reader.refusal("downloads", "is missing; a batch takes either 'downloads' or 'partsOf'")
        }
        guard let items = value.array else { throw reader.mismatch("downloads", value, "an array") }
        guard items.count <= Self.batchLimit else {
            throw reader.refusal("downloads", "has \(items.count) items; it takes at most \(Self.batchLimit)")
        }
        let requests = items.enumerated().map { index, item in
            Result { () throws(Problem) in try DownloadRequest(item, prefix: "downloads[\(index)].") }
        }
        return try addAll(request, label: nil) { [self] () in (await resolve(requests), []) }
    }

    /// Adds all parts of a work, labelled with the work.
    private func addParts(_ work: WorkRequest, _ request: borrowing Request) throws(Problem) -> RouteResult {
        guard catalog.isID(work.id) else {
            throw Problem(.invalidRequest, "'partsOf' \(Catalog.objection(toID: work.id))")
        }
        return try addAll(request, label: Catalog.label(ofWork: work.id)) { [self] () throws(Problem) in
            let found = try await parts(of: work)
            let items = zip(found.items, found.encodedItems).map { item, track -> Item in
                guard let url = item.downloadUrl.flatMap({ HTTPURL($0) }) else {
                    return .failure(Problem(.notFound, "'\(item.id ?? item.name ?? "the part")' has no URL to download"))
                }
                return .success(work.download(of: item, at: url, track: track))
            }
            return (items, found.warnings)
        }
    }

    /// Finds the selected parts of a work, at least one and at most ``batchLimit``.
    private func parts(of work: WorkRequest) async throws(Problem) -> SearchResponse {
        let query = PartsQuery(id: work.id, formats: work.formats)
        let fields = work.headers.map { (name: $0.name, value: $0.value) }
        let whole = try await self.work(for: query, fields: fields)
        let found = try await CatalogError.asProblem(try whole.parts(query, where: work.filter.accepts))
        if found.total == 0 {
            let all = try await CatalogError.asProblem(try whole.parts(query))
            let example = all.items.first.map { ", such as '\(ItemFilter.name(of: $0))'" } ?? ""
            throw Problem(
                .invalidRequest,
                "'include' and 'exclude' select none of the \(all.total) parts of '\(work.id)'; "
                    + "a pattern must match a whole name\(example)")
        }
        guard found.total <= Self.batchLimit else {
            let formats = found.formats.map { "\($0.name) (\($0.count))" }.joined(separator: ", ")
            let choices = formats.isEmpty ? "'include' and 'exclude'" : "'include', 'exclude' and 'formats' (\(formats))"
            throw Problem(
                .invalidRequest,
                "'partsOf' selects \(found.total) parts of '\(work.id)'; a batch takes at most \(Self.batchLimit); "
                    + "select fewer with \(choices), or list parts by their ids in 'downloads'")
        }
        return found
    }

    /// An item of a batch: a download to add, or a refusal.
    private typealias Item = Result<NewDownload, Problem>

    /// Adds the items, and responds with the outcome of each.
    private func addAll(
        _ request: borrowing Request, label: String?,
        _ items: @escaping @Sendable () async throws(Problem) -> (items: [Item], warnings: [String])
    ) throws(Problem) -> RouteResult {
        let prefix = request.linkPrefix
        return try once(request) { [downloads] key throws(Problem) in
            let (items, warnings) = try await items()
            var key = key
            key?.warnings = warnings
            return (try await DownloadError.asProblem(await downloads.add(items, label: label, key: key)), warnings)
        } kept: {
            ($0.outcomes, $0.warnings)
        } response: { (outcomes: [Addition.Outcome], warnings: [String]) in
            var response = Response()
            response.forbidStoring()
            response.fill { writer in
                writer.beginObject()
                writer.name("items")
                writer.beginArray()
                for outcome in outcomes { outcome.encode(into: &writer, prefix) }
                writer.endArray()
                if let label { writer.member("label", label) }
                writer.texts(warnings, "warnings")
                writer.endObject()
            }
            return response
        }
    }

    /// Looks up the tracks that the requests name, in as few requests to their sources as possible.
    private func resolve(_ requests: [Result<DownloadRequest, Problem>]) async -> [Item] {
        let ids = requests.compactMap { request -> String? in
            if case .success(let request) = request, case .track(let id) = request.source { id } else { nil }
        }
        var found = await catalog.lookup(ids)[...]
        return requests.map { request in
            Result { () throws(Problem) in
                let request = try request.get()
                switch request.source {
                case .url(let url): return NewDownload(url: url.withoutUserInfo, request.options)
                case .track(let id): return try Self.download(request, id, found.removeFirst())
                }
            }
        }
    }

    /// `POST /downloads/pause`, `/resume` and `/cancel`.
    func performOnAll(_ command: DownloadCommand, _ request: borrowing Request) throws(Problem) -> RouteResult {
        let (states, label, folder) = try QueryReader.read(request.head.target) { reader throws(Problem) in
            (Set(try reader.choices("state", DownloadState.self)), try reader.value("label"), try reader.value("folder"))
        }
        try BodyReader.checkEmpty(request)
        return count("changed") { downloads throws(DownloadError) in
            try await downloads.performOnAll(command, states: states, label: label, folder: folder)
        }
    }

    /// `DELETE /downloads`.
    func removeAll(_ request: borrowing Request) throws(Problem) -> RouteResult {
        let (selection, deletesFiles) = try QueryReader.read(request.head.target) { reader throws(Problem) in
            let selection = ListQuery(
                states: Set(try reader.choices("state", DownloadState.self)), label: try reader.value("label"),
                folder: try reader.value("folder"), endedBefore: try reader.time("before"))
            return (selection, try reader.bool("deleteFiles") ?? false)
        }
        try BodyReader.checkEmpty(request)
        let isLimited =
            !selection.states.isEmpty || selection.label != nil || selection.folder != nil || selection.endedBefore != nil
        guard isLimited else {
            throw Problem(
                .invalidRequest, "DELETE /downloads takes at least one of the query parameters state, label, folder and before")
        }
        return count("removed") { downloads throws(DownloadError) in
            try await downloads.removeAll(selection, deletingFiles: deletesFiles)
        }
    }

    /// Performs a command on many downloads, and responds with their number.
    private func count(
        _ name: String, _ body: @escaping @Sendable (DownloadService) async throws(DownloadError) -> Int
    ) -> RouteResult {
        let downloads = downloads
        return .later { () throws(Problem) in
            let number = try await DownloadError.asProblem(await body(downloads))
            var response = Response()
            response.forbidStoring()
            response.fill { writer in
                writer.beginObject()
                writer.member(name, number)
                writer.endObject()
            }
            return response
        }
    }
}

extension Addition.Outcome {
    /// The result of one item of a batch: `{"status":201,"download":{…}}` or `{"status":400,"problem":{…}}`.
    fileprivate func encode(into writer: inout JSONWriter, _ linkPrefix: PathPrefix) {
        writer.beginObject()
        switch self {
        case .success(.created(let download)):
            writer.member("status", HTTPStatus.created.code)
            writer.name("download")
            download.encode(into: &writer, linkPrefix)
        case .success(.existing(let download)):
            writer.member("status", HTTPStatus.ok.code)
            writer.name("download")
            download.encode(into: &writer, linkPrefix)
        case .failure(let problem):
            writer.member("status", problem.status.code)
            writer.name("problem")
            problem.encode(into: &writer)
        }
        writer.endObject()
    }
}
