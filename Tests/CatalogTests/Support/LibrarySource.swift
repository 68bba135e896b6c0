import HTTPClient
import HTTPCore
import JSON

@testable import Catalog

/// A library that answers `/books?q=…`, and `/books/7`, with `[{"id": 7, "title": "…", "file": "https://…"}]`.
struct LibrarySource: SearchSource {
    let base: HTTPURL

    static let description = SourceDescription(
        id: "library", name: "Our library", base: HTTPURL(.https, host: "library.example"), attribution: nil,
        mediaTypes: ["application/json"], ids: ["library:<number>"], parameters: [.term, .limit, .session, .include])

    func request(for query: SearchQuery) -> SourceRequest {
        SourceRequest(url: base.appending(path: "books", query: [QueryItem(name: "q", value: query.term)]))
    }

    func request(forID id: Substring) -> SourceRequest? {
        DecimalID.isValid(id) ? SourceRequest(url: base.appending(path: "books/\(id)"), id: "library:\(id)") : nil
    }

    func decode(_ response: ClientResponse, of request: SourceRequest) throws(CatalogError) -> Listing {
        guard let document = try? JSONDocument(parsing: response.body), let books = document.elements else {
            throw .upstreamRejected("The library answered with something else than a list.")
        }
        let items = books.map { book in
            var item = SearchItem(raw: Array(document.bytes[book.range]))
            item.id = book.value["id"]?.integer.map { "library:\($0)" }
            item.kind = "book"
            item.name = book.value["title"]?.string
            item.downloadUrl = book.value["file"]?.string.flatMap { HTTPURL($0)?.string }
            return item
        }
        return Listing(items: items, bodyBytes: response.body.count)
    }
}
