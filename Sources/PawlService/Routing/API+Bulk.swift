internal import Downloads
internal import HTTPCore
internal import HTTPServer
internal import JSON

/// Many downloads at once.
extension API {
    /// The most downloads that one batch may add.
    static let batchLimit = 1000

    /// `POST /downloads/batch`.
    func addBatch(_ request: borrowing Request) throws(Problem) -> Answer {
        try QueryReader(request.head.target).finish()
        var reader = try ObjectReader(try RequestBody.json(of: request))
        guard let value = reader.value("downloads") else { throw reader.refusal("downloads", "is missing; it takes an array") }
        guard let items = value.array else { throw reader.mismatch("downloads", value, "an array") }
        guard items.count <= Self.batchLimit else {
            throw reader.refusal("downloads", "has \(items.count) items; it takes at most \(Self.batchLimit)")
        }
        try reader.finish()
        let orders = items.enumerated().map { index, item in
            Result { () throws(Problem) in try DownloadOrder(item, prefix: "downloads[\(index)].") }
        }
        return try once(request) { [self] () throws(Problem) in
            let results = await addAll(orders)
            var response = Response()
            response.fields.append(.cacheControl, "no-store")
            response.fill { writer in
                writer.beginObject()
                writer.name("items")
                writer.beginArray()
                for result in results { Self.encode(result, into: &writer) }
                writer.endArray()
                writer.endObject()
            }
            return response
        }
    }

    /// Adds them side by side, so that the store commits them in few groups. Items of one source go one after the other, so
    /// that it is the first which is new.
    private func addAll(_ orders: [Result<DownloadOrder, Problem>]) async -> [Result<Addition, Problem>] {
        var chains: [String: [(index: Int, order: DownloadOrder)]] = [:]
        var results: [(index: Int, result: Result<Addition, Problem>)] = []
        for (index, order) in orders.enumerated() {
            switch order {
            case .success(let order): chains[order.sourceName, default: []].append((index, order))
            case .failure(let problem): results.append((index, .failure(problem)))
            }
        }
        await withTaskGroup(of: [(index: Int, result: Result<Addition, Problem>)].self) { group in
            for chain in chains.values {
                group.addTask { [self] in
                    var results: [(index: Int, result: Result<Addition, Problem>)] = []
                    for (index, order) in chain {
                        do throws(Problem) {
                            results.append((index, .success(try await add(order))))
                        } catch {
                            results.append((index, .failure(error)))
                        }
                    }
                    return results
                }
            }
            for await part in group { results += part }
        }
        return results.sorted { $0.index < $1.index }.map(\.result)
    }

    private static func encode(_ result: Result<Addition, Problem>, into writer: inout JSONWriter) {
        writer.beginObject()
        switch result {
        case .success(let addition):
            if case .created = addition { writer.member("status", 201) } else { writer.member("status", 200) }
            writer.name("download")
            addition.download.encode(into: &writer)
        case .failure(let problem):
            writer.member("status", problem.status.code)
            writer.name("problem")
            problem.encode(into: &writer)
        }
        writer.endObject()
    }

    /// `POST /downloads/pause`, `/resume` and `/cancel`.
    func performOnAll(_ command: DownloadCommand, _ request: borrowing Request) throws(Problem) -> Answer {
        var reader = try QueryReader(request.head.target)
        let states = Set(try reader.choices("state", DownloadState.self))
        let label = try reader.value("label")
        try reader.finish()
        try RequestBody.checkEmpty(request)
        return .later { [self] () throws(Problem) in
            let changed = try await performOnAll(command, states: states, label: label)
            var response = Response()
            response.fields.append(.cacheControl, "no-store")
            response.fill { writer in
                writer.beginObject()
                writer.member("changed", changed)
                writer.endObject()
            }
            return response
        }
    }

    /// Asks each download that matches. One that does not take the command is left as it is and not counted.
    private func performOnAll(
        _ command: DownloadCommand, states: Set<DownloadState>, label: String?
    ) async throws(Problem) -> Int {
        var changed = 0
        let matching = board.page(ListQuery(states: states, label: label, limit: Int.max, order: .oldest)).items
        let results = await withTaskGroup(of: Result<Bool, DownloadError>.self) { group in
            for download in matching where Self.mayTake(command, download.state) {
                group.addTask { [downloads] in
                    do throws(DownloadError) {
                        let after = try await downloads.perform(command, on: download.id)
                        return .success(after.state != download.state)
                    } catch {
                        return .failure(error)
                    }
                }
            }
            var results: [Result<Bool, DownloadError>] = []
            for await result in group { results.append(result) }
            return results
        }
        for result in results {
            switch result {
            case .success(let isChanged): changed += isChanged ? 1 : 0
            // It moved on, or went, before its turn came.
            case .failure(.illegalTransition), .failure(.notFound): break
            case .failure(let error): throw Problem(error)
            }
        }
        return changed
    }

    /// Whether a command changes a download in that state: spares asking for what is known to stay.
    private static func mayTake(_ command: DownloadCommand, _ state: DownloadState) -> Bool {
        switch (command, state) {
        case (.pause, .queued), (.pause, .downloading), (.pause, .retrying): true
        case (.resume, .paused), (.resume, .failed): true
        case (.cancel, .queued), (.cancel, .downloading), (.cancel, .retrying), (.cancel, .paused), (.cancel, .failed): true
        case (.retry, .failed), (.retry, .cancelled): true
        default: false
        }
    }
}
