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
        return try once(request) { [self] key throws(Problem) in
            let entries = await resolve(orders)
            do throws(DownloadError) {
                return Self.answer(try await downloads.add(entries, answering: key) { Problem($0).encoded }.map(BatchItem.init))
            } catch {
                throw Problem(error)
            }
        } retell: { [self] outcomes throws(Problem) in
            Self.answer(outcomes.map(retold))
        }
    }

    /// Looks up the tracks that the orders name, side by side; the catalogue asks its sources no faster than it may.
    private func resolve(_ orders: [Result<DownloadOrder, Problem>]) async -> [BatchEntry] {
        await withTaskGroup(of: NumberedEntry.self) { group in
            var entries: [Int: BatchEntry] = [:]
            for (index, order) in orders.enumerated() {
                switch order {
                case .failure(let problem): entries[index] = .refused(problem.encoded)
                case .success(let order):
                    if case .url(let url) = order.source {
                        entries[index] = .new(order.download(of: url))
                    } else {
                        group.addTask { [self] in NumberedEntry(number: index, entry: await entry(of: order)) }
                    }
                }
            }
            for await numbered in group { entries[numbered.number] = numbered.entry }
            return orders.indices.compactMap { entries[$0] }
        }
    }

    /// An entry and its place among all.
    private struct NumberedEntry: Sendable {
        let number: Int
        let entry: BatchEntry
    }

    /// On its own, and not within the task's closure: there the optimiser of Swift 6.3 mixes up what the closure returns where a
    /// typed error is caught after a suspension.
    private func entry(of order: DownloadOrder) async -> BatchEntry {
        do throws(Problem) {
            return .new(try await resolve(order))
        } catch {
            return .refused(error.encoded)
        }
    }

    /// What became of one order, as it is told.
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

    /// The same as it was told the first time.
    private func retold(_ outcome: KeptOutcome) -> BatchItem {
        do throws(Problem) {
            switch outcome {
            case .created(let id, let shown): return BatchItem(201, download: try retold(id, shown))
            case .existing(let id, let shown): return BatchItem(200, download: try retold(id, shown))
            case .refused(let words): return BatchItem(problem: words)
            }
        } catch {
            return BatchItem(problem: error.encoded)
        }
    }

    private static func answer(_ items: [BatchItem]) -> Response {
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
    func performOnAll(_ command: DownloadCommand, _ request: borrowing Request) throws(Problem) -> Answer {
        var reader = try QueryReader(request.head.target)
        let states = Set(try reader.choices("state", DownloadState.self))
        let label = try reader.value("label")
        try reader.finish()
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
