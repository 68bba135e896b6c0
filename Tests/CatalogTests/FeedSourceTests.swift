import Foundation
import HTTPClient
import HTTPCore
import JSON
import TestSupport
import Testing

@testable import Catalog

/// Feeds as works: their ids, requests, listings and errors.
@Suite("Feeds as a source", .timeLimit(.minutes(3)))
struct FeedSourceTests {
    private static let address = "https://feeds.example/show.xml?key=1"

    private static let document = """
        <rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>
        <title>Deep &amp; Wide</title><itunes:author>Ada</itunes:author><link>/show</link>
        <itunes:image href="/cover.jpg"/>
        <item><guid>a</guid><title>One</title><pubDate>Wed, 02 Oct 2002 13:00:00 GMT</pubDate>
        <itunes:duration>1:02:03</itunes:duration><itunes:episode>7</itunes:episode><itunes:season>2</itunes:season>
        <itunes:explicit>yes</itunes:explicit><enclosure url="https://cdn.example/a.m4a" length="1000" type="audio/x-m4a"/></item>
        <item><guid>b</guid><title>Two</title><pubDate>Thu, 03 Oct 2002 13:00:00 GMT</pubDate>
        <enclosure url="/play.php?id=2" length="0" type="audio/mpeg"/></item>
        <item><title>Text only</title></item>
        </channel></rss>
        """

    private static func bench(_ document: String = document, type: String? = "application/rss+xml") -> Bench {
        Bench { _ in .success(.with(type: type, document)) }
    }

