import HTTPClient
import HTTPCore
import JSON

/// Apple's iTunes Search API.
struct ITunesSource: SearchSource {
    /// The base URL; `/search` and `/lookup` are appended.
    let base: HTTPURL

    func request(for query: SearchQuery) -> SourceRequest {
        var items = [QueryItem(name: "term", value: query.term)]
        // Only checked parameters are passed on. `callback`, for example, would make the response a script.
        func add(_ name: String, _ value: String?) {
            if let value { items.append(QueryItem(name: name, value: value)) }
        }
        add("media", query.media)
        add("entity", query.entity)
        add("attribute", query.attribute)
        add("country", query.country)
        add("lang", query.lang)
        add("explicit", query.explicit.map { $0 ? "Yes" : "No" })
        add("limit", String(query.limit))
        // Undocumented, but supported by Apple; sent only if it is not 0.
        add("offset", query.offset == 0 ? nil : String(query.offset))
        var request = SourceRequest(url: base.appending(path: "search", query: items))
        request.store = Self.store(ofCountry: query.country)
        return request
    }

    func request(forID id: Substring) -> SourceRequest? {
        let (store, subject) = Self.parts(of: id)
        switch subject {
        case .track(let number), .collection(let number), .artist(let number): return lookup(number, of: store, for: id)
        // Episodes cannot be looked up by their own number at https://itunes.apple.com/lookup.
        case .episode(let podcast, _): return parts(of: podcast, of: store, .podcast)
        case nil: return nil
        }
    }

    func request(forIDs ids: [Substring]) -> SourceRequest? {
        var numbers: Set<Substring> = []
        var stores: Set<String?> = []
        for id in ids {
            let (store, subject) = Self.parts(of: id)
            stores.insert(store)
            switch subject {
            case .track(let number), .collection(let number), .artist(let number): numbers.insert(number)
            case .episode, nil: return nil
            }
        }
        guard let store = stores.first, stores.count == 1 else { return nil }
        // Sorted, since the order does not affect the response.
        return SourceRequest(url: lookupURL(numbers.sorted().joined(separator: ","), of: store), store: store)
    }

    func requests(forPartsOf id: Substring) -> [SourceRequest] {
        let (store, subject) = Self.parts(of: id)
        return switch subject {
        case .track(let number): [parts(of: number, of: store, .podcast)]
        case .collection(let number): [parts(of: number, of: store, .album), parts(of: number, of: store, .season)]
        case .artist, .episode, nil: []
        }
    }

    static func id(_ id: Substring, inCountry country: String) -> String? {
        let (store, subject) = parts(of: id)
        guard subject != nil else { return nil }
        let requested = self.store(ofCountry: country)
        if let store { return store == requested ? "itunes:\(id)" : nil }
        return prefix(requested) + id
    }

    static func namesNothing(_ id: Substring) -> Bool {
        parts(of: id).store.map { !CountryCodes.all.contains($0.uppercased()) } ?? false
    }

    /// The prefix of all ids in a store.
    static func prefix(_ store: String?) -> String { store.map { "itunes:\($0):" } ?? "itunes:" }

    /// The store of a country as ids name it; `nil` for the United States, which ids do not name.
    private static func store(ofCountry country: String?) -> String? {
        guard let store = country?.lowercased(), store != "us" else { return nil }
        return store
    }

    /// Splits an id without its `itunes:` into its store and its subject.
    private static func parts(of id: Substring) -> (store: String?, subject: IDSubject?) {
        let store = id.prefix { $0 != ":" }
        guard store.utf8.count == 2, store != "us", store.utf8.allSatisfy({ $0 &- 0x61 < 26 }), store.endIndex < id.endIndex
        else {
            return (nil, subject(of: id))
        }
        return (String(store), subject(of: id[store.endIndex...].dropFirst()))
    }

    /// The subject of an id without its `itunes:`.
    private enum IDSubject {
        case track(Substring)
        case collection(Substring)
        case artist(Substring)
        case episode(podcast: Substring, Substring)
    }

    private static func subject(of id: Substring) -> IDSubject? {
        let parts = id.split(separator: ":", omittingEmptySubsequences: false)
        guard let first = parts.first, let last = parts.last, DecimalID.isValid(last) else { return nil }
        switch (first, parts.count) {
        case (_, 1): return .track(last)
        case ("collection", 2): return .collection(last)
        case ("artist", 2): return .artist(last)
        case ("episode", 3) where DecimalID.isValid(parts[1]): return .episode(podcast: parts[1], last)
        default: return nil
        }
    }

    /// The kinds of works that have parts.
    enum WorkKind: String {
        case album
        case season = "tv-season"
        case podcast

        /// The entity of their parts in Apple's API.
        var entity: String {
            switch self {
            case .album: "song"
            case .season: "tvEpisode"
            case .podcast: "podcastEpisode"
            }
        }
    }

    private func lookup(_ number: Substring, of store: String?, for id: Substring) -> SourceRequest {
        SourceRequest(url: lookupURL(String(number), of: store), id: "itunes:\(id)", store: store)
    }

    private func parts(of number: Substring, of store: String?, _ kind: WorkKind) -> SourceRequest {
        // 200 is Apple's maximum; for podcasts these are the newest.
        let more = [QueryItem(name: "entity", value: kind.entity), QueryItem(name: "limit", value: "200")]
        let id = Self.prefix(store) + (kind == .podcast ? "\(number)" : "collection:\(number)")
        return SourceRequest(url: lookupURL(String(number), of: store, more), id: id, workKind: kind.rawValue, store: store)
    }

