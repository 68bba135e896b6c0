import HTTPClient
import HTTPCore
import JSON

/// The Internet Archive: https://archive.org/developers.
struct ArchiveSource: SearchSource {
    /// The base URL; `/advancedsearch.php`, `/metadata`, `/download`, `/details` and `/services/img` are appended.
    let base: HTTPURL

    static let description = SourceDescription(
        id: "archive", name: "Internet Archive", base: HTTPURL(.https, host: "archive.org"), attribution: nil,
        mediaTypes: ["application/json"], ids: ["archive:<identifier>", "archive:<identifier>/<path>"],
        hasParts: true, hasFormats: true,
        // The archive asks for few connections. With these values, at most four requests begin while a slow one runs.
        pace: SourceDescription.Pace(requests: 4, period: .seconds(4)),
        parameters: [
            .term,
            SearchParameter(
                name: "media", summary: "The kind of media.",
                accepted: .values(["all", "audio", "movies", "texts", "image", "software", "data"]), standard: "all"),
            .limit,
            SearchParameter(
                name: "offset", summary: "The number of results to skip; with limit, at most \(ArchivePage.last).",
                accepted: .number(0...(ArchivePage.last - 1)), standard: "0"),
            .session, .include,
        ])

    func objection(to query: SearchQuery) -> String? {
        if query.offset + query.limit > ArchivePage.last {
            return "the query parameters 'offset' and 'limit' are \(query.offset) and \(query.limit); "
                + "with the source 'archive' they take at most \(ArchivePage.last) together"
        }
        if ArchiveQuery.text(term: query.term, media: nil) == nil {
            return
                "the query parameter 'term' is \(SearchParameter.quoted(query.term)); the source 'archive' requires a word in it"
        }
        return nil
    }

    func request(for query: SearchQuery) -> SourceRequest {
        let page = ArchivePage(offset: query.offset, limit: query.limit)
        var items = [QueryItem(name: "q", value: ArchiveQuery.text(term: query.term, media: query.media) ?? "")]
        // Each `fl[]` adds a field to the results. `callback` is never sent: it would make the response a script.
        items += Self.fields.map { QueryItem(name: "fl[]", value: $0) }
        items.append(QueryItem(name: "rows", value: String(page.rows)))
        items.append(QueryItem(name: "page", value: String(page.number)))
        items.append(QueryItem(name: "output", value: "json"))
        if query.isNewestFirst { items.append(QueryItem(name: "sort[]", value: "addeddate desc")) }
        return SourceRequest(url: base.appending(path: "advancedsearch.php", query: items))
    }

    /// The requested fields of a result.
    private static let fields = [
        "identifier", "title", "creator", "mediatype", "collection", "date", "year", "runtime", "licenseurl",
    ]

    func request(forID id: Substring) -> SourceRequest? {
        let parts = id.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let identifier = parts.first.flatMap({ Substring($0) }), Self.isIdentifier(identifier),
            parts.count == 1 || !parts[1].isEmpty
        else { return nil }
        // One response describes an item and all its files.
        return SourceRequest(url: base.appending(path: "metadata/\(identifier)"), id: "archive:\(identifier)")
    }

    func requests(forPartsOf id: Substring) -> [SourceRequest] {
        // A file has no parts.
        if id.utf8.contains(UInt8(ascii: "/")) { return [] }
        return request(forID: id).map { [$0] } ?? []
    }

    /// Whether a text is an identifier: ASCII letters, digits, dots, hyphens and underscores, without a dot or hyphen
    /// at the beginning (https://archive.org/developers/metadata-schema, `identifier`). A few old identifiers are
    /// shorter or longer than allowed today; all fit into a label.
    static func isIdentifier(_ text: Substring) -> Bool {
        (1...192).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".") && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
    }

    func isThrottling(_ response: ClientResponse) -> Bool {
        response.head.status == .tooManyRequests || response.head.status == .serviceUnavailable
    }

    func select(_ query: SearchQuery, from listing: Listing) -> [FoundItem] {
        let page = ArchivePage(offset: query.offset, limit: query.limit)
        return Array(listing.items.dropFirst(page.skipped).prefix(query.limit))
    }

    /// The maximum number of results; a page has at most 400: see ``ArchivePage``.
    private static let maximumResults = 1_000
    /// The maximum number of files of an item. A few items, such as web crawls, have more.
    static let maximumFiles = 20_000
    /// The maximum number of JSON values; a file has about 12.
    private static let maximumValues = 500_000

    func decode(_ response: ClientResponse, of request: SourceRequest) throws(CatalogError) -> Listing {
        let document = try response.document(
            values: Self.maximumValues, otherwise: "The Internet Archive answered with something that is not JSON")
        // Errors have status 200.
        if let error = document.root["error"] {
            let text = error.string ?? "an error without a name"
            throw .upstreamRejected("The Internet Archive answered with an error: \(SearchParameter.cut(text, to: 500))")
        }
        if let id = request.id { return try Self.work(id, in: document, base: base) }
        guard let elements = document.elements(of: "docs", in: "response") else {
            throw .upstreamRejected("The Internet Archive answered without the array \"docs\" of \"response\".")
        }
        guard elements.count <= Self.maximumResults else {
            throw .upstreamRejected(
                "The Internet Archive answered with \(elements.count) results; at most \(Self.maximumResults) are read.")
        }
        var items: [SearchItem] = []
        items.reserveCapacity(elements.count)
        for element in elements {
            // Accounts and other entries without an item's identifier occasionally appear among the results.
            if let item = Self.item(element.value, raw: Array(document.bytes[element.range]), base: base) { items.append(item) }
        }
        guard !items.isEmpty || elements.isEmpty else {
            throw .upstreamRejected("The Internet Archive answered with results without identifiers.")
        }
        return Listing(items: items, bodyBytes: response.body.count)
    }
}
