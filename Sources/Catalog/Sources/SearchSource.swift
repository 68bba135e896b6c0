import HTTPClient

/// Somebody's catalogue: what is requested of it, and what its responses mean.
protocol SearchSource: Sendable {
    /// What it takes and promises.
    static var description: SourceDescription { get }
    /// The request for a search, without limits of time. Searches with the same URL share one response.
    func request(for query: SearchQuery) -> ClientRequest
    /// The request for a lookup of the id without its `source:`; nil if it is no id of this source's.
    func request(forID id: Substring) -> ClientRequest?
    /// Whether a response says that we ask too often.
    func isThrottling(_ response: ClientResponse) -> Bool
    /// Why the source says it refuses, from the body of a response that isn't 2xx; nil if it doesn't say.
    func refusal(in body: [UInt8]) -> String?
    /// Reads the body of a 2xx response of an accepted media type. Throws ``CatalogError/upstreamRejected(_:)`` if it has
    /// another shape.
    func decode(_ body: [UInt8]) throws(CatalogError) -> Listing
    /// The part of a listing that a search asked for.
    func select(_ query: SearchQuery, from listing: Listing) -> [SearchItem]
}

/// What one response of a source holds.
struct Listing: Sendable {
    var items: [SearchItem]
    /// Lowercase text to search in, for each item, where the searching is ours.
    var texts: [String] = []
    /// The bytes it takes in memory, roughly.
    var cost: Int
}
