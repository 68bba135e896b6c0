import Downloads
import HTTPClient
import HTTPCore
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import PawlService

/// Files that several items or users hold, and items that must be neither lost nor taken twice.
@Suite("The ownership of a subscription's files", .timeLimit(.minutes(3)))
struct SubscriptionOwnershipTests {
    private func subscribe(_ running: RunningService, _ url: String, _ more: String = "") async throws -> String {
        let made = try await running.send("POST", "/subscriptions", json: "{\"feedUrl\":\"\(url)\"\(more)}")
        #expect(made.status == 201, "\(made.text)")
        return try #require(made.json["id"]?.string)
    }

    @discardableResult
    private func refresh(_ running: RunningService, _ id: String) async throws -> JSONValue {
        let answer = try await running.send("POST", "/subscriptions/\(id)/refresh")
        #expect(answer.status == 200, "\(answer.text)")
        return answer.json
    }

    private func items(_ running: RunningService, _ id: String) async throws -> [JSONValue] {
        try await running.send("GET", "/subscriptions/\(id)/items?limit=200").json["items"]?.array ?? []
    }

    private func states(_ running: RunningService, _ id: String) async throws -> [String] {
        try await items(running, id).map { "\($0["name"]?.string ?? "") \($0["state"]?.string ?? "")" }
    }

    private func completed(_ running: RunningService, _ count: Int) async throws -> [JSONValue] {
        while true {
            let all = try await running.send("GET", "/downloads?limit=200").json["items"]?.array ?? []
            if all.count == count, all.allSatisfy({ $0["state"]?.string == "completed" }) { return all }
            try await nextTurn()
        }
    }

    @Test("A file that another subscription holds stays when one is removed with its downloads")
    func sharedFile() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let first = try await subscribe(running, feed.url, #","take":"all""#)
            try await refresh(running, first)
            let download = try #require(try await completed(running, 1).first?["id"]?.string)
            let second = try await subscribe(running, feed.origin.url("/feed?other"), #","take":"all""#)
            try await refresh(running, second)
            #expect(try await items(running, second).first?["download"]?["id"]?.string == download)
            let removal = "/subscriptions/\(first)?deleteDownloads=true&deleteFiles=true"
            #expect(try await running.send("DELETE", removal).status == 204)
            #expect(try await running.send("GET", "/downloads/\(download)/file").status == 200)
        }
    }

