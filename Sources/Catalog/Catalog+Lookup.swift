internal import HTTPCore
internal import System

/// Lookups of single items by their ids.
extension Catalog {
    /// The accepted forms of an item's id.
    public static let acceptedIDs: String = {
        let ids = SearchSourceTable.descriptions.flatMap(\.ids)
        return ids.dropLast().joined(separator: ", ") + " or " + (ids.last ?? "")
    }()

    /// The maximum length of an id in bytes. The address of a feed is part of its id.
    public static let longestID = FeedSource.longestAddress + 64

    /// The maximum length of other ids in bytes: the path of a file is part of its id.
    private static let longestOtherID = 1024

    /// The label of downloads that are ordered as parts of a work: its id, or a short form of it.
    public static func label(ofWork id: String) -> String {
        SearchSourceTable.all.first { id.hasPrefix($0.description.id + ":") }?.label(ofWork: id) ?? id
    }

    /// Finds one item by its id, such as `itunes:263301273`.
    /// - Throws: ``CatalogError/notFound(_:)`` if the source has no such item, and ``CatalogError/invalidRequest(_:)``
    ///   if the text is not an id.
    public func lookup(_ id: String) async throws(CatalogError) -> SearchResponse {
        let (source, request) = try request(forID: id)
        if let known = remembered(id, source, request) { return response(id, known.item, source, expires: known.expires) }
        let entry = try await entry(for: request, source, session: nil)
        return try response(id, in: entry, source)
    }

    /// Finds many items, with as few requests to their sources as possible. Returns one result for each id, in order.
    public func lookup(_ ids: [String]) async -> [Result<SearchResponse, CatalogError>] {
        // Compared by bytes: names of files that look alike may differ.
        var results: [[UInt8]: Result<SearchResponse, CatalogError>] = [:]
        var distinct: Set<[UInt8]> = []
        // Ids that one request can look up together, by source and store.
        var open: [Group: [String]] = [:]
        for id in ids where distinct.insert(Array(id.utf8)).inserted {
            guard let (source, request) = try? request(forID: id), remembered(id, source, request) == nil,
                source.request(forIDs: [Self.rest(of: id)]) != nil
            else { continue }
            open[Group(source: type(of: source).description.id, store: request.store), default: []].append(id)
        }
        for (group, ids) in open {
            guard let source = sources[group.source] else { continue }
            for start in stride(from: 0, to: ids.count, by: Self.idsAtOnce) {
                let some = ids[start..<min(start + Self.idsAtOnce, ids.count)]
                for (id, result) in await lookup(together: some, source) { results[Array(id.utf8)] = result }
            }
        }
        // The others are looked up concurrently, within the sources' rate budgets.
        let rest = distinct.filter { results[$0] == nil }.map { String(decoding: $0, as: UTF8.self) }
        await withTaskGroup(of: (String, Result<SearchResponse, CatalogError>).self) { group in
            for id in rest { group.addTask { [self] in (id, await outcome(of: id)) } }
            for await (id, result) in group { results[Array(id.utf8)] = result }
        }
        return ids.map { results[Array($0.utf8)] ?? .failure(Self.notFound($0)) }
    }

    /// The source and the store of ids that one request can look up.
    private struct Group: Hashable {
        let source: String
        let store: String?
    }

    /// The id of the same item in the store of a country.
    /// - Throws: ``CatalogError/invalidRequest(_:)`` if `country` is not a country code, and
    ///   ``CatalogError/notFound(_:)`` if the id has no stores, or names another store.
    public static func id(_ id: String, inCountry country: String?) throws(CatalogError) -> String {
        guard let country else { return id }
        let value = try countryParameter.check(country, media: nil)
        let source = SearchSourceTable.all.first { id.hasPrefix($0.description.id + ":") }
        guard let found = source?.id(rest(of: id), inCountry: value) else {
            throw .notFound(
                "the id \(SearchParameter.quoted(id)) cannot be looked up in the store of \(value): country is for iTunes ids, and must"
                    + " equal the country in the id, if it has one")
        }
        return found
    }

    /// The parameter for the store of a lookup.
    static let countryParameter = SearchParameter(
        name: "country", summary: "The country of the store for an iTunes id.", accepted: .countries(CountryCodes.all))

    /// A function instead of a closure of the task. In the closure, the optimiser of Swift 6.3 confuses results if a
    /// typed error is caught after a suspension.
    private func outcome(of id: String) async -> Result<SearchResponse, CatalogError> {
        do throws(CatalogError) {
            return .success(try await lookup(id))
        } catch {
            return .failure(error)
        }
    }

