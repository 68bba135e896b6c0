import Downloads
import HTTPClient
import HTTPCore
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import PawlService

/// Feeds that give items other ids and addresses, wrong dates, missing files or several pages.
@Suite("Items of feeds that change or are wrong", .timeLimit(.minutes(3)))
struct SubscriptionLossTests {
    private func items(_ running: RunningService, _ id: String) async throws -> [String] {
        let answer = try await running.send("GET", "/subscriptions/\(id)/items")
        return (answer.json["items"]?.array ?? []).map { item in
            [item["name"]?.string, item["state"]?.string, item["reason"]?.string].compactMap(\.self).joined(separator: " ")
        }
    }

    @Test("New ids and tokens make no new items")
    func identity() async throws {
        let feed = try FeedOrigin([("2", "Two"), ("1", "One")])
        feed.change { state in
            state.dates = true
            state.suffix = "?token=1"
        }
        try await RunningService.with(feeds: [feed]) { running in
            let made = try await running.send("POST", "/subscriptions", json: "{\"feedUrl\":\"\(feed.url)\",\"take\":\"all\"}")
            let id = try #require(made.json["id"]?.string)
            #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").json["items"]?["taken"]?.integer == 2)
            feed.change { state in
                state.idSuffix = "-new"
                state.suffix = "?token=2"
            }
            for _ in 0..<2 {
                let checked = try await running.send("POST", "/subscriptions/\(id)/refresh").json
                #expect(checked["items"]?["taken"]?.integer == 2, "\(checked)")
            }
            #expect(try await running.send("GET", "/downloads").json["total"]?.integer == 2)
        }
    }

    @Test(
        "A feed that lists its newest episode gives all of them, though the query of a script names them",
        arguments: [(true, false), (false, false), (false, true)])
    func newestAlone(hasIds: Bool, hasTrailer: Bool) async throws {
        let feed = try PodcastOrigin()
        func list(_ number: Int) {
            let address = feed.url("/files/listen?episode=\(number)")
            let id = hasIds ? "<guid>\(address)</guid>" : ""
            feed.channel.withLock {
                $0 =
                    "<item>\(id)<title>Episode \(number)</title><pubDate>\(number) Oct 2024</pubDate>"
                    + "<enclosure type='audio/mpeg' url='\(address)'/></item>"
                if hasTrailer { $0 += "<item><title>T</title><enclosure type='audio/mpeg' url='/files/t.mp3?t=x'/></item>" }
            }
        }
        try await feed.with { running in
            list(1)
            let body = "{\"feedUrl\":\"\(feed.url())\",\"take\":\"all\"}"
            let id = try #require(try await running.send("POST", "/subscriptions", json: body).json["id"]?.string)
            for number in [1, 2, 3, 3] {
                list(number)
                let checked = try await running.send("POST", "/subscriptions/\(id)/refresh").json
                #expect(checked["items"]?["taken"]?.integer == Int64(number + (hasTrailer ? 1 : 0)), "\(checked)")
            }
            #expect(try await running.send("GET", "/downloads").json["total"]?.integer == (hasTrailer ? 4 : 3))
        }
    }

    @Test("An item that is dated in the future makes room for newer ones")
    func futureDates() async throws {
        let feed = try PodcastOrigin(PodcastOrigin.item("wrong", "<pubDate>1 Jan 2099</pubDate>"))
        try await feed.with { running in
            let body = "{\"feedUrl\":\"\(feed.url())\",\"take\":\"all\",\"keep\":1}"
            let id = try #require(try await running.send("POST", "/subscriptions", json: body).json["id"]?.string)
            _ = try await running.send("POST", "/subscriptions/\(id)/refresh")
            try await until {
                try await running.send("GET", "/downloads?state=completed").json["total"]?.integer == 1
            }
            feed.channel.withLock { $0 += PodcastOrigin.item("newer", "<pubDate>1 Jan 2098</pubDate>") }
            _ = try await running.send("POST", "/subscriptions/\(id)/refresh")
            try await until {
                try await items(running, id) == ["Episode newer taken", "Episode wrong expired"]
            }
        }
    }

