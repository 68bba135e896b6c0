import Foundation
import HTTPClient
import HTTPCore
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore
@testable import PawlService
@testable import Subscriptions

/// What is acknowledged or shown of subscriptions is durable. Another program holds the record file where a commit has to wait.
@Suite("Durability of subscriptions", .timeLimit(.minutes(3)))
struct SubscriptionDurabilityTests {
    private func hold(_ running: RunningService) throws -> SQLiteConnection {
        let other = try SQLiteConnection(path: running.directory.path + "/pawl.sqlite")
        try other.execute("BEGIN EXCLUSIVE")
        return other
    }

    private func subscribe(
        _ running: RunningService, _ feed: FeedOrigin, _ more: String = "", key: String? = nil
    ) async throws -> TestResponse {
        try await running.send(
            "POST", "/subscriptions", json: "{\"feedUrl\":\"\(feed.url)\"\(more)}",
            fields: key.map { [("Idempotency-Key", $0)] } ?? [])
    }

    private func total(_ running: RunningService) async throws -> Int64? {
        try await running.send("GET", "/subscriptions").json["total"]?.integer
    }

    @Test("Neither of two requests for one feed is answered before the record is durable; repeated, they find one subscription")
    func held() async throws {
        let feed = try FeedOrigin([("1", "One")])
        let directory = try TemporaryDirectory()
        var id: String?
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            let other = try hold(running)
            async let first = subscribe(running, feed, key: "k")
            let subscriptions = running.service.subscriptions
            try await until { await subscriptions.count == 1 }
            async let second = subscribe(running, feed)
            let opml = "<opml version=\"2.0\"><body><outline xmlUrl=\"\(feed.url)\"/></body></opml>"
            async let third = running.send(
                "POST", "/subscriptions/import", fields: [("Content-Type", "text/x-opml")], body: Array(opml.utf8))
            let answers = try await [first, second]
            #expect(answers.map(\.status) == [503, 503], "\(answers.map(\.text))")
            #expect(try await third.json["items"]?.array?.first?["status"]?.integer == 503)
            #expect(try await total(running) == 0)
            try other.execute("COMMIT")
            let repeated = try await subscribe(running, feed, key: "k")
            #expect(repeated.status == 201, "\(repeated.text)")
            id = repeated.json["id"]?.string
            let known = try await subscribe(running, feed)
            #expect(known.status == 200 && known.json["id"]?.string == id)
        }
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            let list = try await running.send("GET", "/subscriptions").json
            #expect(list["items"]?.array?.map { $0["id"]?.string } == [id])
        }
    }

    @Test("A key makes a repeated request answer as the first did, also after a restart and the removal")
    func keys() async throws {
        let feed = try FeedOrigin([("1", "One")])
        let directory = try TemporaryDirectory()
        var first: TestResponse?
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            let made = try await subscribe(running, feed, #","keep":3,"headers":{"X-Secret":"s3cret"}"#, key: "a")
            #expect(made.status == 201, "\(made.text)")
            first = made
            let found = try await subscribe(running, feed, key: "b")
            #expect(found.status == 200 && found.json["id"] == made.json["id"])
            #expect(try await subscribe(running, feed, #","keep":4"#, key: "a").code == "idempotency-mismatch")
        }
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            let id = try #require(first?.json["id"]?.string)
            for _ in 0..<2 {
                let again = try await subscribe(running, feed, #","keep":3,"headers":{"X-Secret":"s3cret"}"#, key: "a")
                #expect(again.status == 201 && again.body == first?.body && again["location"] == first?["location"])
                #expect(try await subscribe(running, feed, key: "b").status == 200)
                _ = try await running.send("DELETE", "/subscriptions/\(id)")
            }
            #expect(try await total(running) == 0)
            // A refused request keeps nothing under its key.
            #expect(try await subscribe(running, feed, #","take":"some""#, key: "c").status == 400)
            #expect(try await subscribe(running, feed, key: "c").status == 201)
        }
    }

    @Test("Changes and checks are shown once they are durable, and an equal request waits as well")
    func shown() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let made = try await subscribe(running, feed, #","take":"all""#)
            let id = try #require(made.json["id"]?.string)
            #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").status == 200)
            let before = try await running.send("GET", "/subscriptions/\(id)")
            feed.change { $0.episodes.insert(("2", "Two"), at: 0) }
            let requests = feed.count("/feed")
            let other = try hold(running)
            async let change = running.send("PATCH", "/subscriptions/\(id)", json: #"{"keep":7}"#)
            async let pause = running.send("POST", "/subscriptions/\(id)/pause")
            let statuses = try await [change, pause].map(\.status)
            #expect(statuses.allSatisfy { $0 == 503 }, "\(statuses)")
            for (method, path) in [("PATCH", ""), ("POST", "/pause")] {
                let equal = try await running.send(
                    method, "/subscriptions/\(id)\(path)", json: path.isEmpty ? #"{"keep":7}"# : "")
                #expect(equal.status == 503, "\(method)\(path): \(equal.text)")
            }
            #expect(try await running.send("GET", "/subscriptions/\(id)").body == before.body)
            #expect(feed.count("/feed") == requests)
            try other.execute("COMMIT")
            try await until { try await running.send("GET", "/subscriptions/\(id)").json["keep"]?.integer == 7 }
        }
    }

    @Test("A refresh after a check that has only its commit left looks again")
    func committing() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try #require(try await subscribe(running, feed, #","take":"all""#).json["id"]?.string)
            #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").status == 200)
            let gates = (asked: Gate(), answers: Gate())
            feed.change { state in
                state.more = "<link>http://127.0.0.1/a</link>"
                state.gates = gates
            }
            async let first = running.send("POST", "/subscriptions/\(id)/refresh")
            try await gates.asked.wait()
            let other = try hold(running)
            feed.change { $0.gates = nil }
            gates.answers.open()
            let subscriptions = running.service.subscriptions
            let key = try #require(RecordID(id))
            try await until { await subscriptions.hasListed(key) }
            feed.change { $0.episodes.insert(("2", "Two"), at: 0) }
            async let second = running.send("POST", "/subscriptions/\(id)/refresh")
            // The second refresh arrives before these requests.
            for _ in 0..<20 { #expect(try await total(running) == 1) }
            try other.execute("COMMIT")
            #expect(try await first.status == 200)
            let looked = try await second
            #expect(looked.status == 200 && looked.json["items"]?["taken"]?.integer == 2, "\(looked.text)")
        }
    }

    @Test("A removal whose outcome was unknown leaves nothing behind")
    func removal() async throws {
        let feed = try FeedOrigin([("1", "One")])
        let directory = try TemporaryDirectory()
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            let id = try #require(try await subscribe(running, feed).json["id"]?.string)
            #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").status == 200)
            let other = try hold(running)
            #expect(try await running.send("DELETE", "/subscriptions/\(id)").status == 503)
            async let change = running.send("PATCH", "/subscriptions/\(id)", json: #"{"keep":7}"#)
            try other.execute("COMMIT")
            #expect([404, 503].contains(try await change.status))
            try await until { try await running.send("GET", "/subscriptions/\(id)").status == 404 }
        }
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            let left = try await total(running)
            #expect(left == 0)
        }
    }

    @Test("A request for the feed of a subscription whose removal is under way waits for its outcome")
    func removing() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try #require(try await subscribe(running, feed).json["id"]?.string)
            #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").status == 200)
            let other = try hold(running)
            #expect(try await running.send("DELETE", "/subscriptions/\(id)").status == 503)
            #expect(try await subscribe(running, feed).status == 503)
            try other.execute("COMMIT")
            let next = try await subscribe(running, feed)
            #expect(next.status == 201 && next.json["id"]?.string != id, "\(next.text)")
        }
    }

    @Test("An import is answered in time while the store hangs, and says what was not done")
    func heldImport() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let other = try hold(running)
            let outlines = (0..<250).map { "<outline xmlUrl=\"\(feed.url)?\($0)\"/>" }.joined()
            let opml = Array("<opml version=\"2.0\"><body>\(outlines)</body></opml>".utf8)
            let begun = ContinuousClock.now
            let answer = try await running.send(
                "POST", "/subscriptions/import", fields: [("Content-Type", "text/x-opml")], body: opml)
            #expect(ContinuousClock.now - begun < .seconds(10))
            let items = answer.json["items"]?.array ?? []
            #expect(items.count == 250 && items.allSatisfy { $0["status"]?.integer == 503 })
            try other.execute("COMMIT")
            let again = try await running.send(
                "POST", "/subscriptions/import", fields: [("Content-Type", "text/x-opml")], body: opml)
            #expect(again.json["items"]?.array?.allSatisfy { [200, 201].contains($0["status"]?.integer ?? 0) } == true)
            #expect(try await total(running) == 250)
        }
    }

    @Test("An item that is renewed with the same version of its file fetches no byte", arguments: [true, false])
    func renewedItem(isSameVersion: Bool) async throws {
        let feed = try FeedOrigin([("7", "Seven")])
        feed.change { state in
            state.dates = true
            state.files = ["7": "a", "8": "a"]
            state.fileTag = "one"
        }
        try await RunningService.with(feeds: [feed]) { running in
            let id = try #require(try await subscribe(running, feed, #","take":"all""#).json["id"]?.string)
            #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").status == 200)
            try await until { try await running.send("GET", "/downloads?state=completed").json["total"]?.integer == 1 }
            feed.change { state in
                state.episodes = [("8", "Eight")]
                if !isSameVersion { state.fileTag = "two" }
            }
            #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").status == 200)
            let count = isSameVersion ? 1 : 2
            try await until { try await running.send("GET", "/downloads?state=completed").json["total"]?.integer == Int64(count) }
            let requests = feed.origin.requests.filter { $0.target.hasPrefix("/files/") }.map(\.method)
            #expect(requests == (isSameVersion ? ["GET", "HEAD"] : ["GET", "HEAD", "GET"]))
        }
    }

    @Test("The store counts items, so that the counts are right after an end between two commits")
    func counts() async throws {
        let feed = try FeedOrigin([("3", "Three"), ("2", "Two"), ("1", "One")])
        let directory = try TemporaryDirectory()
        var id = ""
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            id = try #require(try await subscribe(running, feed, #","take":"all""#).json["id"]?.string)
            #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").json["items"]?["taken"]?.integer == 3)
        }
        let store = try SQLiteConnection(path: directory.path + "/pawl.sqlite")
        try store.execute("UPDATE subscription_items SET state = 'expired' WHERE key = (SELECT min(key) FROM subscription_items)")
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            let items = try await running.send("GET", "/subscriptions/\(id)").json["items"]
            #expect(items?["taken"]?.integer == 2 && items?["expired"]?.integer == 1, "\(String(describing: items))")
        }
    }

    @Test("The download that makes room, its item and the counts change in one commit")
    func expiry() async throws {
        let feed = try FeedOrigin([("2", "Two"), ("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try #require(try await subscribe(running, feed, #","take":"all""#).json["id"]?.string)
            #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").status == 200)
            try await until { try await running.send("GET", "/downloads?state=completed").json["total"]?.integer == 2 }
            // Whatever refuses the item's new state refuses the removal, too.
            let other = try SQLiteConnection(path: running.directory.path + "/pawl.sqlite")
            try other.execute(
                """
                CREATE TRIGGER refuse BEFORE UPDATE OF state ON subscription_items WHEN new.state = 'expired' BEGIN
                    SELECT RAISE(ABORT, 'not now');
                END
                """)
            #expect(try await running.send("PATCH", "/subscriptions/\(id)", json: #"{"keep":1}"#).status == 200)
            try await until {
                let all = try await running.send("GET", "/downloads").json["items"]?.array ?? []
                #expect(all.count == 2)
                return all.contains { $0["fileMissing"]?.bool == true }
            }
            #expect(try await running.send("GET", "/subscriptions/\(id)").json["items"]?["taken"]?.integer == 2)
            try other.execute("DROP TRIGGER refuse")
            let free = try await running.send("POST", "/subscriptions/\(id)/refresh").json
            #expect(free["items"]?["expired"]?.integer == 1 && free["items"]?["taken"]?.integer == 1, "\(free)")
            #expect(try await running.send("GET", "/downloads").json["total"]?.integer == 1)
        }
    }

    @Test("Files that went missing while no service ran are found at the start, and the feed does not list them")
    func missingFiles() async throws {
        let feed = try FeedOrigin([("2", "Two"), ("1", "One")])
        let directory = try TemporaryDirectory()
        var id = ""
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            id = try #require(try await subscribe(running, feed, #","take":"all""#).json["id"]?.string)
            #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").status == 200)
            try await until { try await running.send("GET", "/downloads?state=completed").json["total"]?.integer == 2 }
        }
        try FileManager.default.removeItem(atPath: directory.path + "/files/Show/One.mp3")
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            let document = try await running.send("GET", "/subscriptions/\(id)/feed.xml").text
            #expect(document.contains("Two") && !document.contains("One"), "\(document)")
            try await until {
                let all = try await running.send("GET", "/downloads").json["items"]?.array ?? []
                return all.filter { $0["fileMissing"]?.bool == true }.map { $0["filename"]?.string } == ["One.mp3"]
            }
            // So does one that goes missing while the service runs.
            try FileManager.default.removeItem(atPath: directory.path + "/files/Show/Two.mp3")
            let later = try await running.send("GET", "/subscriptions/\(id)/feed.xml").text
            #expect(!later.contains("Two"))
        }
        // A file that is back is found at the start.
        let file = directory.path + "/files/Show"
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
        try "file /files/2.mp3".write(toFile: file + "/Two.mp3", atomically: true, encoding: .utf8)
        try "other /files/1.mp".write(toFile: file + "/One.mp3", atomically: true, encoding: .utf8)
        try await RunningService.with(feeds: [feed], directory: directory) { running in
            try await until { try await running.send("GET", "/subscriptions/\(id)/feed.xml").text.contains("Two") }
            let all = try await running.send("GET", "/downloads").json["items"]?.array ?? []
            #expect(all.filter { $0["fileMissing"]?.bool == true }.map { $0["filename"]?.string } == ["One.mp3"])
        }
    }

    @Test("A check of many items, their removal from the feed and the subscription's removal are no large commits")
    func groups() async throws {
        let feed = try FeedOrigin((0..<3_000).map { ("\($0)", "Episode \($0)") })
        try await RunningService.with(feeds: [feed]) { running in
            let id = try #require(try await subscribe(running, feed).json["id"]?.string)
            let refreshed = try await running.send("POST", "/subscriptions/\(id)/refresh")
            #expect(refreshed.json["items"]?["skipped"]?.integer == 3_000, "\(refreshed.text)")
            // Another host in all addresses changes each item.
            feed.state.withLock { $0.suffix = "?moved" }
            #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").status == 200)
            #expect(try await running.send("DELETE", "/subscriptions/\(id)").status == 204)
            let figures = try await running.send("GET", "/metrics").text.split(separator: "\n")
            func value(_ name: String) throws -> Substring {
                try #require(figures.first { $0.hasPrefix("pawl_store_commit_changes_\(name) ") }?.split(separator: " ").last)
            }
            let small = try #require(figures.first { $0.hasPrefix("pawl_store_commit_changes_bucket{le=\"500.0\"}") })
            #expect(small.hasSuffix(" \(try value("count"))"), "\(small)")
        }
    }

    @Test("A feed that has not changed is not rendered for a conditional request, and a changed one is")
    func conditionalFeed() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            let id = try #require(try await subscribe(running, feed, #","take":"all""#).json["id"]?.string)
            func refresh(_ count: Int) async throws {
                #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").status == 200)
                try await until {
                    try await running.send("GET", "/downloads?state=completed").json["total"]?.integer == Int64(count)
                }
            }
            try await refresh(1)
            let path = "/subscriptions/\(id)/feed.xml"
            let first = try await running.send("GET", path)
            let tag = try #require(first["etag"])
            // Rendering would notice that the file is missing.
            try FileManager.default.moveItem(
                atPath: running.directory.path + "/files/Show/One.mp3", toPath: running.directory.path + "/One.mp3")
            let unchanged = try await running.send("GET", path, fields: [("If-None-Match", tag)])
            #expect(unchanged.status == 304 && unchanged["etag"] == tag && unchanged.body.isEmpty)
            #expect(unchanged["cache-control"] == first["cache-control"])
            try FileManager.default.moveItem(
                atPath: running.directory.path + "/One.mp3", toPath: running.directory.path + "/files/Show/One.mp3")
            #expect(try await running.send("GET", path, fields: [("If-None-Match", "\"other\"")]).body == first.body)
            feed.state.withLock { $0.episodes.insert(("2", "Two"), at: 0) }
            try await refresh(2)
            let changed = try await running.send("GET", path, fields: [("If-None-Match", tag)])
            #expect(changed.status == 200 && changed.text.contains("Two"))
        }
    }

    @Test("An episode whose folder is taken by a file waits, and is told")
    func takenFolder() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            try FileManager.default.createDirectory(
                atPath: running.directory.path + "/files", withIntermediateDirectories: true)
            let obstacle = running.directory.path + "/files/Show"
            #expect(FileManager.default.createFile(atPath: obstacle, contents: Data("x".utf8)))
            let id = try #require(try await subscribe(running, feed, #","take":"all""#).json["id"]?.string)
            for _ in 0..<2 {
                // The second response is 304.
                let told = try await running.send("POST", "/subscriptions/\(id)/refresh").json
                #expect(told["error"]?["message"]?.string?.contains("Show") == true, "\(told)")
                #expect(told["items"]?["new"]?.integer == 1)
            }
            let item = try await running.send("GET", "/subscriptions/\(id)/items").json["items"]?.array?.first
            #expect(item?["state"]?.string == "new" && item?["reason"]?.isNull == true)
            let byHand = try await running.send("POST", "/subscriptions/\(id)/items/\(item?["id"]?.string ?? "")/take")
            #expect(byHand.status == 400 && byHand.detail.contains("Show"), "\(byHand.text)")
            try FileManager.default.removeItem(atPath: obstacle)
            let free = try await running.send("POST", "/subscriptions/\(id)/refresh").json
            #expect(free["error"]?.isNull == true && free["items"]?["taken"]?.integer == 1, "\(free)")
        }
    }
}

extension SubscriptionService {
    fileprivate var count: Int { entries.count }

    fileprivate func hasListed(_ id: RecordID) -> Bool { entries[id]?.hasListed ?? false }
}
