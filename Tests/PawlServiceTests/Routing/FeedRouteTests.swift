import DownloadCore
import Feeds
import Foundation
import HTTPCore
import HTTPServer
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import PawlService

@Suite("Feeds of finished files over HTTP", .timeLimit(.minutes(3)))
struct FeedRouteTests {
    private let directory: TemporaryDirectory
    private let tokens: String

    init() throws {
        directory = try TemporaryDirectory()
        tokens = directory.path + "/tokens"
        try Data(PodcastOrigin.tokens.utf8).write(to: URL(filePath: tokens))
    }

    private func feed(_ response: TestResponse) throws -> Feed {
        try Feed(reading: response.body, from: try #require(HTTPURL("http://127.0.0.1/")))
    }

    /// The key in the link of a subscription.
    private func key(_ subscription: JSONValue) throws -> String {
        let link = try #require(subscription["links"]?["feed"]?.string)
        return String(try #require(link.split(separator: "?key=").last))
    }

    private func path(_ url: HTTPURL) -> String {
        String(url.string.trimmingPrefix(/http:\/\/[^\/]*/))
    }

    @Test("The finished files are a podcast with the metadata of the feed")
    func podcast() async throws {
        let more =
            "<pubDate>Wed, 02 Oct 2002 13:00:00 GMT</pubDate><itunes:duration>1:01:01</itunes:duration>"
            + "<itunes:episode>7</itunes:episode><itunes:season>2</itunes:season><itunes:explicit>yes</itunes:explicit>"
            + "<link>https://show.test/?p=1&amp;q=2</link><itunes:image href=\"https://show.test/1.png\"/>"
        let origin = try PodcastOrigin(
            "<title>Show &amp; Co</title><link>https://show.test/</link><itunes:author>Ada</itunes:author>"
                + "<itunes:image href=\"https://show.test/show.png\"/>"
                + "<item><title>\"Plain\"</title><pubDate>Tue, 01 Oct 2002 13:00:00 GMT</pubDate>"
                + "<enclosure type=\"audio/mpeg\" url=\"/files/plain.bin\"/></item>"
                + PodcastOrigin.item("https://show.test/?p=1", file: "1", more) + PodcastOrigin.item("missing"))
        try await origin.with { running in
            let subscription = try await running.follow(origin, finished: 2)
            let id = try #require(subscription["id"]?.string)
            let path = "/subscriptions/\(id)/feed.xml"
            #expect(subscription["links"]?["feed"]?.string == path)
            let response = try await running.send("GET", path)
            #expect(response.status == 200 && response["content-type"] == "application/rss+xml; charset=utf-8")
            #expect(response["cache-control"] == "private, no-cache")
            let base = "http://127.0.0.1:\(running.service.port)"
            let text = response.text
            #expect(text.contains("<title><![CDATA[Show & Co]]></title>") && text.contains("<link>https://show.test/</link>"))
            #expect(text.contains("href=\"\(base)\(path)\"/>") && text.contains("<itunes:block>Yes</itunes:block>"))
            #expect(text.contains("<guid isPermaLink=\"false\">https://show.test/?p=1</guid>"))
            #expect(text.contains("<pubDate>Wed, 02 Oct 2002 13:00:00 GMT</pubDate>"))
            #expect(text.contains("<itunes:duration>3661</itunes:duration>") && !text.contains("key="))
            let feed = try feed(response)
            #expect(feed.title == "Show & Co" && feed.author == "Ada")
            #expect(feed.artwork?.string == "https://show.test/show.png" && feed.page == "https://show.test/")
            try #require(feed.items.count == 2)
            let item = feed.items[0]
            #expect(item.title == "Episode https://show.test/?p=1" && item.number == 7 && item.season == 2)
            #expect(item.explicit == true && item.page == "https://show.test/?p=1&q=2")
            #expect(item.artwork?.string == "https://show.test/1.png" && item.enclosure.type == "audio/mpeg")
            // An origin that tells no type does not make a file unplayable; an item without a guid has its own id.
            #expect(feed.items[1].title == "\"Plain\"" && feed.items[1].enclosure.type == "audio/mpeg")
            #expect(feed.items[1].guid?.utf8.count == 32)
            for item in feed.items {
                #expect(item.enclosure.url.string.hasPrefix(base + "/downloads/"))
                let file = try await running.send("GET", self.path(item.enclosure.url))
                #expect(file.status == 200 && Int64(file.body.count) == item.enclosure.length)
            }
            let tag = try #require(response["etag"])
            let same = try await running.send("GET", path, fields: [("If-None-Match", tag)])
            #expect(same.status == 304 && same.body.isEmpty && same["etag"] == tag)
            let head = try await running.send("HEAD", path)
            #expect(head.status == 200 && head["etag"] == tag && head["content-length"] == String(response.body.count))
            let download = try #require(feed.items.first?.enclosure.url.string.split(separator: "/").dropLast(2).last)
            #expect(try await running.send("DELETE", "/downloads/\(download)").status == 204)
            let fewer = try await running.send("GET", path, fields: [("If-None-Match", tag)])
            #expect(fewer.status == 200)
            #expect(try self.feed(fewer).items.map(\.title) == ["\"Plain\""])
        }
    }

    @Test("Before the first file the feed is empty; behind a proxy its addresses are the proxy's")
    func empty() async throws {
        let origin = try PodcastOrigin("<title>Show</title>")
        let host = try #require(AllowedHost(parsing: "media.example"))
        try await origin.with {
            $0.server.ingress.trustedProxies = [AddressBlock(base: .v4(0x7F00_0001), length: 32)]
            $0.allowedHosts = [host]
        } _: { running in
            let id = try #require(try await running.follow(origin, finished: 0)["id"]?.string)
            let response = try await running.send(
                "GET", "/subscriptions/\(id)/feed.xml",
                fields: [
                    ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "media.example"), ("X-Forwarded-Prefix", "/pawl"),
                ])
            #expect(response.text.contains("href=\"https://media.example/pawl/subscriptions/\(id)/feed.xml\""))
            #expect(response.text.contains("<link>https://media.example/pawl/</link>"))
            #expect(try feed(response).items.isEmpty)
            #expect(try await running.send("GET", "/subscriptions/\(id)/feed.xml?key=old").status == 200)
        }
    }

    @Test("A key opens its feed and the files in it, and nothing else")
    func keys() async throws {
        let origin = try PodcastOrigin("<title>Show</title>" + PodcastOrigin.item("1"))
        try await origin.with(tokens: tokens) { running in
            let one = try await running.follow(origin, "/one", finished: 1, fields: PodcastOrigin.full)
            origin.channel.withLock { $0 = "<title>Other</title>" + PodcastOrigin.item("2") }
            let other = try await running.follow(origin, "/other", finished: 1, fields: PodcastOrigin.full)
            let link = try #require(one["links"]?["feed"]?.string)
            let key = try key(one)
            #expect(try key.utf8.count == 32 && key != self.key(other))
            let response = try await running.send("GET", link)
            #expect(response.status == 200 && response["referrer-policy"] == "no-referrer")
            let url = try #require(try feed(response).items.first?.enclosure.url)
            let file = path(url)
            #expect(file.hasSuffix("/file/Episode%201.mp3?key=\(key)"))
            for (method, file) in [("GET", file), ("HEAD", file), ("GET", file.replacing("/Episode%201.mp3", with: ""))] {
                let sent = try await running.send(method, file, fields: [("Range", "bytes=0-3")])
                let (status, count) = method == "GET" ? (206, 4) : (200, 0)
                #expect(sent.status == status && sent.body.count == count, "\(sent.text)")
                #expect(sent["referrer-policy"] == "no-referrer")
            }
            // Of others, it does not even tell whether they exist.
            let (id, foreignID) = (try #require(one["id"]?.string), try #require(other["id"]?.string))
            let foreign = try await running.send(
                "GET", "/downloads?label=subscription%3A\(foreignID)", fields: PodcastOrigin.full)
            let download = try #require(foreign.json["items"]?.array?.first?["id"]?.string)
            for id in [download, "01JD6Z0000000000000000000A", "nonsense"] {
                for name in ["", "/1.mp3"] {
                    let refused = try await running.send("GET", "/downloads/\(id)/file\(name)?key=\(key)")
                    #expect(refused.status == 404 && refused.detail == "the feed of this key has no such file", "\(refused.text)")
                }
            }
            for path in [foreignID, "01JD6Z0000000000000000000A"].map({ "/subscriptions/\($0)/feed.xml" }) {
                #expect(try await running.send("GET", "\(path)?key=\(key)").code == "unauthorized")
            }
            for path in [
                "/subscriptions", "/subscriptions/\(id)", "/subscriptions/\(id)/items", "/subscriptions/export", "/downloads",
                "/downloads/\(download)", "/downloads/events", "/stats",
            ] {
                #expect(try await running.send("GET", "\(path)?key=\(key)").status == 401, "\(path)")
            }
            for path in [link, file, "/subscriptions/\(id)/key?key=\(key)", "/subscriptions/\(id)/pause?key=\(key)"] {
                #expect([401, 405].contains(try await running.send("POST", path).status), "\(path)")
            }
            // A token counts instead of the key.
            #expect(try await running.send("GET", link, fields: [("Authorization", "Bearer wrong")]).status == 401)
            let token = try await running.send("GET", "/subscriptions/\(id)/feed.xml?key=x", fields: PodcastOrigin.full)
            #expect(token.status == 200)
        }
    }

    @Test("A key is shown only with scope full, and appears in no log")
    func secrecy() async throws {
        let origin = try PodcastOrigin(
            "<title>Show</title>"
                + PodcastOrigin.item("https://show.test/?p=1", file: "1", "<link>https://show.test/?p=1</link>"))
        let lines = Locked<[String]>([])
        let log = Log(level: .debug, format: .json, now: { .now() }) { bytes in
            lines.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
        }
        var keys: [String] = []
        try await origin.with(tokens: tokens, log: log) {
            $0.logsRequests = true
        } _: { running in
            let subscription = try await running.follow(origin, finished: 1, fields: PodcastOrigin.full)
            let id = try #require(subscription["id"]?.string)
            let former = try key(subscription)
            let path = "/subscriptions/\(id)"
            let changed = try await running.send("POST", path + "/key", fields: PodcastOrigin.full)
            #expect(changed.status == 200 && changed["etag"] != nil)
            let key = try key(changed.json)
            keys = [former, key]
            #expect(changed.json["links"]?["feed"]?.string == "\(path)/feed.xml?key=\(key)")
            #expect(try await running.send("GET", "/subscriptions", fields: PodcastOrigin.full).text.contains(key))
            #expect(try await running.send("POST", path + "/key", fields: PodcastOrigin.read).status == 403)
            for path in ["/subscriptions", path, path + "/feed.xml", path + "/feed.xml?key=x", "/subscriptions/export"] {
                let shown = try await running.send("GET", path, fields: PodcastOrigin.read)
                #expect(shown.status == 200 && !shown.text.contains("key="), "\(path)")
            }
            let own = try await running.send("GET", path, fields: PodcastOrigin.read)
            #expect(own.json["links"]?["feed"]?.string == path + "/feed.xml")
            // Nor do addresses have their queries. An id with one is replaced.
            let plain = try await running.send("GET", path + "/feed.xml", fields: PodcastOrigin.read)
            #expect(plain.text.contains("<link>https://show.test/</link>") && !plain.text.contains("p=1"))
            #expect(try feed(plain).items.first?.guid?.utf8.count == 32)
            let feed = try await running.send("GET", "\(path)/feed.xml?key=\(key)")
            #expect(feed.text.contains(key) && feed.text.contains("<link>https://show.test/?p=1</link>"))
            #expect(try await running.send("GET", "\(path)/feed.xml?key=\(former)").status == 401)
            let file = try #require(try self.feed(feed).items.first?.enclosure.url)
            #expect(try await running.send("GET", self.path(file)).status == 200)
            let metrics = try await running.send("GET", "/metrics", fields: PodcastOrigin.full)
            #expect(metrics.text.contains("pawl_auth_failures_total 1\n"))
        }
        let text = lines.withLock { $0.joined() }
        #expect(text.contains("feed.xml") && text.contains("the key of a feed is replaced"))
        #expect(keys.count == 2 && keys.allSatisfy { !text.contains($0) })
    }

    @Test("A replaced key opens nothing, and keys survive a restart")
    func replacement() async throws {
        let origin = try PodcastOrigin("<title>Show</title>" + PodcastOrigin.item("1"))
        let data = try TemporaryDirectory()
        var links: [String] = []
        var files: [String] = []
        try await origin.with(tokens: tokens, directory: data) { running in
            let subscription = try await running.follow(origin, finished: 1, fields: PodcastOrigin.full)
            let id = try #require(subscription["id"]?.string)
            let path = "/subscriptions/\(id)"
            let changed = try await running.send("POST", path + "/key", fields: PodcastOrigin.full)
            for subscription in [subscription, changed.json] {
                links.append(try #require(subscription["links"]?["feed"]?.string))
            }
            let now = try await running.send("GET", links[1])
            files = [self.path(try #require(try feed(now).items.first?.enclosure.url))]
            files.insert(files[0].replacing(try key(changed.json), with: try key(subscription)), at: 0)
        }
        try await origin.with(tokens: tokens, directory: data) { running in
            for paths in [links, files] {
                #expect(try await running.send("GET", paths[0]).status == 401)
                #expect(try await running.send("GET", paths[1]).status == 200)
            }
            let id = try #require(links[1].split(separator: "/").dropFirst().first)
            #expect(try await running.send("DELETE", "/subscriptions/\(id)", fields: PodcastOrigin.full).status == 204)
            #expect(try await running.send("GET", links[1]).status == 401)
            #expect(try await running.send("GET", files[1]).status == 401)
            #expect(try await running.send("POST", "/subscriptions/\(id)/key", fields: PodcastOrigin.full).status == 404)
        }
    }

    @Test("Wrong keys are throttled as wrong tokens are, and right ones always pass")
    func guessing() async throws {
        let origin = try PodcastOrigin("<title>Show</title>")
        try await origin.with(tokens: tokens) { running in
            let subscription = try await running.follow(origin, finished: 0, fields: PodcastOrigin.full)
            let link = try #require(subscription["links"]?["feed"]?.string)
            var guesses = 0
            while try await running.send("GET", "\(link)\(guesses)").status == 401 { guesses += 1 }
            #expect((9...20).contains(guesses))
            #expect(try await running.send("GET", "/downloads/nonsense/file?key=guess").status == 429)
            #expect(try await running.send("GET", link).status == 200)
            #expect(try await running.send("GET", link + "&nonsense=1").code == "invalid-request")
        }
    }
}
