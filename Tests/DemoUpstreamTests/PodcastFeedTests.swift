import HTTPCore
import JSON
import TestSupport
import Testing

@testable import DemoUpstream

@Suite("The podcast's feed", .timeLimit(.minutes(3))) @OffPool struct PodcastFeedTests {
    /// 2026-11-23T14:32:10Z.
    private static let now: Int64 = 1_795_444_330

    /// The response to a request at a time.
    private func response(_ target: String, at now: Int64, ifNoneMatch tag: String? = nil) throws -> EntityResponse {
        let target = try Target(try RequestTarget(target))
        let entity = try #require(try Entity.find(target, version: 1, base: "http://a.example", now: now))
        var fields = Fields()
        if let tag { fields.append(.ifNoneMatch, tag) }
        return EntityResponse(entity: entity, faults: ActiveFaults([], request: 1), method: .get, fields: fields)
    }

    private func text(_ response: EntityResponse) -> String {
        var bytes: [UInt8] = []
        let content = response.entity.content
        content.append(0..<content.length, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func identities(_ text: String) -> [String] { text.matches(of: /<guid[^>]*>([^<]+)</).map { String($0.1) } }

    @Test("Each minute has another episode at the top, and drops the last")
    func minutes() throws {
        let (first, later, next) = try (
            response(PodcastFeed.path, at: Self.now), response(PodcastFeed.path, at: Self.now + 49),
            response(PodcastFeed.path, at: Self.now + 50)
        )
        #expect(first.fields[.contentType]?.hasPrefix("application/rss+xml") == true)
        #expect(text(first) == text(later))
        let (old, new) = (identities(text(first)), identities(text(next)))
        #expect(old.count == 20)
        #expect(Set(old).count == 20)
        #expect(Array(new.dropFirst()) == Array(old.dropLast()))
        #expect(new.first != old.first)
        #expect(text(first).contains("<title>The Tide at 14.32</title>\n<pubDate>Mon, 23 Nov 2026 14:32:00 GMT</pubDate>"))
    }

    @Test("A request with the tag of the present minute gets 304")
    func conditional() throws {
        let tag = try #require(try response(PodcastFeed.path, at: Self.now).fields[.etag])
        #expect(try response(PodcastFeed.path, at: Self.now + 49, ifNoneMatch: tag).status == .notModified)
        #expect(try response(PodcastFeed.path, at: Self.now + 50, ifNoneMatch: tag).status == .ok)
    }

    @Test("Episodes have the stated length and type, at any time; others are missing")
    func episodes() throws {
        let feed = text(try response(PodcastFeed.path, at: Self.now))
        let enclosures = feed.matches(of: /<enclosure url="http:\/\/a.example([^"]+)" length="(\d+)" type="([^"]+)"/)
        #expect(enclosures.count == 20)
        let sounds = try enclosures.map { enclosure in
            let episode = try response(String(enclosure.1), at: 0)
            #expect(String(episode.entity.content.length) == enclosure.2)
            #expect(episode.fields[.contentType] == String(enclosure.3))
            return Bytes(DemoUpstream.content(of: String(enclosure.1))?.bytes(in: 44..<100_000) ?? [])
        }
        #expect(sounds.first != sounds.last)
        for path in ["/episodes/1/audio.wav", "/episodes/5000910101/audio.wav", "/podcast/1/feed.xml"] {
            #expect(try Entity.find(try Target(try RequestTarget(path)), version: 1, base: "", now: Self.now) == nil, "\(path)")
        }
    }

    @Test("The podcast's search result and its page lead to the feed")
    func links() async throws {
        try await withUpstream { _, base in
            let found = try JSONValue(parsing: try get(base, "/search?term=podcast").body)["results"]?.array?.first
            #expect(found?["feedUrl"]?.string == base + PodcastFeed.path)
            let page = try #require(found?["trackViewUrl"]?.string)
            #expect(try get(base, String(page.dropFirst(base.count))).text.contains("href=\"\(PodcastFeed.path)\""))
            #expect(try get(base, PodcastFeed.path).status == 200)
        }
    }
}
