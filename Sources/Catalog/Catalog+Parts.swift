public import Feeds
public import HTTPCore
internal import System

/// The parts of works.
extension Catalog {
    /// Checks the parameters of a request for the parts of a work. The source later checks the id and the formats.
    /// - Throws: ``CatalogError/invalidRequest(_:)`` with parameter, value and accepted values.
    public static func partsQuery(from items: [QueryItem]) throws(CatalogError) -> PartsQuery {
        var given: [String: String] = [:]
        var formats: [String] = []
        for item in items {
            guard partsParameters.contains(where: { $0.name == item.name }) else {
                throw .invalidRequest(
                    "unknown query parameter \(SearchParameter.quoted(item.name)); accepted parameters: "
                        + partsParameters.map(\.name).joined(separator: ", "))
            }
            if item.name == "format" {
                formats.append(item.value)
            } else if given.updateValue(item.value, forKey: item.name) != nil {
                throw repeated(item.name, in: items)
            }
        }
        guard formats.count <= maximumFormats else {
            throw .invalidRequest(
                "the query parameter 'format' is given \(formats.count) times; it takes at most \(maximumFormats)")
        }
        var values: [String: String] = [:]
        for parameter in partsParameters {
            guard let value = given[parameter.name] else { continue }
            values[parameter.name] = try parameter.check(value, media: nil)
        }
        guard let id = values["id"] else {
            throw .invalidRequest("the query parameter 'id' is missing; it takes the id of a search result that has parts")
        }
        return PartsQuery(
            id: try Self.id(id, inCountry: values["country"]), formats: formats,
            limit: values["limit"].flatMap { Int($0) } ?? PartsQuery.maximumLimit,
            offset: values["offset"].flatMap { Int($0) } ?? 0, includesRaw: values["include"] == "raw")
    }

    private static let partsParameters = [
        SearchParameter(name: "id", summary: "The work.", accepted: .text(maximumLength: longestID)),
        SearchParameter(name: "format", summary: "Which files.", accepted: .text(maximumLength: 200)),
        SearchParameter(name: "limit", summary: "The maximum number of parts.", accepted: .number(1...PartsQuery.maximumLimit)),
        .offset, .include, countryParameter,
    ]

    /// The maximum number of `format` parameters: more than any work has formats.
    public static let maximumFormats = 64

    /// The parts, if the work is in memory and current; `nil` if the source must be asked. Throws the same errors as
    /// ``parts(_:)``.
    public func cachedParts(_ query: PartsQuery) throws(CatalogError) -> SearchResponse? {
        guard let (source, requests) = try? requests(forPartsOf: query.id) else { return nil }
        let now = clock.now
        for request in requests {
            let key = Self.key(request, source)
            guard let (entry, _) = state.withLock({ $0.singleFlight.cached(key: key, session: nil, at: now) }) else { continue }
            if let work = entry.listing.work { return try FoundWork(work, source, expires: entry.expires).parts(query) }
        }
        return nil
    }

