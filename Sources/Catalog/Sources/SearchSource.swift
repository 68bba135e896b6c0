import Feeds
import HTTPClient
import HTTPCore
import JSON

/// A catalogue: makes the requests to it, and decodes its responses.
protocol SearchSource: Sendable {
    /// The parameters of the source and the properties of its responses.
    static var description: SourceDescription { get }
    /// Creates a source with a base URL.
    init(base: HTTPURL)
    /// The reason why the source cannot answer a search, in a sentence; `nil` if it can.
    func objection(to query: SearchQuery) -> String?
    /// The request for a search. Searches with the same URL share one response.
    func request(for query: SearchQuery) -> SourceRequest
    /// The request that looks up an id without its `source:`; `nil` if the text is not an id of this source.
    func request(forID id: Substring) -> SourceRequest?
    /// One request that looks up all the ids without their `source:`; `nil` if each needs a request of its own.
    func request(forIDs ids: [Substring]) -> SourceRequest?
    /// The id, with its `source:`, of the same item in a country; `nil` if the id names another country, or the source
    /// has no countries.
    static func id(_ id: Substring, inCountry country: String) -> String?
    /// Whether the id without its `source:` is known to be unused, so that no request is needed.
    static func namesNothing(_ id: Substring) -> Bool
    /// The label of downloads that are ordered as parts of the work with the id, its `source:` included.
    static func label(ofWork id: String) -> String
    /// Possible requests for the parts of the work with the id, the likeliest first; empty if there are no parts.
    func requests(forPartsOf id: Substring) -> [SourceRequest]
    /// Whether a response means that the source is asked too often.
    func isThrottling(_ response: ClientResponse) -> Bool
    /// The name of the server that a request asks, for error messages.
    func respondent(to request: SourceRequest) -> String
    /// The address to ask instead, which a 2xx response announces; `nil` if the response is the wanted one.
    func successor(of response: ClientResponse) -> HTTPURL?
    /// The reason in the body of a response other than 2xx; `nil` if it has none.
    func refusal(in body: [UInt8]) -> String?
    /// Decodes a 2xx response of an accepted media type.
    /// - Throws: ``CatalogError/upstreamRejected(_:)`` if it has another shape.
    func decode(_ response: ClientResponse, of request: SourceRequest) throws(CatalogError) -> Listing
    /// The items of a listing that a search asks for.
    func select(_ query: SearchQuery, from listing: Listing) -> [FoundItem]
}

/// The defaults for sources that only search.
extension SearchSource {
    func objection(to query: SearchQuery) -> String? { nil }
    func request(forIDs ids: [Substring]) -> SourceRequest? { nil }
    static func id(_ id: Substring, inCountry country: String) -> String? { nil }
    static func namesNothing(_ id: Substring) -> Bool { false }
    static func label(ofWork id: String) -> String { id }
    func requests(forPartsOf id: Substring) -> [SourceRequest] { [] }
    func respondent(to request: SourceRequest) -> String { Self.description.name }
    func successor(of response: ClientResponse) -> HTTPURL? { nil }
    func isThrottling(_ response: ClientResponse) -> Bool { response.asksToWait }
    func refusal(in body: [UInt8]) -> String? { nil }
    func select(_ query: SearchQuery, from listing: Listing) -> [FoundItem] { Array(listing.items.prefix(query.limit)) }
}

extension ClientResponse {
    /// Whether the response asks for a later request: 429 (RFC 6585 §4), or 503 with `Retry-After` (RFC 9110 §15.6.4).
    var asksToWait: Bool {
        head.status == .tooManyRequests || head.status == .serviceUnavailable && head.fields.contains(.retryAfter)
    }
}

/// A request to a source. The catalogue adds time limits and the like.
struct SourceRequest: Sendable {
    /// The URL; requests with the same URL share one response.
    let url: HTTPURL
    /// The id of the item or work, with its `source:`; `nil` for a search.
    var id: String?
    /// The kind of work whose parts are requested; `nil` if no parts are requested or the kind does not matter.
    var workKind: String?
    /// The store of the request, as ids name it; `nil` for the default, or if the source has no stores.
    var store: String?
}

/// The contents of one response of a source.
struct Listing: Sendable {
    /// The items, each with its JSON.
    let items: [FoundItem]
    /// Searchable text in lower case, for each item, if this program does the searching.
    var texts: [String] = []
    /// The work that the response describes, with its parts; `nil` if there is none.
    var work: Work?
    /// The feed of the work, until its further pages are read; `nil` for other works.
    var feed: Feed?
    /// The reason why there are no items, in a sentence; `nil` if the source gives none.
    var absence: String?
    /// The approximate bytes in memory.
    let cost: Int

    /// Creates a listing of items from a body of `bodyBytes` bytes.
    init(items: [SearchItem], texts: [String] = [], work: Work? = nil, absence: String? = nil, bodyBytes: Int) {
        self.items = items.map { FoundItem($0) }
        self.texts = texts
        self.work = work
        self.absence = absence
        // Each item holds its text three times: as received, decoded, and encoded.
        cost =
            2 * bodyBytes + self.items.reduce(0) { $0 + $1.cost + MemoryLayout<FoundItem>.stride }
            + texts.reduce(0) { $0 + $1.utf8.count } + (work?.cost ?? 0)
    }
}

extension ClientResponse {
    /// Parses the body as JSON.
    /// - Parameters:
    ///   - values: The maximum number of values.
    ///   - finding: The beginning of the error's message.
    func document(values: Int, otherwise finding: String) throws(CatalogError) -> JSONDocument {
        do { return try JSONDocument(parsing: body, maximumValues: values) } catch {
            throw .upstreamRejected("\(finding): \(error).")
        }
    }
}
