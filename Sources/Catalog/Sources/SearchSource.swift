import HTTPClient
import HTTPCore

/// Somebody's catalogue: what is requested of it, and what its responses mean.
protocol SearchSource: Sendable {
    /// What it takes and promises.
    static var description: SourceDescription { get }
    /// A source whose addresses begin with `base`.
    init(base: HTTPURL)
    /// Why it cannot be asked this, in a sentence; nil: it can.
    func objection(to query: SearchQuery) -> String?
    /// The request for a search. Searches with the same URL share one response.
    func request(for query: SearchQuery) -> SourceRequest
    /// The request for a lookup of the id without its `source:`; nil if it is no id of this source's.
    func request(forID id: Substring) -> SourceRequest?
    /// One request for the lookup of all the ids, in the same form; nil: each must be asked for alone.
    func request(forIDs ids: [Substring]) -> SourceRequest?
    /// The id, with its `source:`, of what the id without it means in a country; `nil` if that names another country, or the source has no
    /// countries.
    static func id(_ id: Substring, inCountry country: String) -> String?
    /// Whether nothing can have the id without its `source:`, and nobody has to be asked.
    static func namesNothing(_ id: Substring) -> Bool
    /// The requests one of which brings the parts of the work with the id, the likeliest first; none if there are no parts.
    func requests(forPartsOf id: Substring) -> [SourceRequest]
    /// Whether a response says that we ask too often.
    func isThrottling(_ response: ClientResponse) -> Bool
    /// Why the source says it refuses, from the body of a response that isn't 2xx; nil if it doesn't say.
    func refusal(in body: [UInt8]) -> String?
    /// Reads the body of a 2xx response of an accepted media type to that request. Throws ``CatalogError/upstreamRejected(_:)`` if
    /// it has another shape.
    func decode(_ body: [UInt8], of request: SourceRequest) throws(CatalogError) -> Listing
    /// The part of a listing that a search asked for.
    func select(_ query: SearchQuery, from listing: Listing) -> [FoundItem]
}

/// What sources have in common that promise no more than a search.
extension SearchSource {
    func objection(to query: SearchQuery) -> String? { nil }
    func request(forIDs ids: [Substring]) -> SourceRequest? { nil }
    static func id(_ id: Substring, inCountry country: String) -> String? { nil }
    static func namesNothing(_ id: Substring) -> Bool { false }
    func requests(forPartsOf id: Substring) -> [SourceRequest] { [] }
    func isThrottling(_ response: ClientResponse) -> Bool { response.head.status == .tooManyRequests }
    func refusal(in body: [UInt8]) -> String? { nil }
    func select(_ query: SearchQuery, from listing: Listing) -> [FoundItem] { Array(listing.items.prefix(query.limit)) }
}

/// What a source is asked. Limits of time and the like are the catalog's business.
struct SourceRequest: Sendable {
    /// Requests with the same URL share one response.
    let url: HTTPURL
    /// The id of the item or the work that it is about, with its `source:`; nil: a search.
    var id: String?
    /// The kind of works whose parts it asks for; nil: it asks for no parts, or whatever the kind is.
    var workKind: String?
    /// The store that is asked, as ids name it; `nil`: the usual one, or the source has none.
    var store: String?
}

/// What one response of a source holds.
struct Listing: Sendable {
    /// The items, each beside its JSON.
    let items: [FoundItem]
    /// Lowercase text to search in, for each item, where the searching is ours.
    var texts: [String] = []
    /// The work that the response describes, with its parts; nil: it describes none.
    var work: Work?
    /// Why there are no items, in a sentence; nil: the source doesn't say.
    var absence: String?
    /// The bytes it takes in memory, roughly.
    let cost: Int

    /// A listing of items that came in a body of so many bytes.
    init(items: [SearchItem], texts: [String] = [], work: Work? = nil, absence: String? = nil, bodyBytes: Int) {
        self.items = items.map(FoundItem.init)
        self.texts = texts
        self.work = work
        self.absence = absence
        // Each item holds its text three times: as it came, taken apart, and as it goes.
        cost =
            2 * bodyBytes + self.items.reduce(0) { $0 + $1.cost + MemoryLayout<FoundItem>.stride }
            + texts.reduce(0) { $0 + $1.utf8.count } + (work?.cost ?? 0)
    }
}
