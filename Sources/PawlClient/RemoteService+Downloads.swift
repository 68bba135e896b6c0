internal import HTTPCore
internal import JSON

/// The downloads of a service.
extension RemoteService {
    /// A page, or several, of a list.
    struct Listing: Sendable {
        var items: [JSONValue] = []
        /// How many there are in all.
        var total: Int64 = 0
    }

    /// The newest downloads that match, at most `limit` of them.
    func list(_ filters: [QueryItem] = [], limit: Int) async throws(RemoteError) -> Listing {
        var listing = Listing()
        var cursor: String?
        for _ in 0..<Limits.pages {
            let count = min(Limits.page, limit - listing.items.count)
            var query = filters + [QueryItem(name: "limit", value: String(count))]
            if let cursor { query.append(QueryItem(name: "cursor", value: cursor)) }
            let page = try await send("GET", "downloads", query: query)
            guard let items = page["items"]?.array else { throw .notPawl(server: name, reason: "its list has no items") }
            listing.items += items
            listing.total = page["total"]?.integer ?? Int64(listing.items.count)
            cursor = page["nextCursor"]?.string
            if cursor == nil || listing.items.count >= limit { break }
        }
        return listing
    }

    /// The downloads that these beginnings of identifiers mean. The list is read only if one of them is no whole identifier.
    func resolve(_ beginnings: [String]) async throws(RemoteError) -> [IDMatch] {
        let beginnings = beginnings.map { $0.uppercased() }
        guard beginnings.contains(where: { $0.count != IDMatch.length }) else { return beginnings.map { .one($0) } }
        let ids = try await list(limit: Limits.page * Limits.pages).items.compactMap { $0["id"]?.string }
        return beginnings.map { IDMatch($0, among: ids) }
    }

    /// How a download stands.
    func show(_ id: String) async throws(RemoteError) -> JSONValue {
        try await send("GET", "downloads/\(PercentEncoding.encodeComponent(id))")
    }

    /// Has a command carried out on a download, and returns how it stands then.
    func perform(_ command: String, on id: String) async throws(RemoteError) -> JSONValue {
        try await send("POST", "downloads/\(PercentEncoding.encodeComponent(id))/\(command)")
    }

    /// Forgets a download.
    func remove(_ id: String, deletingFile: Bool) async throws(RemoteError) {
        let query = deletingFile ? [QueryItem(name: "deleteFile", value: "true")] : []
        try await send("DELETE", "downloads/\(PercentEncoding.encodeComponent(id))", query: query)
    }

    /// Adds downloads. The answers are in the order of what was asked for: `{"status", "download"}` or `{"status", "problem"}`.
    func add(_ orders: [JSONValue]) async throws(RemoteError) -> [JSONValue] {
        var answers: [JSONValue] = []
        for batch in Self.batches(orders) {
            let body = JSONValue.object([JSONMember(name: "downloads", value: .array(batch))])
            let answer = try await send("POST", "downloads/batch", body: body)
            guard let items = answer["items"]?.array, items.count == batch.count else {
                throw .notPawl(server: name, reason: "its answer to a batch has other items")
            }
            answers += items
        }
        return answers
    }

    /// Orders in pieces that the service takes.
    static func batches(_ orders: [JSONValue]) -> [[JSONValue]] {
        var batches: [[JSONValue]] = []
        var bytes = 0
        for order in orders {
            let size = order.serialized().count + 1
            if let last = batches.last, last.count < Limits.batch.items, bytes + size <= Limits.batch.bytes {
                batches[batches.count - 1].append(order)
                bytes += size
            } else {
                batches.append([order])
                bytes = size
            }
        }
        return batches
    }
}
