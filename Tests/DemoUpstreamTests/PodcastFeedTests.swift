import HTTPCore
import HTTPServer
import JSON
import TestSupport
import TestUpstream
import Testing

@testable import DemoUpstream

@Suite("The podcast's feed", .timeLimit(.minutes(3))) @OffPool struct PodcastFeedTests {
    /// 2026-11-23T14:32:10Z.
    private static let now: Int64 = 1_795_444_330

    /// The feed at a time.
    private func feed(at now: Int64) -> Entity { .feed(PodcastFeed(at: now), base: "http://a.example") }

    private func entity(_ path: String) throws -> Entity? {
        Entity.find(try #require(Target(try RequestTarget(path))), base: "", node: 1)
    }

    private func text(_ entity: Entity) -> String {
        var bytes: [UInt8] = []
        entity.content.append(0..<entity.content.length, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func identities(_ text: String) -> [String] { text.matches(of: /<guid[^>]*>([^<]+)</).map { String($0.1) } }

    @Test("Each minute has another episode at the top, and drops the last")
    func minutes() throws {
        let (first, later, next) = (feed(at: Self.now), feed(at: Self.now + 49), feed(at: Self.now + 50))
        #expect(first.mediaType.hasPrefix("application/rss+xml"))
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
        var request = Request()
        request.head.fields.append(.ifNoneMatch, try #require(feed(at: Self.now).etag))
        let target = try #require(Target(try RequestTarget(PodcastFeed.path)))
        for (seconds, status) in [(49, .notModified), (50, .ok)] as [(Int64, HTTPStatus)] {
            var response = Response()
            UpstreamApplication(pace: 0).send(feed(at: Self.now + seconds), of: target, to: request, with: &response)
            #expect(response.status == status)
        }
    }

    @Test("Episodes have the stated length and type, at any time; others are missing")
    func episodes() throws {
        let feed = text(feed(at: Self.now))
        let enclosures = feed.matches(of: /<enclosure url="http:\/\/a.example([^"]+)" length="(\d+)" type="([^"]+)"/)
        #expect(enclosures.count == 20)
        let sounds = try enclosures.map { enclosure in
            let episode = try #require(try entity(String(enclosure.1)))
            #expect(String(episode.content.length) == enclosure.2)
            #expect(episode.mediaType == enclosure.3)
            return Bytes(TestUpstream.content(of: String(enclosure.1))?.bytes(in: 44..<100_000) ?? [])
        }
        #expect(sounds.first != sounds.last)
        for path in ["/episodes/1/audio.wav", "/episodes/5000910101/audio.wav", "/podcast/1/feed.xml"] {
            #expect(try entity(path) == nil, "\(path)")
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