    private func lookupURL(_ numbers: String, of store: String?, _ more: [QueryItem] = []) -> HTTPURL {
        // Numbers of one store may be unknown in others.
        let country = store.map { [QueryItem(name: "country", value: $0.uppercased())] } ?? []
        return base.appending(path: "lookup", query: [QueryItem(name: "id", value: numbers)] + more + country)
    }

    /// Apple throttles with 403 with or without a body, sometimes with 429. A search needs no permission, so 403 has no
    /// other meaning.
    func isThrottling(_ response: ClientResponse) -> Bool {
        response.asksToWait || response.head.status == .forbidden
    }

    func refusal(in body: [UInt8]) -> String? {
        (try? JSONValue(parsing: body))?["errorMessage"]?.string.map { SearchParameter.cut($0, to: 500) }
    }

    /// The maximum number of results; Apple sends up to 200, and the work itself before its parts.
    private static let maximumResults = 500
    /// The maximum number of JSON values; a result has about 60.
    private static let maximumValues = 100_000

    func decode(_ response: ClientResponse, of request: SourceRequest) throws(CatalogError) -> Listing {
        let document = try response.document(
            values: Self.maximumValues, otherwise: "iTunes answered with something that is not JSON")
        if let message = document.root["errorMessage"]?.string {
            throw .upstreamRejected("iTunes answered with an error: \(SearchParameter.cut(message, to: 500))")
        }
        if let count = document.root["resultCount"], (count.integer ?? -1) < 0 {
            throw .upstreamRejected("iTunes answered with a resultCount that is not a number of results.")
        }
        guard let elements = document.elements(of: "results") else {
            throw .upstreamRejected("iTunes answered without the array \"results\".")
        }
        guard elements.count <= Self.maximumResults else {
            throw .upstreamRejected("iTunes answered with \(elements.count) results; at most \(Self.maximumResults) are read.")
        }
        var items: [SearchItem] = []
        var trackNumbers: [TrackNumber] = []
        items.reserveCapacity(elements.count)
        for element in elements {
            guard element.value.members != nil else {
                throw .upstreamRejected("iTunes answered with a result that is not an object.")
            }
            items.append(Self.item(element.value, raw: Array(document.bytes[element.range]), prefix: Self.prefix(request.store)))
            trackNumbers.append(TrackNumber(element.value))
        }
        let work = try Self.work(&items, trackNumbers, of: request)
        return Listing(items: items, work: work, bodyBytes: response.body.count)
    }

    /// The work in a response to a request for parts: the work itself, followed by its parts, which may be fewer than
    /// it states. `nil` if the response is empty or has another kind of work.
    private static func work(
        _ items: inout [SearchItem], _ trackNumbers: [TrackNumber], of request: SourceRequest
    ) throws(CatalogError) -> Work? {
        guard let id = request.id, let kind = request.workKind.flatMap(WorkKind.init), !items.isEmpty else { return nil }
        guard let index = items.firstIndex(where: { $0.id == id }) else {
            // The number belongs to something with another form of id, for example to an album instead of a podcast.
            if items.contains(where: { $0.id?.hasSuffix(":" + id.dropFirst(Self.prefix(request.store).count)) ?? false }) {
                return nil
            }
            throw .upstreamRejected("iTunes answered with parts, but without their work.")
        }
        // An item without a kind may be the requested work.
        guard items[index].kind == kind.rawValue || kind == .album && items[index].kind != WorkKind.season.rawValue else {
            return nil
        }
        let work = items[index]
        var indices = items.indices.filter { items[$0].partOf == id }
        // Episodes have no artist of their own, and arrive in order.
        if kind == .podcast {
            for index in indices { items[index].artist = items[index].artist ?? work.artist }
        } else {
            indices.sort { trackNumbers[$0] < trackNumbers[$1] }
        }
        return Work(work, parts: numbered(indices.map { items[$0] }, of: work, kind).map { Work.Part($0) })
    }

    /// The parts with numbers and prefixes: the tracks' numbers if all differ, otherwise the positions.
    private static func numbered(_ parts: [SearchItem], of work: SearchItem, _ kind: WorkKind) -> [SearchItem] {
        var parts = parts
        if Set(parts.compactMap(\.number)).count < parts.count {
            for index in parts.indices { parts[index].number = index + 1 }
        }
        let width = String(max(parts.count, parts.compactMap(\.number).max() ?? 0)).count
        for index in parts.indices {
            parts[index].suggestion?.folder = work.name.map { [$0] } ?? []
            // Episodes have a date instead: their numbers change as new ones appear.
            guard kind != .podcast, let number = parts[index].number.map({ String($0) }) else { continue }
            parts[index].suggestion?.prefix = String(repeating: "0", count: max(0, width - number.count)) + number
        }
        return parts
    }

    /// The position of a track on its album.
    private struct TrackNumber: Comparable {
        let disc: Int64
        let track: Int64

        init(_ result: JSONValue) {
            disc = result["discNumber"]?.integer ?? 1
            track = result["trackNumber"]?.integer ?? Int64.max
        }

        static func < (left: TrackNumber, right: TrackNumber) -> Bool {
            (left.disc, left.track) < (right.disc, right.track)
        }
    }
}