    @Test("An episode that is listed before its file is told, and its file is requested again")
    func missingFiles() async throws {
        let feed = try FeedOrigin([("1", "One")])
        feed.change { $0.statuses["/files/1.mp3"] = 404 }
        try await RunningService.with(feeds: [feed]) { running in
            let made = try await running.send("POST", "/subscriptions", json: "{\"feedUrl\":\"\(feed.url)\",\"take\":\"all\"}")
            let id = try #require(made.json["id"]?.string)
            _ = try await running.send("POST", "/subscriptions/\(id)/refresh")
            try await until { try await items(running, id) == ["One taken file-not-there-yet"] }
            feed.change { $0.statuses = [:] }
            _ = try await running.send("POST", "/subscriptions/\(id)/refresh")
            try await until { try await running.send("GET", "/downloads?state=completed").json["total"]?.integer == 1 }
            #expect(try await items(running, id) == ["One taken"])
            // The number of attempts tells how long the file was awaited.
            let download = try await running.send("GET", "/downloads").json["items"]?.array?.first
            #expect(download?["attempts"]?.integer ?? 0 >= 2)
        }
    }

    @Test("A batch of a feed whose pages are left out says so, also to a repetition")
    func leftOutPages() async throws {
        let link = "<atom:link xmlns:atom='http://www.w3.org/2005/Atom' rel='next' href='/files/missing'/>"
        let feed = try PodcastOrigin(link + PodcastOrigin.item("1"))
        try await feed.with { running in
            let body = "{\"partsOf\":\"feed:\(feed.url())\",\"paused\":true}"
            for _ in 0..<2 {
                let fields = [("Idempotency-Key", "a")]
                let batch = try await running.send("POST", "/downloads/batch", json: body, fields: fields).json
                let warnings = (batch["warnings"]?.array ?? []).compactMap(\.string)
                #expect(warnings.count == 1 && warnings[0].contains("left out") && !warnings[0].hasSuffix(".."), "\(batch)")
                #expect(batch["items"]?.array?.first?["status"]?.integer == 201)
            }
        }
    }

    @Test("A feed with pages has all its parts, and a subscription takes them")
    func pages() async throws {
        let origin = try ScriptedOrigin { request in
            if request.target.hasPrefix("/files/") {
                return [.response(200, [("Content-Type", "audio/mpeg")], body: Array("file \(request.target)".utf8))]
            }
            let number = Int(String(request.target.last ?? "1")) ?? 1
            let next = number < 3 ? "<atom:link rel='next' href='/feed?page=\(number + 1)'/>" : ""
            let text =
                "<rss xmlns:atom='http://www.w3.org/2005/Atom'><channel><title>Show</title>\(next)"
                + PodcastOrigin.item("\(number)") + "</channel></rss>"
            return [.response(200, [("Content-Type", "application/rss+xml")], body: Array(text.utf8))]
        }
        let base = try #require(HTTPURL(origin.url("")))
        try await RunningService.with { configuration in
            configuration.downloads.destinationGuard.allowed.append(DestinationRule(base))
        } _: { running in
            let parts = try await running.send("GET", "/search/parts?id=feed:\(origin.url("/feed"))")
            #expect(parts.json["total"]?.integer == 3 && parts.json["warnings"]?.array?.isEmpty == true, "\(parts.text)")
            let body = "{\"feedUrl\":\"\(origin.url("/feed"))\",\"take\":\"all\"}"
            let id = try #require(try await running.send("POST", "/subscriptions", json: body).json["id"]?.string)
            let checked = try await running.send("POST", "/subscriptions/\(id)/refresh").json
            #expect(checked["items"]?["taken"]?.integer == 3, "\(checked)")
        }
    }
}
