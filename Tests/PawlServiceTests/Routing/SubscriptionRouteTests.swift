import HTTPClient
import HTTPCore
import JSON
import PawlConfiguration
import Synchronization
import System
import TestSupport
import Testing

@testable import PawlService

@Suite("Subscriptions over HTTP", .timeLimit(.minutes(3)))
struct SubscriptionRouteTests {
    private func subscribe(_ running: RunningService, _ feed: FeedOrigin, _ more: String = "") async throws -> String {
        let made = try await running.send(
            "POST", "/subscriptions", json: "{\"feedUrl\":\"\(feed.url)\"\(more.isEmpty ? "" : ",")\(more)}")
        #expect(made.status == 201, "\(made.text)")
        let id = try #require(made.json["id"]?.string)
        #expect(made["location"] == "/subscriptions/\(id)")
        return id
    }

    /// Checks now, and returns the subscription.
    @discardableResult
    private func refresh(_ running: RunningService, _ id: String) async throws -> JSONValue {
        let answer = try await running.send("POST", "/subscriptions/\(id)/refresh")
        #expect(answer.status == 200, "\(answer.text)")
        return answer.json
    }

    /// The items of a subscription: `name state reason`, newest first.
    private func items(_ running: RunningService, _ id: String, _ query: String = "") async throws -> [String] {
        let answer = try await running.send("GET", "/subscriptions/\(id)/items\(query)")
        #expect(answer.status == 200, "\(answer.text)")
        return (answer.json["items"]?.array ?? []).map { item in
            [item["name"]?.string, item["state"]?.string, item["reason"]?.string].compactMap(\.self).joined(separator: " ")
        }
    }

    private func downloads(_ running: RunningService, of id: String) async throws -> [JSONValue] {
        try await running.send("GET", "/downloads?limit=200&label=subscription%3A\(id)").json["items"]?.array ?? []
    }

    private func completed(_ running: RunningService, of id: String, _ count: Int) async throws -> [JSONValue] {
        while true {
            let all = try await downloads(running, of: id)
            if all.count(where: { $0["state"]?.string == "completed" }) == count { return all }
            try await nextTurn()
        }
    }

    @Test("Takes what appears from now on, and tells what it has left out")
    func newItems() async throws {
        let feed = try FeedOrigin([("2", "Two"), ("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed)
            let first = try await refresh(running, id)
            #expect(first["name"]?.string == "Show" && first["state"]?.string == "active" && first["error"]?.isNull == true)
            #expect(first["items"]?["skipped"]?.integer == 2 && first["items"]?["taken"]?.integer == 0)
            #expect(try await items(running, id) == ["Two skipped backlog", "One skipped backlog"])
            feed.change { $0.episodes.insert(("3", "Three"), at: 0) }
            let second = try await refresh(running, id)
            #expect(second["items"]?["taken"]?.integer == 1)
            let made = try await completed(running, of: id, 1)
            #expect(made.first?["filename"]?.string == "Three.mp3" && made.first?["folder"]?.string == "Show")
            #expect(made.first?["track"]?["name"]?.string == "Three")
            // A server may say that nothing has changed although an earlier episode is new: a user's check has no conditions.
            try await refresh(running, id)
            #expect(try await downloads(running, of: id).count == 1)
            #expect(feed.origin.requests.last?["If-None-Match"] == nil)
            let same = try await running.send("POST", "/subscriptions", json: "{\"source\":{\"partsOf\":\"feed:\(feed.url)\"}}")
            #expect(same.status == 200 && same.json["id"]?.string == id)
        }
    }

    @Test("Takes the newest after the filter, and others by hand")
    func filters() async throws {
        let feed = try FeedOrigin([("4", "Advert 4"), ("3", "Show 3"), ("2", "Show 2"), ("1", "Show 1")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(
                running, feed, #""take":{"latest":2},"exclude":["advert*"],"labels":["mine"],"folder":"a/b""#)
            try await refresh(running, id)
            #expect(
                try await items(running, id)
                    == ["Advert 4 skipped filtered", "Show 3 taken", "Show 2 taken", "Show 1 skipped backlog"])
            let page = try await running.send("GET", "/subscriptions/\(id)/items?state=skipped&limit=1").json
            #expect(page["items"]?.array?.count == 1)
            let cursor = try #require(page["nextCursor"]?.string)
            let last = try await running.send("GET", "/subscriptions/\(id)/items?state=skipped&limit=1&cursor=\(cursor)").json
            let item = try #require(last["items"]?.array?.first?["id"]?.string)
            #expect(last["nextCursor"]?.isNull == true)
            for _ in 0..<2 {
                let taken = try await running.send("POST", "/subscriptions/\(id)/items/\(item)/take")
                #expect(taken.status == 200 && taken.json["state"]?.string == "taken", "\(taken.text)")
                #expect(taken.json["download"]?["id"]?.string != nil)
            }
            let skipped = try await running.send("POST", "/subscriptions/\(id)/items/\(item)/skip")
            #expect(skipped.status == 409 && skipped.json["code"]?.string == "illegal-transition", "\(skipped.text)")
            let made = try await completed(running, of: id, 3)
            #expect(made.allSatisfy { $0["folder"]?.string == "a/b" && $0["labels"]?.array?.first?.string == "mine" })
            let none = try await running.send("POST", "/subscriptions/\(id)/items/ffff/take")
            #expect(none.status == 404 && none.text.contains("item"))
        }
    }

    @Test("Notes items while it is paused, and takes them on resumption, even if the feed has dropped them")
    func pausing() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed)
            try await refresh(running, id)
            let paused = try await running.send("POST", "/subscriptions/\(id)/pause").json
            #expect(paused["state"]?.string == "paused" && paused["nextCheckAt"]?.isNull == true)
            feed.change { $0.episodes = [("3", "Three"), ("2", "Two"), ("1", "One")] }
            #expect(try await refresh(running, id)["items"]?["new"]?.integer == 2)
            let newest = try await running.send("GET", "/subscriptions/\(id)/items?state=new&limit=1").json
            let item = try #require(newest["items"]?.array?.first?["id"]?.string)
            let skipped = try await running.send("POST", "/subscriptions/\(id)/items/\(item)/skip")
            #expect(skipped.json["reason"]?.string == "by-hand")
            feed.change { $0.episodes = [] }
            let resumed = try await running.send("POST", "/subscriptions/\(id)/resume").json
            #expect(resumed["state"]?.string == "active" && resumed["items"]?["taken"]?.integer == 1)
            #expect(try await completed(running, of: id, 1).first?["track"]?["name"]?.string == "Two")
            try await refresh(running, id)
            #expect(try await downloads(running, of: id).count == 1)
        }
    }

