internal import HTTPCore
internal import JSON

/// The downloads, searches and subscriptions of a service.
extension RemoteService {
    /// The resources of one or several pages of a list.
    struct Listing: Sendable {
        var items: [JSONValue] = []
        /// The number of all matching resources.
        var total: Int64 = 0
    }

    /// The newest downloads that match, at most `limit` of them.
    /// - Parameter path: The list, if it is another one.
    func list(
        _ filters: [QueryItem] = [], of path: String = "downloads", limit: Int
    ) async throws(RemoteError) -> Listing {
        var listing = Listing()
        var cursor: String?
        for _ in 0..<ClientLimits.pages {
            let count = min(ClientLimits.page, limit - listing.items.count)
            var query = filters + [QueryItem(name: "limit", value: String(count))]
            if let cursor { query.append(QueryItem(name: "cursor", value: cursor)) }
            let page = try await send("GET", path, query: query)
            guard let items = page["items"]?.array else { throw .notPawl(server: name, reason: "its list has no items") }
            listing.items += items
            listing.total = page["total"]?.integer ?? Int64(listing.items.count)
            cursor = page["nextCursor"]?.string
            if cursor == nil || listing.items.count >= limit { break }
        }
        return listing
    }

    /// The downloads for these numbers of the last list and ends of ids. The service is asked for its list only if one of them
    /// is neither a number nor a whole id.
    func resolve(_ operands: [String], _ last: ListMemory = ListMemory()) async throws(RemoteError) -> [IDMatch] {
        var ends: [String] = []
        for operand in operands { ends += try last.ids(operand, of: name) ?? [operand] }
        guard ends.contains(where: { $0.count != IDMatch.length }) else { return ends.map { .one($0.uppercased()) } }
        let ids = try await list(limit: ClientLimits.page * ClientLimits.pages).items.compactMap { $0["id"]?.string }
        return ends.map { IDMatch($0, among: ids) }
    }

    /// All subscriptions.
    func subscriptions() async throws(RemoteError) -> [JSONValue] {
        try await list(of: "subscriptions", limit: ClientLimits.page * ClientLimits.pages).items
    }

    /// The resource of a subscription.
    func subscription(_ id: String) async throws(RemoteError) -> JSONValue {
        try await send("GET", "subscriptions/\(PercentEncoding.encodeComponent(id))")
    }

    /// Checks a subscription, and returns its resource afterwards, and whether the check has ended.
    func refresh(_ id: String) async throws(RemoteError) -> (resource: JSONValue, hasEnded: Bool) {
        let (status, resource) = try await exchange("POST", "subscriptions/\(PercentEncoding.encodeComponent(id))/refresh")
        return (resource, status == 200)
    }

    /// Ends a subscription. Its downloads stay.
    func unsubscribe(_ id: String) async throws(RemoteError) {
        try await send("DELETE", "subscriptions/\(PercentEncoding.encodeComponent(id))")
    }

    /// The resource of a download.
    func show(_ id: String) async throws(RemoteError) -> JSONValue {
        try await send("GET", "downloads/\(PercentEncoding.encodeComponent(id))")
    }

    /// Sends a command for a download, and returns its new resource.
    func perform(_ command: String, on id: String) async throws(RemoteError) -> JSONValue {
        try await send("POST", "downloads/\(PercentEncoding.encodeComponent(id))/\(command)")
    }

    /// Moves a download within the queue, and returns its new resource.
    /// - Parameter position: The number of downloads before it.
    func move(_ id: String, to position: Int64) async throws(RemoteError) -> JSONValue {
        let body = JSONValue.object([JSONMember(name: "position", value: .integer(position))])
        return try await send("PATCH", "downloads/\(PercentEncoding.encodeComponent(id))", body: body)
    }

    /// Removes a download.
    func remove(_ id: String, deletingFile: Bool) async throws(RemoteError) {
        let query = deletingFile ? [QueryItem(name: "deleteFile", value: "true")] : []
        try await send("DELETE", "downloads/\(PercentEncoding.encodeComponent(id))", query: query)
    }

    /// Adds downloads. Returns the results in the order of the requests, as `{"status", "download"}` or `{"status",
    /// "problem"}`.
    func add(_ requests: [JSONValue]) async throws(RemoteError) -> [JSONValue] {
        var results: [JSONValue] = []
        for batch in Self.batches(requests) {
            let body = JSONValue.object([JSONMember(name: "downloads", value: .array(batch))])
            let response = try await send("POST", "downloads/batch", body: body)
            guard let items = response["items"]?.array, items.count == batch.count else {
                throw .notPawl(server: name, reason: "its response to a batch has other items")
            }
            results += items
        }
        return results
    }

    /// The parts of a work in the given formats, or in those that the service chooses.
    func parts(of id: String, formats: [String]) async throws(RemoteError) -> JSONValue {
        let query = [QueryItem(name: "id", value: id)] + formats.map { QueryItem(name: "format", value: $0) }
        return try await send("GET", "search/parts", query: query)
    }

    /// The item with this id; `nil` if the service finds none.
    func lookup(_ id: String) async throws(RemoteError) -> JSONValue? {
        try await send("GET", "search/lookup", query: [QueryItem(name: "id", value: id)])["results"]?.array?.first
    }

    /// Divides requests into batches within the limits of the service.
    static func batches(_ requests: [JSONValue]) -> [[JSONValue]] {
        var batches: [[JSONValue]] = []
        var bytes = 0
        for request in requests {
            let size = request.serialized().count + 1
            if let last = batches.last, last.count < ClientLimits.batch.items, bytes + size <= ClientLimits.batch.bytes {
                batches[batches.count - 1].append(request)
                bytes += size
            } else {
                batches.append([request])
                bytes = size
            }
        }
        return batches
    }
}
