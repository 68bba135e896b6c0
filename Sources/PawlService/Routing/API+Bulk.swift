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
        return try once(request) { [self] key throws(Problem) in
            let entries = await resolve(requests)
            let outcomes = try await Problem.rethrowing(
                downloads: await downloads.add(entries, answering: key) { Problem($0).encoded })
            return Self.response(outcomes.map(BatchItem.init))
        } replay: { [self] outcomes throws(Problem) in
            Self.response(outcomes.map(replayed))
        }
    }

    /// Looks up the tracks that the requests name, side by side; the catalogue asks its sources no faster than it may.
    private func resolve(_ requests: [Result<DownloadRequest, Problem>]) async -> [BatchEntry] {
        await withTaskGroup(of: NumberedEntry.self) { group in
            var entries: [Int: BatchEntry] = [:]
            for (index, request) in requests.enumerated() {
                switch request {
                case .failure(let problem): entries[index] = .refused(problem.encoded)
                case .success(let request):
                    if case .url(let url) = request.source {
                        entries[index] = .new(request.download(of: url))
                    } else {
                        group.addTask { [self] in NumberedEntry(number: index, entry: await entry(of: request)) }
                    }
                }
            }
            for await numbered in group { entries[numbered.number] = numbered.entry }
            return requests.indices.compactMap { entries[$0] }
        }
    }

    /// An entry and its place among all.
    private struct NumberedEntry: Sendable {
        let number: Int
        let entry: BatchEntry
    }

    /// On its own, and not within the task's closure: there the optimiser of Swift 6.3 mixes up what the closure returns where a
    /// typed error is caught after a suspension.
    private func entry(of request: DownloadRequest) async -> BatchEntry {
        do throws(Problem) {
            return .new(try await resolve(request))
        } catch {
            return .refused(error.encoded)
        }
    }

    /// The result of one request of a batch, as the response shows it.
    private struct BatchItem {
        let status: Int64?
        /// `download` or `problem`.
        let name: StaticString
        /// That, as JSON.
        let value: [UInt8]

        init(_ status: Int64, download: [UInt8]) {
            (self.status, name, value) = (status, "download", download)
        }

        init(problem: [UInt8]) {
            status = (try? JSONValue(parsing: problem))?["status"]?.integer
            (name, value) = ("problem", problem)
        }

        init(_ outcome: OrderOutcome) {
            switch outcome {
            case .created(let download): self.init(201, download: download.encoded)
            case .existing(let download): self.init(200, download: download.encoded)
            case .refused(let words): self.init(problem: words)
            }
        }
    }

    /// The result that the first response showed.
    private func replayed(_ outcome: KeptOutcome) -> BatchItem {
        do throws(Problem) {
            switch outcome {
            case .created(let id, let shown): return BatchItem(201, download: try resource(id, shown))
            case .existing(let id, let shown): return BatchItem(200, download: try resource(id, shown))
            case .refused(let words): return BatchItem(problem: words)
            }
        } catch {
            return BatchItem(problem: error.encoded)
        }
    }

    private static func response(_ items: [BatchItem]) -> Response {
        var response = Response()
        response.forbidStoring()
        response.fill { writer in
            writer.beginObject()
            writer.name("items")
            writer.beginArray()
            for item in items {
                writer.beginObject()
                writer.member("status", item.status)
                writer.name(item.name)
                writer.raw(item.value)
                writer.endObject()
            }
            writer.endArray()
            writer.endObject()
        }
        return response
    }

    /// `POST /downloads/pause`, `/resume` and `/cancel`.
    func performOnAll(_ command: DownloadCommand, _ request: borrowing Request) throws(Problem) -> RouteResult {
        let (states, label) = try QueryReader.read(request.head.target) { reader throws(Problem) in
            (Set(try reader.choices("state", DownloadState.self)), try reader.value("label"))
        }
        try RequestBody.checkEmpty(request)
        let downloads = downloads
        return .later { () throws(Problem) in
            let changed: Int
            do throws(DownloadError) {
                changed = try await downloads.performOnAll(command, states: states, label: label)
            } catch {
                throw Problem(error)
            }
            var response = Response()
            response.forbidStoring()
            response.fill { writer in
                writer.beginObject()
                writer.member("changed", changed)
                writer.endObject()
            }
            return response
        }
    }
}