    @Test("Keeps the newest files, and never fetches the others again")
    func keeping() async throws {
        let feed = try FeedOrigin([("3", "Three"), ("2", "Two"), ("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed, #""take":"all","keep":2"#)
            // The oldest expires once its file is finished, which may be during the first check.
            var kept = try await refresh(running, id)
            while kept["items"]?["expired"]?.integer == 0 { kept = try await refresh(running, id) }
            #expect(kept["items"]?["expired"]?.integer == 1 && kept["items"]?["taken"]?.integer == 2)
            feed.change { $0.hasTags = false }
            #expect(try await items(running, id, "?state=expired") == ["One expired"])
            try await refresh(running, id)
            #expect(try await downloads(running, of: id).count == 2)
            #expect(feed.count("/files/1.mp3") == 1)
        }
    }

    @Test("A download that failed gets the new address of its item")
    func movedFiles() async throws {
        let feed = try FeedOrigin([("1", "One")])
        feed.change { $0.statuses["/files/1.mp3"] = 404 }
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed, #""take":"all""#)
            try await refresh(running, id)
            while try await downloads(running, of: id).first?["state"]?.string != "failed" { try await nextTurn() }
            feed.change { state in
                state.statuses = [:]
                state.suffix = "?signed=2"
            }
            try await refresh(running, id)
            let all = try await downloads(running, of: id)
            #expect(all.count == 1 && all.first?["url"]?.string?.hasSuffix("?signed=2") == true)
        }
    }

    @Test("A feed that moves to the address of another subscription is not followed twice")
    func converging() async throws {
        let feed = try FeedOrigin([("1", "One")])
        feed.change { $0.statuses["/old"] = 301 }
        try await RunningService.with(feeds: [feed]) { running in
            let first = try await subscribe(running, feed)
            let old = feed.origin.url("/old")
            let made = try await running.send("POST", "/subscriptions", json: "{\"feedUrl\":\"\(old)\"}")
            #expect(made.status == 201)
            let second = try #require(made.json["id"]?.string)
            let checked = try await refresh(running, second)
            #expect(checked["source"]?["partsOf"]?.string == "feed:\(old)")
            #expect(checked["error"]?["message"]?.string?.contains(first) == true)
            #expect(try await items(running, second).isEmpty)
            let refused = try await running.send("PATCH", "/subscriptions/\(second)", json: "{\"feedUrl\":\"\(feed.url)\"}")
            #expect(refused.status == 400 && refused.text.contains(first), "\(refused.text)")
        }
    }

    @Test("Follows permanent moves, tells failures, and ends with 410")
    func moves() async throws {
        let feed = try FeedOrigin([("1", "One")])
        feed.change { $0.statuses["/old"] = 301 }
        try await RunningService.with(feeds: [feed]) { running in
            let made = try await running.send("POST", "/subscriptions", json: "{\"feedUrl\":\"\(feed.origin.url("/old"))\"}")
            let id = try #require(made.json["id"]?.string)
            #expect(try await refresh(running, id)["source"]?["partsOf"]?.string == "feed:\(feed.url)")
            let again = try await running.send("POST", "/subscriptions", json: "{\"feedUrl\":\"\(feed.origin.url("/old"))\"}")
            #expect(again.status == 200 && again.json["id"]?.string == id)
            feed.change { $0.statuses["/feed"] = 503 }
            let failed = try await refresh(running, id)
            #expect(failed["failures"]?.integer == 1 && failed["error"]?["code"]?.string == "upstream-rejected")
            #expect(failed["error"]?["message"]?.string?.contains("503") == true && failed["state"]?.string == "active")
            #expect(failed["error"]?["httpStatus"]?.integer == 503)
            feed.change { $0.statuses["/feed"] = 410 }
            let gone = try await refresh(running, id)
            #expect(gone["state"]?.string == "gone" && gone["nextCheckAt"]?.isNull == true)
            #expect(gone["error"]?["httpStatus"]?.integer == 410)
            feed.change { $0.statuses = [:] }
            #expect(try await refresh(running, id)["state"]?.string == "active")
        }
    }

    @Test("The former address of a changed feed finds its subscription, and a search its address")
    func formerAddresses() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed)
            try await refresh(running, id)
            let other = feed.origin.url("/feed?token=2")
            let changed = try await running.send("PATCH", "/subscriptions/\(id)", json: "{\"feedUrl\":\"\(other)\"}")
            #expect(changed.json["source"]?["partsOf"]?.string == "feed:\(other)")
            for address in [feed.url, other] {
                let same = try await running.send("POST", "/subscriptions", json: "{\"feedUrl\":\"\(address)\"}")
                #expect(same.status == 200 && same.json["id"]?.string == id, "\(same.text)")
            }
            let back = try await running.send("PATCH", "/subscriptions/\(id)", json: "{\"feedUrl\":\"\(feed.url)\"}")
            #expect(back.status == 200)
            for (text, count) in [("127.0.0.1", 1), ("/FEED", 1), ("show", 1), ("token=2", 0), ("elsewhere", 0)] {
                let found = try await running.send("GET", "/subscriptions?q=\(PercentEncoding.encodeComponent(text))")
                #expect(found.json["total"]?.integer == Int64(count), "\(text)")
            }
        }
    }

    @Test("A document that breaks off before its first item has failed, and a taken item cannot be skipped")
    func statesOfItems() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed, #""take":"all""#)
            try await refresh(running, id)
            let items = try await running.send("GET", "/subscriptions/\(id)/items").json["items"]?.array
            let item = try #require(items?.first?["id"]?.string)
            let refused = try await running.send("POST", "/subscriptions/\(id)/items/\(item)/skip")
            #expect(refused.status == 409 && refused.json["code"]?.string == "illegal-transition")
            #expect(refused.json["state"]?.string == "taken")
            feed.change {
                $0.more = String(repeating: "<a>", count: 100)
                $0.hasTags = false
            }
            let failed = try await refresh(running, id)
            let error = failed["error"]
            #expect(error?["code"]?.string == "upstream-rejected" && error?["httpStatus"]?.integer == 200)
            #expect(error?["message"]?.string?.contains("before its first item: it has more than 64 levels") == true)
            let parts = try await running.send("GET", "/search/parts?id=feed:\(PercentEncoding.encodeComponent(feed.url))")
            #expect(parts.status == 502 && parts.text.contains("breaks off before its first item"), "\(parts.text)")
        }
    }

    @Test("Subscriptions and items survive a restart")
    func restart() async throws {
        let feed = try FeedOrigin([("2", "Two"), ("1", "One")])
        let directory = try TemporaryDirectory()
        var id = ""
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            id = try await subscribe(running, feed, #""take":{"latest":1},"keep":5"#)
            try await refresh(running, id)
            _ = try await completed(running, of: id, 1)
        }
        feed.change { $0.episodes.insert(("3", "Three"), at: 0) }
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            let list = try await running.send("GET", "/subscriptions").json
            #expect(list["items"]?.array?.count == 1 && list["items"]?.array?.first?["keep"]?.integer == 5)
            try await refresh(running, id)
            #expect(try await completed(running, of: id, 2).count == 2)
            #expect(feed.count("/files/2.mp3") == 1)
        }
    }

    @Test("Changes and removals need the version that the client means")
    func changes() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed, #""take":"all","minDurationMs":5"#)
            try await refresh(running, id)
            let shown = try await running.send("GET", "/subscriptions/\(id)")
            let tag = try #require(shown["etag"])
            try await refresh(running, id)
            #expect(try await running.send("GET", "/subscriptions/\(id)")["etag"] == tag)
            let changed = try await running.send(
                "PATCH", "/subscriptions/\(id)", json: #"{"keep":3,"minDurationMs":null,"every":7200}"#,
                fields: [("If-Match", tag)])
            #expect(changed.status == 200 && changed.json["keep"]?.integer == 3, "\(changed.text)")
            #expect(changed.json["minDurationMs"]?.isNull == true && changed.json["every"]?.integer == 7_200)
            let stale = try await running.send("DELETE", "/subscriptions/\(id)", fields: [("If-Match", tag)])
            #expect(stale.status == 412)
            #expect(try await running.send("DELETE", "/subscriptions/\(id)?deleteFiles=true").status == 400)
            _ = try await completed(running, of: id, 1)
            let path = "/subscriptions/\(id)?deleteDownloads=true&deleteFiles=true"
            #expect(try await running.send("DELETE", path).status == 204)
            #expect(try await running.send("GET", "/subscriptions/\(id)").status == 404)
            #expect(try await downloads(running, of: id).isEmpty)
        }
    }

    @Test("A check does not write over a change that is made during it")
    func concurrentChanges() async throws {
        let feed = try FeedOrigin([("1", "One")])
        let directory = try TemporaryDirectory()
        var id = ""
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            id = try await subscribe(running, feed)
            let path = "/subscriptions/\(id)"
            for every in 1_000..<1_050 {
                async let check = running.send("POST", path + "/refresh")
                let changed = try await running.send("PATCH", path, json: "{\"every\":\(every)}")
                #expect(changed.status == 200)
                _ = try await check
                let shown = try await running.send("GET", path)
                #expect(shown.json["every"]?.integer == Int64(every))
            }
        }
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            let shown = try await running.send("GET", "/subscriptions/\(id)")
            #expect(shown.json["every"]?.integer == 1_049)
        }
    }

    @Test("Credentials of a private feed are sent to its origin, and shown nowhere")
    func secrets() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let address = feed.url.replacing("http://", with: "http://ada:s3cret@")
            let made = try await running.send("POST", "/subscriptions", json: "{\"feedUrl\":\"\(address)\",\"take\":\"all\"}")
            let id = try #require(made.json["id"]?.string)
            try await refresh(running, id)
            _ = try await completed(running, of: id, 1)
            #expect(feed.origin.requests.allSatisfy { $0["Authorization"] == "Basic YWRhOnMzY3JldA==" })
            for path in ["/subscriptions", "/subscriptions/\(id)", "/subscriptions/\(id)/items", "/downloads"] {
                let text = try await running.send("GET", path).text
                #expect(!text.contains("s3cret") && !text.contains("YWRhOnMzY3JldA"), "\(path)")
            }
        }
    }

    @Test(
        "Refuses unusable requests with the accepted values",
        arguments: [
            ("{}", "'source' is missing"), (#"{"source":"a"}"#, "and 'feedUrl' takes an address"),
            (#"{"source":{}}"#, "partsOf"), (#"{"feedUrl":"x"}"#, "http or https"),
            (#"{"feedUrl":"http://a.test/","every":299}"#, "300"), (#"{"feedUrl":"http://a.test/","keep":0}"#, "from 1"),
            (#"{"feedUrl":"http://a.test/","take":"some"}"#, "latest"), (#"{"feedUrl":"http://a.test/","colour":1}"#, "colour"),
            (#"{"feedUrl":"http://a.test/","include":"x"}"#, "array"),
            (#"{"feedUrl":"http://a.test/","include":[""]}"#, "'include' has an empty pattern"),
            (#"{"feedUrl":"http://a.test/","exclude":["a"," "]}"#, "'exclude' has an empty pattern"),
            (#"{"source":{"partsOf":"spotify:1"}}"#, "spotify:1"),
            (#"{"source":{"partsOf":"archive:a/b.mp3"}}"#, "no parts"),
            (#"{"source":{"partsOf":"feed:http://u:p@a.test/"}}"#, "user name"),
            (#"{"source":{"search":{"source":"itunes","term":"x"}}}"#, "archive"),
            (#"{"source":{"search":{"source":"archive","term":"x"}},"keep":3}"#, "'keep'"),
            (#"{"feedUrl":"http://10.0.0.1/"}"#, "10.0.0.1"), (#"{"feedUrl":"http://a.test/","folder":"../x"}"#, "folder"),
        ])
    func refusals(body: String, part: String) async throws {
        let feed = try FeedOrigin([])
        try await RunningService.with(feeds: [feed]) { running in
            let answer = try await running.send("POST", "/subscriptions", json: body)
            #expect((400..<500).contains(answer.status) && answer.text.contains(part), "\(answer.text)")
            #expect(try await running.send("GET", "/subscriptions").json["total"]?.integer == 0)
        }
    }
}
