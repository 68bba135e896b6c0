internal import Catalog
internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON

/// Many downloads at once.
extension API {
    /// The most downloads that one batch may add.
    static let batchLimit = 1000

    /// `POST /downloads/batch`.
    func addBatch(_ request: borrowing Request) throws(Problem) -> RouteResult {
        var reader = try ObjectReader(try RequestBody.json(of: request))
        guard let value = reader.value("downloads") else { throw reader.refusal("downloads", "is missing; it takes an array") }
        guard let items = value.array else { throw reader.mismatch("downloads", value, "an array") }
        guard items.count <= Self.batchLimit else {
            throw reader.refusal("downloads", "has \(items.count) items; it takes at most \(Self.batchLimit)")
        }
        try reader.finish()
        let requests = items.enumerated().map { index, item in
            Result { () throws(Problem) in try DownloadRequest(item, prefix: "downloads[\(index)].") }
        }
        let prefix = request.linkPrefix
        return try once(request) { [self] key throws(Problem) in
            let items = await resolve(requests)
            return try await Problem.rethrowing(downloads: await downloads.add(items, key: key))
        } response: { outcomes in
            var response = Response()
            response.forbidStoring()
            response.fill { writer in
                writer.beginObject()
                writer.name("items")
                writer.beginArray()
                for outcome in outcomes { outcome.encode(into: &writer, prefix) }
                writer.endArray()
                writer.endObject()
            }
            return response
        }
    }

    /// One item of a batch, to be added or refused.
    private typealias Item = Result<NewDownload, Addition.Refusal>

    /// Looks up the tracks that the requests name, with as few requests to their sources as those can be asked.
    private func resolve(_ requests: [Result<DownloadRequest, Problem>]) async -> [Item] {
        let ids = requests.compactMap { request -> String? in
            if case .success(let request) = request, case .track(let id) = request.source { id } else { nil }
        }
        var found = await catalog.lookup(ids)[...]
        return requests.map { request in
            Result { () throws(Addition.Refusal) in
                do throws(Problem) {
                    let request = try request.get()
                    switch request.source {
                    case .url(let url): return request.download(of: url)
                    case .track(let id): return try Self.download(request, id, found.removeFirst())
                    }
                } catch {
                    throw Addition.Refusal(error)
                }
            }
        }
    }

    /// `POST /downloads/pause`, `/resume` and `/cancel`.
    func performOnAll(_ command: DownloadCommand, _ request: borrowing Request) throws(Problem) -> RouteResult {
        let (states, label, folder) = try QueryReader.read(request.head.target) { reader throws(Problem) in
            (Set(try reader.choices("state", DownloadState.self)), try reader.value("label"), try reader.value("folder"))
        }
        try RequestBody.checkEmpty(request)
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
        try RequestBody.checkEmpty(request)
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

    /// Does something with many downloads, and says with how many.
    private func count(
        _ name: String, _ body: @escaping @Sendable (DownloadService) async throws(DownloadError) -> Int
    ) -> RouteResult {
        let downloads = downloads
        return .later { () throws(Problem) in
            let number: Int
            do throws(DownloadError) {
                number = try await body(downloads)
            } catch {
                throw Problem(error)
            }
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
        case .failure(let refusal):
            let problem = Problem(refusal)
            writer.member("status", problem.status.code)
            writer.name("problem")
            problem.encode(into: &writer)
        }
        writer.endObject()
    }
}
