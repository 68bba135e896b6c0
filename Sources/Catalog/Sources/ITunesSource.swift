import HTTPClient
import HTTPCore
import JSON

/// Apple's iTunes Search API.
struct ITunesSource: SearchSource {
    /// `/search` and `/lookup` are appended.
    let base: HTTPURL

    func request(for query: SearchQuery) -> ClientRequest {
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
        return ClientRequest(url: base.appending(path: "search", query: items))
    }

    func request(forID id: Substring) -> ClientRequest? {
        let parts = id.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let number: Substring
        switch parts.first {
        case "collection" where parts.count == 2, "artist" where parts.count == 2: number = parts[1]
        default: number = id
        }
        guard DecimalID.isValid(number) else { return nil }
        return ClientRequest(url: base.appending(path: "lookup", query: [QueryItem(name: "id", value: String(number))]))
    }

    /// Apple throttles with 403 and no body at all, sometimes with 429.
    func isThrottling(_ response: ClientResponse) -> Bool {
        response.head.status == .tooManyRequests || response.head.status == .forbidden && response.body.isEmpty
    }

    func refusal(in body: [UInt8]) -> String? {
        (try? JSONValue(parsing: body))?["errorMessage"]?.string
    }

    func select(_ query: SearchQuery, from listing: Listing) -> [SearchItem] {
        Array(listing.items.prefix(query.limit))
    }

    func decode(_ body: [UInt8]) throws(CatalogError) -> Listing {
        let document: JSONDocument
        do {
            document = try JSONDocument(parsing: body)
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
        var items: [SearchItem] = []
        items.reserveCapacity(elements.count)
        for element in elements {
            guard element.value.members != nil else {
                throw .upstreamRejected("iTunes answered with a result that is not an object.")
            }
            items.append(Self.item(element.value, raw: Array(document.bytes[element.range])))
        }
        // Each item holds its text twice: as it came, and taken apart.
        return Listing(items: items, cost: 2 * body.count)
    }
}