    @Test("A search finds one work at an address")
    func search() async throws {
        let bench = Self.bench()
        let found = try await bench.catalog.search(try query("source=feed&term=\(PercentEncoding.encodeForm(Self.address))"))
        let item = try #require(found.items.first)
        #expect(found.items.count == 1 && bench.client.count == 1)
        #expect(item.id == "feed:\(Self.address)" && item.kind == "podcast" && item.name == "Deep & Wide")
        #expect(item.artist == "Ada" && item.partCount == 2 && item.hasParts)
        #expect(item.artworkUrl?.hasSuffix("/cover.jpg") == true && item.pageUrl?.hasSuffix("/show") == true)
        let request = try #require(bench.client.requests.value.first)
        #expect(request.url.string == Self.address)
        #expect(
            request.fields.first?.value.hasPrefix("application/rss+xml") == true && request.guarding == nil
                && request.totalTimeout == .seconds(30))
    }

    @Test("Parts are all episodes, the newest first, with what the feed says of them")
    func parts() async throws {
        let bench = Self.bench()
        let found = try await bench.catalog.parts(PartsQuery(id: "feed:\(Self.address)"))
        #expect(found.items.map(\.name) == ["Two", "One"] && found.total == 2 && found.formats.isEmpty)
        let one = found.items[1]
        #expect(one.id?.hasPrefix("feed:\(Self.address)#") == true && one.id?.utf8.count == 5 + Self.address.utf8.count + 33)
        #expect(one.kind == "podcast-episode" && one.partOf == "feed:\(Self.address)" && one.collection == "Deep & Wide")
        #expect(one.releaseDate == "2002-10-02T13:00:00Z" && one.durationMs == 3_723_000)
        #expect(one.number == 7 && one.season == 2 && one.explicit == true && one.bytes == 1000)
        #expect(one.format == "audio/x-m4a" && one.downloadUrl == "https://cdn.example/a.m4a")
        #expect(one.suggestion == .episode("One", "2002-10-02", ".m4a"))
        let two = found.items[0]
        #expect(two.number == nil && two.bytes == nil && two.suggestion == .episode("Two", "2002-10-03", ".mp3"))
    }

    @Test("One request serves a search, all pages and each part by its id")
    func oneRequest() async throws {
        let bench = Self.bench()
        let id = "feed:\(Self.address)"
        let found = try await bench.catalog.parts(PartsQuery(id: id, formats: [], limit: 1, offset: 1, includesRaw: false))
        let part = try #require(found.items.first?.id)
        #expect(try await bench.catalog.lookup(part).items.first?.name == "One")
        #expect(try await bench.catalog.lookup(id).items.first?.name == "Deep & Wide")
        #expect(bench.client.count == 1)
        let other = String(part.dropLast()) + (part.hasSuffix("0") ? "1" : "0")
        let error = await failure { () async throws(CatalogError) in try await bench.catalog.lookup(other) }
        #expect(error?.kind == "notFound")
    }

    @Test("A page leads to the first feed that it announces, in one step")
    func discovery() async throws {
        let page = """
            <!DOCTYPE html><html><head><link rel="alternate" type="application/rss+xml" href="/feed.xml">
            <link rel="alternate" type="application/atom+xml" href="/other.xml"></head></html>
            """
        let bench = Bench { request in
            .success(.with(type: "text/html", request.url.path == "/feed.xml" ? Self.document : page))
        }
        let found = try await bench.catalog.search(try query("source=feed&term=https://itunes.test/about"))
        #expect(found.items.first?.id == "feed:https://itunes.test/feed.xml")
        let error = await failure { () async throws(CatalogError) in
            try await Bench { _ in .success(.with(type: "text/html", page)) }.catalog.parts(
                PartsQuery(id: "feed:https://a.test/"))
        }
        guard case .upstreamRejected(let text, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text.contains("itunes.test answered with a page (HTML)"), "\(text)")
    }

    @Test(
        "Takes addresses as people copy them, and no others",
        arguments: [
            ("https://a.test/x", "https://a.test/x"), ("feed:https://a.test/x", "https://a.test/x"),
            ("feed://a.test/x", "http://a.test/x"), ("itpc://a.test/x", "http://a.test/x"),
            ("PCAST://a.test/x", "http://a.test/x"),
            ("HTTPS://A.test", "https://a.test/"), ("https://u:p@a.test/x", nil), ("a.test/x", nil), ("jazz", nil),
            ("ftp://a.test/", nil),
            ("https://a.test/" + String(repeating: "x", count: 8 << 10), nil), ("feed:feed:", nil), ("", nil),
        ] as [(String, String?)])
    func addresses(text: String, expected: String?) throws {
        #expect(FeedSource.address(text)?.string == expected)
        guard expected == nil else { return }
        do {
            _ = try query("source=feed&term=\(PercentEncoding.encodeForm(text))")
            Issue.record("\(text) was accepted")
        } catch CatalogError.invalidRequest(let message) {
            #expect(message.contains("'term'") && message.contains("http or https URL"), "\(message)")
        }
    }

    @Test("A long address is an id, and its label is short")
    func longAddress() async throws {
        let address = "https://a.test/" + String(repeating: "x", count: 8_000)
        let found = try await Self.bench().catalog.parts(PartsQuery(id: "feed:\(address)"))
        #expect(found.items.count == 2)
        let label = Catalog.label(ofWork: "feed:\(address)")
        #expect(label.hasPrefix("feed:") && label.utf8.count == 37)
        #expect(Catalog.label(ofWork: "feed:HTTPS://A.test/x") == Catalog.label(ofWork: "feed:https://a.test/x"))
        #expect(Catalog.label(ofWork: "archive:x") == "archive:x")
    }

    @Test("Faults of a document are warnings; the items before a break count")
    func warnings() async throws {
        let cut = String(Self.document.prefix { $0 != "T" }) + "T"
        let broken = try #require(Self.document.range(of: "<item><guid>b"))
        let found = try await Self.bench(String(Self.document[..<broken.upperBound])).catalog.parts(
            PartsQuery(id: "feed:\(Self.address)"))
        #expect(found.items.map(\.name) == ["One"] && found.warnings.count == 1, "\(found.warnings) \(cut)")
        var writer = JSONWriter()
        found.encode(into: &writer, includesRaw: true) { _ in nil }
        let json = try JSONValue(parsing: writer.bytes)
        #expect(json["warnings"]?.array?.count == 1)
        #expect(json["results"]?.array?.first?["raw"]?.isNull == true)
        #expect(json["results"]?.array?.first?["season"]?.integer == 2)
    }

    @Test(
        "Reports failures with the host, without a budget for all feeds",
        arguments: [
            (FakeClient.Outcome.success(.with(status: 404, "")), "upstreamRejected"),
            (.success(.with(status: 429, "")), "upstreamRateLimited"), (.success(.with(type: nil, "{}")), "upstreamRejected"),
            (.success(.with("nonsense")), "upstreamRejected"),
            (.failure(.destinationForbidden("10.0.0.1")), "destinationForbidden"),
            (.failure(.timedOut("the response")), "upstreamTimeout"),
        ])
    func failures(outcome: FakeClient.Outcome, kind: String) async throws {
        let bench = Bench { request in
            request.url.host == "bad.test" ? outcome : .success(.with(type: "text/xml", Self.document))
        }
        for _ in 0..<3 {
            let error = await failure { () async throws(CatalogError) in
                try await bench.catalog.parts(PartsQuery(id: "feed:https://bad.test/"))
            }
            #expect(error?.kind == kind)
            if case .upstreamRejected(let text, _) = error { #expect(text.contains("bad.test"), "\(text)") }
        }
        for number in 0..<30 {
            #expect(try await bench.catalog.parts(PartsQuery(id: "feed:https://good.test/\(number)")).count == 2)
        }
    }

    @Test("A podcast of iTunes names its feed")
    func podcastOfITunes() async throws {
        let body = try Fixture.captured("itunes-podcast-lookup")
        let bench = Bench { _ in .success(.with(body)) }
        let document = try JSONDocument(parsing: body)
        let podcast = try #require(
            document.elements(of: "results")?.first { $0.value["feedUrl"]?.string != nil })
        let number = try #require(podcast.value["collectionId"]?.integer)
        let found = try await bench.catalog.lookup("itunes:\(number)")
        let feed = try #require(podcast.value["feedUrl"]?.string)
        #expect(found.items.first?.feedID == "feed:\(feed)")
        var writer = JSONWriter()
        found.encode(into: &writer, linkPrefix: "/p", includesRaw: false) { _ in nil }
        let links = try JSONValue(parsing: writer.bytes)["results"]?.array?.first?["links"]
        #expect(links?["feed"]?.string == "/p/search/parts?id=" + PercentEncoding.encodeForm("feed:\(feed)"))
    }
}

extension SuggestedDownload {
    fileprivate static func episode(_ title: String, _ prefix: String, _ suffix: String) -> SuggestedDownload {
        var suggestion = SuggestedDownload(title: title)
        suggestion.folder = ["Deep & Wide"]
        suggestion.prefix = prefix
        suggestion.suffix = suffix
        return suggestion
    }
}
