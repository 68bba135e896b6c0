import HTTPClient
import HTTPCore
import JSON

/// The posts of JSONPlaceholder: one array, which is searched in this program.
struct PostsSource: SearchSource {
    /// The base URL; `/posts` is appended.
    let base: HTTPURL

    static let description = SourceDescription(
        id: "posts", name: "JSONPlaceholder posts", base: HTTPURL(.https, host: "jsonplaceholder.typicode.com"), attribution: nil,
        mediaTypes: ["application/json"], ids: ["posts:<number>"], parameters: [.term, .limit, .offset, .session, .include])

    /// The request is the same for all terms, so that one response serves them all.
    func request(for query: SearchQuery) -> SourceRequest {
        SourceRequest(url: base.appending(path: "posts"))
    }

    func request(forID id: Substring) -> SourceRequest? {
        DecimalID.isValid(id) ? SourceRequest(url: base.appending(path: "posts"), id: "posts:\(id)") : nil
    }

    private static let maximumPosts = 10_000
    private static let maximumValues = 100_000

    func decode(_ response: ClientResponse, of request: SourceRequest) throws(CatalogError) -> Listing {
        let document = try response.document(values: Self.maximumValues, otherwise: "The posts are not JSON")
        guard let elements = document.elements else { throw .upstreamRejected("The posts are not an array.") }
        guard elements.count <= Self.maximumPosts else {
            throw .upstreamRejected("There are \(elements.count) posts; at most \(Self.maximumPosts) are read.")
        }
        var items: [SearchItem] = []
        var texts: [String] = []
        for element in elements {
            guard element.value.members != nil else {
                throw .upstreamRejected("One of the posts is not an object.")
            }
            let post = element.value
            var item = SearchItem(raw: Array(document.bytes[element.range]))
            item.kind = "post"
            item.name = post["title"]?.string
            if let id = post["id"]?.integer, id >= 0 {
                item.id = "posts:\(id)"
                // `description` omits a password in the URL.
                item.downloadUrl = base.appending(path: "posts/\(id)").description
            }
            items.append(item)
            // A term cannot contain the line feed, so it cannot match across title and body.
            texts.append("\(item.name ?? "")\n\(post["body"]?.string ?? "")".lowercased())
        }
        return Listing(items: items, texts: texts, bodyBytes: response.body.count)
    }

    func select(_ query: SearchQuery, from listing: Listing) -> [FoundItem] {
        let term = query.term.lowercased()
        var skipped = 0
        var selected: [FoundItem] = []
        for (item, text) in zip(listing.items, listing.texts) where text.contains(term) {
            if skipped < query.offset {
                skipped += 1
            } else {
                selected.append(item)
                if selected.count == query.limit { break }
            }
        }
        return selected
    }
}