    /// Finds a work, in memory or at its source.
    ///
    /// One request fetches all parts; every selection of formats and every page is made from them. Cancelling the task
    /// ends the wait, and the request if it has no other waiters.
    /// - Parameters:
    ///   - isFresh: Whether the source is asked even if the work is in memory.
    ///   - fields: Fields for the origin of a feed, whose listing is neither shared nor kept then. They are not sent to
    ///     other sources.
    /// - Throws: ``CatalogError/notFound(_:)`` if there is no such work.
    public func work(
        for query: PartsQuery, isFresh: Bool = false, fields: [(name: String, value: String)] = []
    ) async throws(CatalogError) -> FoundWork {
        var (source, requests) = try requests(forPartsOf: query.id)
        if !fields.isEmpty, type(of: source).description.hosts == .any, let request = requests.first {
            guard let work = try await listing(for: request, source, fields).work else { throw Self.notFound(query.id) }
            return FoundWork(work, source, expires: clock.now)
        }
        // The request for the known kind of work comes first.
        let kind = kind(of: query.id, source)
        requests = requests.filter { $0.workKind == kind } + requests.filter { $0.workKind != kind }
        var absence: String?
        for (number, request) in requests.enumerated() {
            let entry = try await entry(for: request, source, session: nil, isFresh: isFresh)
            if let work = entry.listing.work { return FoundWork(work, source, expires: entry.expires) }
            absence = absence ?? entry.listing.absence
            guard let item = entry.listing.items.first(where: { $0.item.isCalled(query.id) })?.item else {
                throw absence.map { .notFound($0) } ?? Self.notFound(query.id)
            }
            // The work is of another kind, whose parts need another request.
            guard requests[(number + 1)...].contains(where: { $0.workKind == item.kind }) else {
                let collection = item.kind == "collection" ? "; it is a collection of other items" : ""
                let work = item.partOf.map { "; it is a part of \($0)" } ?? collection
                throw .notFound("\(SearchParameter.quoted(query.id)) has no parts\(work)")
            }
        }
        throw .notFound("\(SearchParameter.quoted(query.id)) has no parts")
    }

    /// The source of a work and the possible requests for its parts. Throws if the text is not an id, or the item has
    /// no parts.
    private func requests(forPartsOf id: String) throws(CatalogError) -> (any SearchSource, [SourceRequest]) {
        let (source, _) = try request(forID: id)
        let requests = source.requests(forPartsOf: Self.rest(of: id))
        if requests.isEmpty { throw .notFound("\(SearchParameter.quoted(id)) has no parts") }
        return (source, requests)
    }

    private func kind(of id: String, _ source: any SearchSource) -> String? {
        let now = clock.now
        let prefix = "\(type(of: source).description.id) "
        for entry in state.withLock({ $0.singleFlight.cache.entries(prefix: prefix, at: now) }) {
            if let item = entry.listing.items.first(where: { $0.item.isCalled(id) })?.item { return item.kind }
        }
        return nil
    }
}

/// A work with all its parts. Selecting parts examines each of them, and a work may have many thousands.
public struct FoundWork: Sendable {
    private let work: Work
    private let source: SourceDescription
    private let expires: ContinuousClock.Instant

    init(_ work: Work, _ source: any SearchSource, expires: ContinuousClock.Instant) {
        self.work = work
        self.source = type(of: source).description
        self.expires = expires
    }

    /// Creates the work of a feed that was fetched.
    /// - Parameter address: The address of the feed, which its id contains.
    public init(_ feed: Feed, at address: HTTPURL) {
        work = FeedSource.work(of: feed, at: address)
        source = FeedSource.description
        expires = .now
    }

    /// The work itself.
    public var item: SearchItem { work.of.item }

    /// The faults of the listing despite which it was read, in sentences.
    public var warnings: [String] { work.warnings }

    /// Returns all selected parts in order.
    /// - Throws: The errors of ``parts(_:)``.
    public func allParts(formats: [String]) throws(CatalogError) -> [SearchItem] {
        try work.select(formats).parts.map(\.item)
    }

    /// The selected parts. The response has one page of them.
    /// - Parameters:
    ///   - query: The formats and the page.
    ///   - isIncluded: Whether a part in these formats is selected, too. Parts keep their numbers.
    /// - Throws: ``CatalogError/notFound(_:)`` if none of its parts is available, and
    ///   ``CatalogError/invalidRequest(_:)`` if it has no such format.
    public func parts(
        _ query: PartsQuery, where isIncluded: ((SearchItem) -> Bool)? = nil
    ) throws(CatalogError) -> SearchResponse {
        var (parts, formats) = try work.select(query.formats)
        if let isIncluded { parts.removeAll { !isIncluded($0.item) } }
        return SearchResponse(
            source: source, term: query.id, limit: query.limit, offset: query.offset,
            found: Array(parts.dropFirst(query.offset).prefix(query.limit)), expires: expires,
            work: SearchResponse.Selection(of: work.of, total: parts.count, formats: formats, warnings: work.warnings))
    }
}