    @Test("A file that a newer item of the same feed holds stays when the older one expires")
    func renamedItems() async throws {
        let feed = try FeedOrigin([("old", "One")])
        feed.change { $0.files = ["old": "a", "new": "a"] }
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed.url, #","take":"all","keep":1"#)
            try await refresh(running, id)
            let download = try #require(try await completed(running, 1).first?["id"]?.string)
            feed.change { $0.episodes = [("new", "One again"), ("old", "One")] }
            try await refresh(running, id)
            #expect(try await states(running, id) == ["One again taken", "One expired"])
            #expect(try await running.send("GET", "/downloads/\(download)/file").status == 200)
        }
    }

    @Test("A download that the user has made stays, also if its item is taken afterwards")
    func foreignDownload() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed.url)
            try await refresh(running, id)
            let url = feed.origin.url("/files/1.mp3")
            let made = try await running.send("POST", "/downloads", json: "{\"url\":\"\(url)\"}")
            let download = try #require(made.json["id"]?.string)
            _ = try await completed(running, 1)
            let item = try #require(try await items(running, id).first?["id"]?.string)
            let taken = try await running.send("POST", "/subscriptions/\(id)/items/\(item)/take")
            #expect(taken.json["download"]?["id"]?.string == download)
            let removal = "/subscriptions/\(id)?deleteDownloads=true&deleteFiles=true"
            #expect(try await running.send("DELETE", removal).status == 204)
            #expect(try await running.send("GET", "/downloads/\(download)").status == 200)
        }
    }

    @Test("The backlog behind the break of a first document is not new")
    func brokenBacklog() async throws {
        let episodes = (1...9).reversed().map { (id: "\($0)", name: "Episode \($0)") }
        let feed = try FeedOrigin(episodes)
        feed.change { state in
            state.isCut = true
            state.episodes = Array(episodes.prefix(3))
            state.dates = true
        }
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed.url, #","take":{"latest":1}"#)
            try await refresh(running, id)
            feed.change { state in
                state.isCut = false
                state.episodes = episodes
            }
            let whole = try await refresh(running, id)
            #expect(whole["items"]?["taken"]?.integer == 1, "\(whole)")
            #expect(whole["items"]?["skipped"]?.integer == 8, "the rest is listed, and can be taken by hand")
            feed.change { $0.episodes.insert(("10", "Episode 10"), at: 0) }
            #expect(try await refresh(running, id)["items"]?["taken"]?.integer == 2)
        }
    }

    @Test("An episode without an id stays the same when another one gets the same path")
    func identityByAddress() async throws {
        let feed = try FeedOrigin([("?1", "One")])
        feed.change { state in
            state.hasIds = false
            state.files = ["?1": "play.php?1=", "?2": "play.php?2="]
        }
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed.url, #","take":"all""#)
            try await refresh(running, id)
            let one = try #require(try await completed(running, 1).first?["id"]?.string)
            feed.change { $0.episodes = [("?2", "Two"), ("?1", "One")] }
            try await refresh(running, id)
            #expect(try await states(running, id) == ["Two taken", "One taken"])
            #expect(try await items(running, id).last?["download"]?["id"]?.string == one)
            feed.change { $0.episodes = [("?2", "Two")] }
            #expect(try await refresh(running, id)["items"]?["taken"]?.integer == 2)
            #expect(try await completed(running, 2).contains { $0["id"]?.string == one })
        }
    }

    @Test("A paused subscription whose feed has ended stays paused")
    func goneWhilePaused() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed.url, #","take":"all""#)
            try await refresh(running, id)
            #expect(try await running.send("POST", "/subscriptions/\(id)/pause").status == 200)
            feed.change { $0.statuses["/feed"] = 410 }
            let ended = try await refresh(running, id)
            #expect(ended["state"]?.string == "paused" && ended["error"]?["code"]?.string == "gone", "\(ended)")
            feed.change { state in
                state.statuses = [:]
                state.episodes.insert(("2", "Two"), at: 0)
            }
            let back = try await refresh(running, id)
            #expect(back["state"]?.string == "paused" && back["items"]?["new"]?.integer == 1, "\(back)")
        }
    }

    @Test("A change of the interval during an outage leaves the wait that the server asks for")
    func changeDuringOutage() async throws {
        let feed = try FeedOrigin([("1", "One")])
        feed.change { $0.statuses["/feed"] = 503 }
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed.url)
            let due = try #require(try await refresh(running, id)["nextCheckAt"]?.string)
            let changed = try await running.send("PATCH", "/subscriptions/\(id)", json: #"{"every":300}"#)
            #expect(changed.status == 200 && changed.json["nextCheckAt"]?.string == due)
        }
    }

    @Test("The shortest duration must not be above the longest")
    func durations() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let body = "{\"feedUrl\":\"\(feed.url)\",\"minDurationMs\":2,\"maxDurationMs\":1}"
            let refused = try await running.send("POST", "/subscriptions", json: body)
            #expect(refused.status == 400 && refused.text.contains("'minDurationMs' (2)"), "\(refused.text)")
            let id = try await subscribe(running, feed.url, #","minDurationMs":2"#)
            let patched = try await running.send("PATCH", "/subscriptions/\(id)", json: #"{"maxDurationMs":1}"#)
            #expect(patched.status == 400, "\(patched.text)")
        }
    }

    @Test("A file makes room once a newer one is finished, and not for one in transfer")
    func keepsFinishedFiles() async throws {
        let feed = try FeedOrigin([("2", "Two"), ("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed.url, #","take":"all","keep":2"#)
            try await refresh(running, id)
            _ = try await completed(running, 2)
            feed.change { state in
                state.statuses["/files/3.mp3"] = 503
                state.episodes.insert(("3", "Three"), at: 0)
            }
            let taken = try await refresh(running, id)
            #expect(taken["items"]?["taken"]?.integer == 3 && taken["items"]?["expired"]?.integer == 0, "\(taken)")
            feed.change { $0.statuses = [:] }
            while try await states(running, id) != ["Three taken", "Two taken", "One expired"] { try await nextTurn() }
            let changed = try await running.send("PATCH", "/subscriptions/\(id)", json: #"{"keep":1}"#)
            #expect(changed.status == 200)
            while try await states(running, id) != ["Three taken", "Two expired", "One expired"] { try await nextTurn() }
        }
    }

    @Test("An item whose download was removed is taken again by hand")
    func takenAgain() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed.url, #","take":"all""#)
            try await refresh(running, id)
            let download = try #require(try await completed(running, 1).first?["id"]?.string)
            let item = try #require(try await items(running, id).first?["id"]?.string)
            let same = try await running.send("POST", "/subscriptions/\(id)/items/\(item)/take")
            #expect(same.json["download"]?["id"]?.string == download)
            #expect(try await running.send("DELETE", "/downloads/\(download)?deleteFile=true").status == 204)
            let again = try await running.send("POST", "/subscriptions/\(id)/items/\(item)/take")
            let other = try #require(again.json["download"]?["id"]?.string, "\(again.text)")
            #expect(other != download)
            _ = try await completed(running, 1)
        }
    }

    @Test("A feed moves although its new address knows the validators of the old one")
    func moveWithValidators() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed.origin.url("/old"))
            try await refresh(running, id)
            feed.change { $0.statuses["/old"] = 301 }
            let moved = try await refresh(running, id)
            #expect(moved["source"]?["partsOf"]?.string == "feed:\(feed.url)", "\(moved)")
        }
    }

    @Test("A request may give an address with a user and other headers; its own authorization wins")
    func userAndHeaders() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let address = feed.url.replacing("http://", with: "http://u:pw@")
            let id = try await subscribe(running, address, #","headers":{"X-Key":"k"}"#)
            try await refresh(running, id)
            let request = try #require(feed.origin.requests.last)
            #expect(request["Authorization"] == "Basic dTpwdw==" && request["X-Key"] == "k")
            let body = "{\"feedUrl\":\"\(address)\",\"headers\":{\"authorization\":\"Bearer b\"}}"
            #expect(try await running.send("PATCH", "/subscriptions/\(id)", json: body).status == 200)
            try await refresh(running, id)
            #expect(feed.origin.requests.last?["Authorization"] == "Bearer b")
        }
    }

    @Test("The version of a subscription is for changes: a copy is never taken for current")
    func versions() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed.url)
            try await refresh(running, id)
            let shown = try await running.send("GET", "/subscriptions/\(id)")
            let tag = try #require(shown["ETag"])
            #expect(shown.count("ETag") == 1)
            feed.change { $0.statuses["/feed"] = 503 }
            try await refresh(running, id)
            let again = try await running.send("GET", "/subscriptions/\(id)", fields: [("If-None-Match", tag)])
            #expect(again.status == 200 && again.json["failures"]?.integer == 1)
            #expect(again["ETag"] == tag)
        }
    }

    @Test("A result of a search with several files is taken whole, by hand and on resumption")
    func worksOfSearches() async throws {
        try await RunningService.with { running in
            let made = try await running.send(
                "POST", "/subscriptions",
                json: #"{"source":{"search":{"source":"archive","term":"soundings"}},"exclude":["*"]}"#)
            let id = try #require(made.json["id"]?.string, "\(made.text)")
            try await refresh(running, id)
            let item = try #require(try await items(running, id).first)
            #expect(item["reason"]?.string == "filtered")
            let path = "/subscriptions/\(id)/items/\(item["id"]?.string ?? "")/take"
            var taken = try await running.send("POST", path)
            // The source may be slow.
            while taken.status == 502 { taken = try await running.send("POST", path) }
            #expect(taken.status == 200 && taken.json["state"]?.string == "taken", "\(taken.text)")
            let count = try await running.send("GET", "/downloads?limit=1").json["total"]?.integer ?? 0
            #expect(count > 1)
            #expect(try await running.send("POST", path).json["state"]?.string == "taken")
            #expect(try await running.send("GET", "/downloads?limit=1").json["total"]?.integer == count)

            let other = try await running.send(
                "POST", "/subscriptions",
                json: #"{"source":{"search":{"source":"archive","term":"tide"}},"take":"all"}"#)
            let paused = try #require(other.json["id"]?.string)
            #expect(try await running.send("POST", "/subscriptions/\(paused)/pause").status == 200)
            try await refresh(running, paused)
            #expect(try await running.send("POST", "/subscriptions/\(paused)/resume").status == 200)
            // A check takes works whose parts could not be listed before. The source may be slow in it, too.
            while true {
                try await refresh(running, paused)
                let resumed = try await items(running, paused)
                if !resumed.isEmpty, resumed.allSatisfy({ $0["state"]?.string == "taken" }) { break }
            }
        }
    }

    /// Passes a saved search of an archive with one work to a test, which scripts the answer with the work's files.
    private func withSearch(
        _ listing: @escaping @Sendable (_ files: ScriptedOrigin.Step) -> [ScriptedOrigin.Step],
        _ body: (RunningService, String) async throws -> Void
    ) async throws {
        let archive = try ScriptedOrigin { request in
            func json(_ text: String) -> ScriptedOrigin.Step {
                .response(200, [("Content-Type", "application/json")], body: Array(text.utf8))
            }
            let found = #"{"identifier":"work","mediatype":"audio","title":"Work"}"#
            if request.target.hasPrefix("/advancedsearch") {
                return [json("{\"response\":{\"numFound\":1,\"start\":0,\"docs\":[\(found)]}}")]
            }
            guard request.target.hasPrefix("/metadata/") else { return [.response(404, [], body: [])] }
            let file = #"{"name":"a.flac","source":"original","format":"Flac","size":"4"}"#
            return listing(json("{\"created\":1,\"files\":[\(file)],\"metadata\":\(found)}"))
        }
        let base = try #require(HTTPURL(archive.url("")))
        try await RunningService.with { configuration in
            configuration.archiveURL = base
            configuration.downloads.destinationGuard.allowed += [DestinationRule(base)]
        } _: { running in
            let made = try await running.send(
                "POST", "/subscriptions", json: #"{"source":{"search":{"source":"archive","term":"a"}},"take":"all"}"#)
            try await body(running, try #require(made.json["id"]?.string, "\(made.text)"))
        }
    }

    @Test("A work whose parts are being listed when a pause ends the check is taken by the next one")
    func interruptedListing() async throws {
        let (asked, answers) = (Gate(), Gate())
        try await withSearch {
            [.open(asked), .wait(answers), $0]
        } _: { running, id in
            try await asked.wait()
            #expect(try await running.send("POST", "/subscriptions/\(id)/pause").status == 200)
            answers.open()
            #expect(try await running.send("POST", "/subscriptions/\(id)/resume").status == 200)
            let items = try await refresh(running, id)["items"]
            #expect(items?["taken"]?.integer == 1 && items?["skipped"]?.integer == 0, "\(items ?? .null)")
        }
    }

    @Test("A check that cannot list the parts of a work has failed, and is repeated soon")
    func failedListing() async throws {
        let isBroken = Locked(true)
        try await withSearch {
            isBroken.withLock { $0 } ? [.response(200, [("Content-Type", "text/html")], body: [])] : [$0]
        } _: { running, id in
            let failed = try await refresh(running, id)
            #expect(failed["items"]?["new"]?.integer == 1 && failed["failures"]?.integer ?? 0 >= 1, "\(failed)")
            #expect(failed["error"]?["code"]?.string == "upstream-rejected")
            let next = try #require(failed["nextCheckAt"]?.string.flatMap { Timestamp(parsing: $0) })
            let checked = try #require(failed["checkedAt"]?.string.flatMap { Timestamp(parsing: $0) })
            // At most two checks have failed by now: the first one and the refresh.
            #expect(next.millisecondsSinceEpoch - checked.millisecondsSinceEpoch <= 11 * 60_000, "\(failed)")
            isBroken.withLock { $0 = false }
            let taken = try await refresh(running, id)
            #expect(taken["items"]?["taken"]?.integer == 1 && taken["failures"]?.integer == 0, "\(taken)")
            #expect(taken["error"] == .null)
        }
    }

    @Test("An episode with the address of the one before it is another file; one that is told again is not")
    func bulletins() async throws {
        let feed = try FeedOrigin([("1", "Morning")])
        feed.change { state in
            state.dates = true
            state.files = ["1": "latest", "2": "latest", "3": "latest"]
        }
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed.url, #","take":"all""#)
            try await refresh(running, id)
            _ = try await completed(running, 1)
            feed.change { $0.episodes.insert(("2", "Noon"), at: 0) }
            try await refresh(running, id)
            _ = try await completed(running, 2)
            #expect(feed.count("/files/latest.mp3") == 2)
            // Another id, with the date of "Noon".
            feed.change { $0.idSuffix = "-b" }
            #expect(try await refresh(running, id)["items"]?["taken"]?.integer == 2)
            #expect(feed.count("/files/latest.mp3") == 2)
        }
    }

    @Test("An address with a user on another origin gets that user, and no header of the old one")
    func userOfAnotherOrigin() async throws {
        let (feed, other) = (try FeedOrigin([("1", "One")]), try FeedOrigin([("1", "One")]))
        try await RunningService.with(feeds: [feed, other]) { running in
            let id = try await subscribe(running, feed.url, #","headers":{"X-Secret":"s3cret"}"#)
            try await refresh(running, id)
            let address = other.url.replacing("http://", with: "http://u:pw@")
            #expect(try await running.send("PATCH", "/subscriptions/\(id)", json: "{\"feedUrl\":\"\(address)\"}").status == 200)
            try await refresh(running, id)
            #expect(other.origin.requests.last?["Authorization"] == "Basic dTpwdw==")
            #expect(other.origin.requests.allSatisfy { $0["X-Secret"] == nil })
        }
    }

    @Test("User and password of an episode's address are sent, and not shown")
    func userOfAnEpisode() async throws {
        let feed = try FeedOrigin([("1", "One")])
        feed.change { $0.user = "u:s3cret@" }
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed.url, #","take":"all""#)
            try await refresh(running, id)
            let downloads = try await completed(running, 1)
            #expect(feed.origin.requests.last { $0.target.hasPrefix("/files/") }?["Authorization"] == "Basic dTpzM2NyZXQ=")
            let parts = try await running.send("GET", "/search/parts?id=feed:\(feed.url)")
            for text in ["\(downloads)", parts.text, try await running.send("GET", "/subscriptions/\(id)/feed.xml").text] {
                #expect(!text.contains("s3cret"), "\(text)")
            }
        }
    }

    @Test("A failed move to the address that a feed names is tried again")
    func failedMove() async throws {
        let feed = try FeedOrigin([("1", "One")])
        let successor = feed.origin.url("/new")
        feed.change { state in
            state.more = "<itunes:new-feed-url>\(successor)</itunes:new-feed-url>"
            state.statuses["/new"] = 503
        }
        try await RunningService.with(feeds: [feed]) { running in
            let id = try await subscribe(running, feed.url)
            try await refresh(running, id)
            feed.change { $0.statuses = [:] }
            #expect(try await refresh(running, id)["source"]?["partsOf"]?.string == "feed:\(successor)")
        }
    }

    @Test("Headers stay with their origin when the address of the feed is changed")
    func headersOfAnotherOrigin() async throws {
        let (feed, other) = (try FeedOrigin([("1", "One")]), try FeedOrigin([("1", "One")]))
        try await RunningService.with(feeds: [feed, other]) { running in
            let id = try await subscribe(running, feed.url, #","take":"all","headers":{"X-Secret":"s3cret"}"#)
            try await refresh(running, id)
            let changed = try await running.send("PATCH", "/subscriptions/\(id)", json: "{\"feedUrl\":\"\(other.url)\"}")
            #expect(changed.status == 200)
            try await refresh(running, id)
            #expect(other.count("/feed") > 0)
            #expect(other.origin.requests.allSatisfy { $0["X-Secret"] == nil })
            let given = "{\"headers\":{\"X-Secret\":\"s3cret\"}}"
            #expect(try await running.send("PATCH", "/subscriptions/\(id)", json: given).status == 200)
            try await refresh(running, id)
            #expect(other.origin.requests.last?["X-Secret"] == "s3cret")
        }
    }

    @Test("A refused address is named without its password")
    func refusedAddress() async throws {
        try await RunningService.with { running in
            for body in [
                #"{"feedUrl":"ftp://ada:s3cret@a.test/?t=1"}"#, #"{"feedUrl":"http://ada:s3cret@a.test:99999/"}"#,
                #"{"source":{"partsOf":"feed:ftp://ada:s3cret@a.test/"}}"#,
            ] {
                let answer = try await running.send("POST", "/subscriptions", json: body)
                #expect(
                    answer.status == 400 && !answer.text.contains("s3cret") && answer.text.contains("a.test"), "\(answer.text)")
            }
            let id = "feed:http://ada:s3cret@a.test/"
            let answers = [
                try await running.send("POST", "/downloads/batch", json: #"{"partsOf":"\#(id)"}"#),
                try await running.send("POST", "/downloads", json: #"{"trackId":"\#(id)"}"#),
                try await running.send("GET", "/search/parts?id=\(id)"),
                try await running.send("GET", "/search?source=feed&term=\(id)"),
            ]
            for answer in answers {
                #expect(answer.status == 400 && !answer.text.contains("s3cret"), "\(answer.text)")
                #expect(answer.text.contains("user"), "\(answer.text)")
            }
        }
    }
}
