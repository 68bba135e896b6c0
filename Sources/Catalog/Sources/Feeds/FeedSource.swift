import Feeds
import HTTPClient
public import HTTPCore
import System

/// Feeds of RSS, Atom and JSON Feed, which are works with episodes.
struct FeedSource: SearchSource {
    static let description = SourceDescription(
        id: "feed", name: "Feeds", base: HTTPURL(.https, host: "feed.invalid"), attribution: nil,
        mediaTypes: [
            "application/rss+xml", "application/atom+xml", "application/feed+json", "application/xml", "text/xml", "*/*",
        ],
        ids: ["feed:<URL>", "feed:<URL>#<32 hexadecimal digits>"], hasParts: true, hosts: .any,
        parameters: [
            SearchParameter(
                name: "term", summary: "The address of a feed, or of a page that announces one.", accepted: .address,
                isRequired: true),
            .limit, .session,
        ])

    init(base: HTTPURL) {}

    // MARK: - Addresses and ids

    /// The maximum length of an address in bytes.
    static let longestAddress = 8 << 10

    /// Returns the address of a feed as people copy it; `nil` for other texts, and for addresses with user or password.
    static func address(_ text: String) -> HTTPURL? {
        Catalog.feedAddress(text).flatMap { $0.hasUserInfo ? nil : $0 }
    }

    /// Returns the id of the feed at an address.
    static func id(of address: HTTPURL) -> String { "feed:\(address.string)" }

    static func label(ofWork id: String) -> String {
        guard let url = HTTPURL(String(Catalog.rest(of: id))) else { return id }
        return "feed:" + Hexadecimal.encode(SHA256.digest(of: Array(url.string.utf8))).prefix(32)
    }

    /// Returns the address of a feed and the key of its item in an id without its `feed:`; `nil` if it is no id.
    private static func parts(of id: Substring) -> (address: HTTPURL, key: Substring?)? {
        let mark = id.utf8.lastIndex(of: UInt8(ascii: "#"))
        let key = mark.map { id[$0...].dropFirst() }
        if let key, key.utf8.count != 32 || !key.utf8.allSatisfy(isHexadecimal) { return nil }
        return address(String(id[..<(mark ?? id.endIndex)])).map { ($0, key) }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    // MARK: - Requests

    func request(for query: SearchQuery) -> SourceRequest {
        SourceRequest(url: Self.address(query.term) ?? Self.description.base)
    }

    func request(forID id: Substring) -> SourceRequest? {
        Self.parts(of: id).map { SourceRequest(url: $0.address, id: "feed:\(id)") }
    }

    func requests(forPartsOf id: Substring) -> [SourceRequest] {
        Self.parts(of: id).flatMap { $0.key == nil ? SourceRequest(url: $0.address, id: "feed:\(id)") : nil }.map { [$0] } ?? []
    }

    // MARK: - Responses

    func respondent(to request: SourceRequest) -> String { request.url.host }

    func successor(of response: ClientResponse) -> HTTPURL? {
        guard (200..<300).contains(response.head.status.code) else { return nil }
        let type = response.head.fields[.contentType].flatMap { MediaType(parsing: $0) }
        return FeedLink.first(in: response.body, at: response.head.url, charset: type?.charset)
    }

    func decode(_ response: ClientResponse, of request: SourceRequest) throws(CatalogError) -> Listing {
        let type = response.head.fields[.contentType].flatMap { MediaType(parsing: $0) }
        let feed: Feed
        do throws(Feed.Refusal) {
            feed = try Feed(reading: response.body, from: response.head.url, charset: type?.charset)
        } catch {
            let finding = error.finding(ofType: type?.essence)
            throw .upstreamRejected("\(request.url.host) answered with \(finding); expected is a feed.")
        }
        return Self.listing(of: feed, at: request.url)
    }

    static func listing(of feed: Feed, at address: HTTPURL) -> Listing {
        let work = work(of: feed, at: address)
        var listing = Listing(items: [work.of.item], work: work, bodyBytes: 0)
        listing.feed = feed
        return listing
    }

    /// Returns a feed with its episodes.
    static func work(of feed: Feed, at address: HTTPURL) -> Work {
        let item = item(of: feed, at: address)
        return Work(
            item, parts: feed.items.map { Work.Part(Self.item($0, of: item, feed)) }, warnings: feed.warnings,
            isNumbered: false)
    }
}

extension Catalog {
    /// The value of Accept in requests for feeds.
    public static var feedAccept: String { FeedSource.description.accept }

    /// Returns the address of a feed as people copy it: of http or https, or with a scheme of podcast programs (`feed:`,
    /// `itpc:`, `pcast:`, `podcast:`). `nil` for other texts.
    public static func feedAddress(_ text: String) -> HTTPURL? {
        guard text.utf8.count <= FeedSource.longestAddress else { return nil }
        var rest = text[...]
        for scheme in ["feed:", "itpc:", "pcast:", "podcast:"] where rest.lowercased().hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.count)
            if rest.hasPrefix("//") { rest = "http:" + rest }
        }
        return HTTPURL(String(rest))
    }
}
