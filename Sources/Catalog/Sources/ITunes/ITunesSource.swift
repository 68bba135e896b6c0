import HTTPClient
import HTTPCore
import JSON

/// Apple's iTunes Search API.
struct ITunesSource: SearchSource {
    /// `/search` and `/lookup` are appended.
    let base: HTTPURL

    func request(for query: SearchQuery) -> SourceRequest {
        var items = [QueryItem(name: "term", value: query.term)]
        // Only what was checked is passed on, name by name: `callback`, for one, would turn the response into a script.
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
        // Undocumented, though it works: sent only where it says something.
        add("offset", query.offset == 0 ? nil : String(query.offset))
        var request = SourceRequest(url: base.appending(path: "search", query: items))
        request.store = Self.store(ofCountry: query.country)
        return request
    }

    func request(forID id: Substring) -> SourceRequest? {
        let (store, subject) = Self.parts(of: id)
        switch subject {
        case .track(let number), .collection(let number), .artist(let number): return lookup(number, of: store, for: id)
        // An episode is not found by its own number: https://itunes.apple.com/lookup has none of them.
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
        // The numbers and the store alone decide what comes: their order does not.
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
        let asked = self.store(ofCountry: country)
        if let store { return store == asked ? "itunes:\(id)" : nil }
        return prefix(asked) + id
    }

    static func namesNothing(_ id: Substring) -> Bool {
        parts(of: id).store.map { !CountryCodes.all.contains($0.uppercased()) } ?? false
    }

    /// The beginning of all ids of a store.
    static func prefix(_ store: String?) -> String { store.map { "itunes:\($0):" } ?? "itunes:" }

    /// The store of a country as ids name it; `nil`: that of the United States, which they do not name.
    private static func store(ofCountry country: String?) -> String? {
        guard let store = country?.lowercased(), store != "us" else { return nil }
        return store
    }

    /// Splits an id without its `itunes:` into its store and the thing that it names there.
    private static func parts(of id: Substring) -> (store: String?, subject: IDSubject?) {
        let store = id.prefix { $0 != ":" }
        guard store.utf8.count == 2, store != "us", store.utf8.allSatisfy({ $0 &- 0x61 < 26 }), store.endIndex < id.endIndex
        else {
            return (nil, subject(of: id))
        }
        return (String(store), subject(of: id[store.endIndex...].dropFirst()))
    }

    /// What an id without its `itunes:` is about.
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

    /// Works that have parts.
    enum WorkKind: String {
        case album
        case season = "tv-season"
        case podcast

        /// What Apple calls their parts.
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
        // 200 is the most that Apple gives; of podcasts the newest.
        let more = [QueryItem(name: "entity", value: kind.entity), QueryItem(name: "limit", value: "200")]
        let id = Self.prefix(store) + (kind == .podcast ? "\(number)" : "collection:\(number)")
        return SourceRequest(url: lookupURL(String(number), of: store, more), id: id, workKind: kind.rawValue, store: store)
    }

    private func lookupURL(_ numbers: String, of store: String?, _ more: [QueryItem] = []) -> HTTPURL {
        // Each store has numbers that the others do not know.
        let country = store.map { [QueryItem(name: "country", value: $0.uppercased())] } ?? []
        return base.appending(path: "lookup", query: [QueryItem(name: "id", value: numbers)] + more + country)
    }

    /// Apple throttles with 403, with a body or without, sometimes with 429. A search needs no permission, so 403 means nothing else.
    func isThrottling(_ response: ClientResponse) -> Bool {
        response.head.status == .tooManyRequests || response.head.status == .forbidden
    }

    func refusal(in body: [UInt8]) -> String? {
        (try? JSONValue(parsing: body))?["errorMessage"]?.string
    }

    /// Apple gives 200 results, and before the parts of a work the work itself.
    private static let mostResults = 500
    /// A result has some 60 values.
    private static let mostValues = 100_000

    func decode(_ body: [UInt8], of request: SourceRequest) throws(CatalogError) -> Listing {
        let document: JSONDocument
        do {
            document = try JSONDocument(parsing: body, maximumValues: Self.mostValues)
        } catch {
            throw .upstreamRejected("iTunes answered with something that is not JSON: \(error).")
        }
        if let message = document.root["errorMessage"]?.string {
            throw .upstreamRejected("iTunes answered with an error: \(message)")
        }
        if let count = document.root["resultCount"], (count.integer ?? -1) < 0 {
            throw .upstreamRejected("iTunes answered with a resultCount that is not a number of results.")
        }
        guard let elements = document.elements(of: "results") else {
            throw .upstreamRejected("iTunes answered without the array \"results\".")
        }
        guard elements.count <= Self.mostResults else {
            throw .upstreamRejected("iTunes answered with \(elements.count) results; at most \(Self.mostResults) are read.")
        }
        var items: [SearchItem] = []
        var places: [Place] = []
        items.reserveCapacity(elements.count)
        for element in elements {
            guard element.value.members != nil else {
                throw .upstreamRejected("iTunes answered with a result that is not an object.")
            }
            items.append(Self.item(element.value, raw: Array(document.bytes[element.range]), prefix: Self.prefix(request.store)))
            places.append(Place(element.value))
        }
        let work = try Self.work(&items, places, of: request)
        return Listing(items: items, work: work, bodyBytes: body.count)
    }

    /// The work that a request for parts brought: itself, and then its parts, of which it may claim more than there are. Nil if nothing
    /// came, or something else than was expected.
    private static func work(
        _ items: inout [SearchItem], _ places: [Place], of request: SourceRequest
    ) throws(CatalogError) -> Work? {
        guard let id = request.id, let kind = request.workKind.flatMap(WorkKind.init), !items.isEmpty else { return nil }
        guard let index = items.firstIndex(where: { $0.id == id }) else {
            // The number is that of something whose ids have another form: of an album, for instance, and not of a podcast.
            if items.contains(where: { $0.id?.hasSuffix(":" + id.dropFirst(Self.prefix(request.store).count)) ?? false }) {
                return nil
            }
            throw .upstreamRejected("iTunes answered with parts, but without what they are parts of.")
        }
        // What does not tell its kind may be what was asked for.
        guard items[index].kind == kind.rawValue || kind == .album && items[index].kind != WorkKind.season.rawValue else {
            return nil
        }
        let work = items[index]
        var indices = items.indices.filter { items[$0].partOf == id }
        // Episodes have no artist of their own, and are in order as they come.
        if kind == .podcast {
            for index in indices { items[index].artist = items[index].artist ?? work.artist }
        } else {
            indices.sort { places[$0] < places[$1] }
        }
        return Work(work, parts: numbered(indices.map { items[$0] }, of: work, kind).map { Work.Part($0) })
    }

    /// With a number each: that of the track if each has one of its own, and else the place; and named after it.
    private static func numbered(_ parts: [SearchItem], of work: SearchItem, _ kind: WorkKind) -> [SearchItem] {
        var parts = parts
        if Set(parts.compactMap(\.number)).count < parts.count {
            for index in parts.indices { parts[index].number = index + 1 }
        }
        let width = String(max(parts.count, parts.compactMap(\.number).max() ?? 0)).count
        for index in parts.indices {
            parts[index].suggestion?.folder = work.name.map { [$0] } ?? []
            // An episode has its date instead: numbers shift as new ones come.
            guard kind != .podcast, let number = parts[index].number.map({ String($0) }) else { continue }
            parts[index].suggestion?.prefix = String(repeating: "0", count: max(0, width - number.count)) + number
        }
        return parts
    }

    /// Where a track stands on its album.
    private struct Place: Comparable {
        let disc: Int64
        let track: Int64

        init(_ result: JSONValue) {
            disc = result["discNumber"]?.integer ?? 1
            track = result["trackNumber"]?.integer ?? Int64.max
        }

        static func < (left: Place, right: Place) -> Bool {
            (left.disc, left.track) < (right.disc, right.track)
        }
    }
}