    /// The maximum number of ids in one request: about 2 KiB of a URL, which every server accepts.
    private static let idsAtOnce = 100

    private func lookup(
        together ids: ArraySlice<String>, _ source: any SearchSource
    ) async -> [(String, Result<SearchResponse, CatalogError>)] {
        guard let request = source.request(forIDs: ids.map { Self.rest(of: $0) }) else { return [] }
        do throws(CatalogError) {
            let entry = try await entry(for: request, source, session: nil)
            return ids.map { id in
                (id, Result { () throws(CatalogError) in try response(id, in: entry, source) })
            }
        } catch {
            return ids.map { ($0, .failure(error)) }
        }
    }

    /// Whether a text has the form of an item's id.
    public func isID(_ text: String) -> Bool {
        do throws(CatalogError) {
            _ = try request(forID: text)
            return true
        } catch {
            if case .notFound = error { return true }
            return false
        }
    }

    /// Returns the reason why a text is no id, as the end of a sentence about it. No secret of an address is in it.
    public static func objection(toID id: String) -> String {
        let hasUser = id.hasPrefix("feed:") && feedAddress(id)?.hasUserInfo == true
        let problem = hasUser ? "has a user name or password, which ids cannot have" : "is \(SearchParameter.quoted(id))"
        return "\(problem); it takes \(acceptedIDs)"
    }

    /// The source of an id, and the request that looks it up.
    func request(forID id: String) throws(CatalogError) -> (any SearchSource, SourceRequest) {
        guard Self.canBeID(id), let source = source(ofID: id),
            let request = source.request(forID: Self.rest(of: id))
        else {
            throw .invalidRequest(
                "the query parameter 'id' \(Self.objection(toID: id)), "
                    + "of at most \(Self.longestOtherID) bytes (of a feed, \(Self.longestID))")
        }
        if type(of: source).namesNothing(Self.rest(of: id)) { throw Self.notFound(id) }
        return (source, request)
    }

    /// Whether a text is short enough for an id and has no control characters.
    static func canBeID(_ text: String) -> Bool {
        let longest = text.hasPrefix("feed:") ? longestID : longestOtherID
        return text.utf8.count <= longest && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    func source(ofID id: String) -> (any SearchSource)? {
        id.utf8.firstIndex(of: UInt8(ascii: ":")).flatMap { sources[String(id[..<$0])] }
    }

    /// The id without its `source:`.
    static func rest(of id: String) -> Substring {
        id.utf8.firstIndex(of: UInt8(ascii: ":")).map { id[id.utf8.index(after: $0)...] } ?? id[...]
    }

    /// The item, if a listing in memory contains it. Most lookups are for recently found items.
    private func remembered(
        _ id: String, _ source: any SearchSource, _ request: SourceRequest
    ) -> (item: FoundItem, expires: ContinuousClock.Instant)? {
        let now = clock.now
        let key = Self.key(request, source)
        let prefix = "\(type(of: source).description.id) "
        let entries = state.withLock { state in
            // The listing of the lookup itself comes first, and often is enough.
            if let (entry, _) = state.singleFlight.cached(key: key, session: nil, at: now),
                Self.item(id, in: entry.listing) != nil
            {
                return [entry]
            }
            return state.singleFlight.cache.entries(prefix: prefix, at: now)
        }
        for entry in entries {
            // The parts of a work are either among the items as well, or only in the listing of the lookup.
            let isAlone = entries.count == 1
            let item = isAlone ? Self.item(id, in: entry.listing) : entry.listing.items.first { $0.item.isCalled(id) }
            if let item { return (item, entry.expires) }
        }
        return nil
    }

    private static func item(_ id: String, in listing: Listing) -> FoundItem? {
        listing.items.first { $0.item.isCalled(id) } ?? listing.work?.parts.first { $0.found.item.isCalled(id) }?.found
    }

    private func response(
        _ id: String, in entry: ListingCache.Entry, _ source: any SearchSource
    ) throws(CatalogError) -> SearchResponse {
        guard let item = Self.item(id, in: entry.listing) else {
            throw entry.listing.absence.map { .notFound($0) } ?? Self.notFound(id)
        }
        return response(id, item, source, expires: entry.expires)
    }

    private func response(
        _ id: String, _ item: FoundItem, _ source: any SearchSource, expires: ContinuousClock.Instant
    ) -> SearchResponse {
        SearchResponse(source: type(of: source).description, term: id, limit: 1, offset: 0, found: [item], expires: expires)
    }

    static func notFound(_ id: String) -> CatalogError {
        .notFound("there is no item with the id \(SearchParameter.quoted(id))")
    }
}
