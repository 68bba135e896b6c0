internal import Catalog
internal import DownloadCore
internal import DownloadIndex
internal import HTTPCore
internal import HTTPServer
internal import JSON
internal import PawlConfiguration

/// Requests for searches.
extension API {
    /// `GET /search`.
    func search(_ request: borrowing Request, _ caller: Caller, _ response: inout Response) throws(Problem) -> RouteResult {
        let query = try read(request) { try Catalog.query(from: $0) }
        if let found = catalog.cached(query) {
            fill(&response, with: found, includesRaw: query.includesRaw, for: request, of: caller)
            return .ready
        }
        let request = copy request
        return .later { [self] () throws(Problem) in
            let found = try await CatalogError.asProblem(await catalog.search(query))
            var response = Response()
            fill(&response, with: found, includesRaw: query.includesRaw, for: request, of: caller)
            return response
        }
    }

    /// `GET /search/parts`.
    func parts(_ request: borrowing Request, _ caller: Caller, _ response: inout Response) throws(Problem) -> RouteResult {
        let (query, cached) = try read(request) { items in
            let query = try Catalog.partsQuery(from: items)
            // Choosing formats examines all parts of the work, which may be many.
            return (query, query.formats.isEmpty ? try catalog.cachedParts(query) : nil)
        }
        // More parts than a search returns would block the other connections of the event loop.
        if let cached, cached.count <= Self.partsAtOnce {
            fill(&response, with: cached, includesRaw: query.includesRaw, for: request, of: caller)
            return .ready
        }
        let request = copy request
        return .later { [self] () throws(Problem) in
            let work = try await work(for: query)
            return try await read { () throws(Problem) in
                let found: SearchResponse
                do throws(CatalogError) { found = try work.parts(query) } catch { throw error.problem }
                var response = Response()
                fill(&response, with: found, includesRaw: query.includesRaw, for: request, of: caller)
                return response
            }
        }
    }

    /// Finds a work, and logs the faults of its listing.
    func work(for query: PartsQuery, fields: [(name: String, value: String)] = []) async throws(Problem) -> FoundWork {
        let found: Result<FoundWork, CatalogError>
        do throws(CatalogError) {
            found = .success(try await catalog.work(for: query, fields: fields))
        } catch {
            found = .failure(error)
        }
        var faults = (try? found.get())?.warnings ?? []
        if case .failure(.upstreamRejected(let reason, _)) = found { faults.append(reason) }
        for fault in faults {
            log.write(
                .info, "the listing of a work has a fault",
                [("work", .text(HTTPURL.withoutSecrets(in: query.id))), ("reason", .text(fault))])
        }
        return try await CatalogError.asProblem(try found.get())
    }

    /// Reads the query of a request to the catalogue.
    private func read<Value>(_ request: borrowing Request, _ body: ([QueryItem]) throws -> Value) throws(Problem) -> Value {
        do {
            return try body(try request.head.target.queryItems())
        } catch let error as CatalogError {
            throw error.problem
        } catch let error as QueryError {
            throw Problem(.invalidRequest, error.description)
        } catch {
            throw Problem(.invalidRequest, "the query cannot be read")
        }
    }

    /// The maximum number of parts that are encoded on the event loop.
    private static let partsAtOnce = 200

    private func fill(
        _ response: inout Response, with found: SearchResponse, includesRaw: Bool, for request: borrowing Request,
        of caller: Caller
    ) {
        // The response includes states of downloads, which may change sooner, so only the client's own cache may keep
        // it.
        let left = found.freshness(at: .now).components.seconds
        response.fields.append(.cacheControl, "private, max-age=\(left)")
        // A response for a token of scope full must not be reused for one of scope read.
        response.fields.append(.vary, "Authorization")
        let linkPrefix = request.linkPrefix
        response.fill { writer in encode(found, linkPrefix, includesRaw: includesRaw, for: caller, into: &writer) }
        response.validate(for: request)
    }

    private func encode(
        _ found: SearchResponse, _ linkPrefix: PathPrefix, includesRaw: Bool, for caller: Caller, into writer: inout JSONWriter
    ) {
        let index = index
        found.encode(into: &writer, linkPrefix: linkPrefix.text, includesRaw: includesRaw) { url in
            // The existence of a download of this URL would reveal the secrets in its query.
            guard caller.scope == .full || HTTPURL.withoutSecrets(in: url) == url else { return nil }
            return index.reference(toURL: url).map { (id: $0.id.description, state: $0.state.rawValue) }
        }
    }

    /// `GET /search/sources`.
    func searchSources(_ request: borrowing Request, _ response: inout Response) throws(Problem) -> RouteResult {
        response.fields.append(.cacheControl, "private, no-cache")
        response.fill { Catalog.encodeSources(into: &$0) }
        response.validate(for: request)
        return .ready
    }

    /// `GET /search/lookup`.
    func lookUp(_ request: borrowing Request, _ caller: Caller) throws(Problem) -> RouteResult {
        let (named, country, includesRaw) = try QueryReader.read(request.head.target) { reader throws(Problem) in
            (try reader.value("id"), try reader.value("country"), try reader.choice("include", Inclusion.self) != nil)
        }
        guard let named, !named.isEmpty else {
            throw Problem(.invalidRequest, "the query parameter 'id' is missing; it takes an id of a search result")
        }
        let id: String
        do throws(CatalogError) { id = try Catalog.id(named, inCountry: country) } catch { throw error.problem }
        let request = copy request
        return .later { [self] () throws(Problem) in
            let found = try await CatalogError.asProblem(await catalog.lookup(id))
            var response = Response()
            response.fields.append(.cacheControl, "private, no-cache")
            let linkPrefix = request.linkPrefix
            response.fill { writer in encode(found, linkPrefix, includesRaw: includesRaw, for: caller, into: &writer) }
            response.validate(for: request)
            return response
        }
    }

    /// The values of `include`.
    private enum Inclusion: String, CaseIterable {
        case raw
    }
}
