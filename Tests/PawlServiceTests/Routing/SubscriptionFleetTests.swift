import HTTPClient
import HTTPCore
import JSON
import PawlConfiguration
import TestSupport
import Testing

@testable import DownloadCore
@testable import DownloadStore
@testable import Downloads
@testable import PawlService
@testable import Subscriptions

/// Subscriptions of two replicas with one database.
@Suite(
    "Subscriptions of a fleet", .timeLimit(.minutes(3)),
    .enabled(if: PrivatePostgres.isWanted, "\(PrivatePostgres.whySkipped)"))
struct SubscriptionFleetTests {
    private func with(
        _ feed: FeedOrigin, _ body: (RunningService, RunningService) async throws -> Void
    ) async throws {
        let database = try PrivatePostgres.database()
        let base = try #require(HTTPURL(feed.origin.url("")))
        let configure: (inout Configuration) -> Void = { configuration in
            configuration.downloads.database = database.conninfo
            configuration.downloads.lease = .seconds(3)
            configuration.downloads.destinationGuard.allowed.append(DestinationRule(base))
        }
        try await RunningService.with(configure) { first in
            try await RunningService.with(configure) { second in try await body(first, second) }
        }
    }

    private func subscribe(_ running: RunningService, _ feed: FeedOrigin, _ more: String = "") async throws -> String {
        let made = try await running.send("POST", "/subscriptions", json: "{\"feedUrl\":\"\(feed.url)\"\(more)}")
        #expect(made.status == 201, "\(made.text)")
        return try #require(made.json["id"]?.string)
    }

    private func show(_ running: RunningService, _ id: String) async throws -> JSONValue {
        try await running.send("GET", "/subscriptions/\(id)").json
    }

    private func refresh(_ running: RunningService, _ id: String) async throws -> JSONValue {
        let answer = try await running.send("POST", "/subscriptions/\(id)/refresh")
        #expect(answer.status == 200, "\(answer.text)")
        return answer.json
    }

    private func items(_ running: RunningService, _ id: String) async throws -> [String] {
        (try await running.send("GET", "/subscriptions/\(id)/items").json["items"]?.array ?? []).map { item in
            [item["name"]?.string, item["state"]?.string].compactMap(\.self).joined(separator: " ")
        }
    }

    @Test("Each replica shows, changes, checks and removes the subscriptions of all")
    func everyReplica() async throws {
        let feed = try FeedOrigin([("2", "Two"), ("1", "One")])
        try await with(feed) { first, second in
            let id = try await subscribe(first, feed, #","take":{"latest":1}"#)
            // Without waiting for a notification.
            #expect(try await second.send("GET", "/subscriptions/\(id)").status == 200)
            let known = try await second.send("POST", "/subscriptions", json: "{\"feedUrl\":\"\(feed.url)\"}")
            #expect(known.status == 200 && known.json["id"]?.string == id)
            #expect(try await refresh(second, id)["items"]?["taken"]?.integer == 1)
            feed.change { $0.episodes.insert(("3", "Three"), at: 0) }
            #expect(try await refresh(first, id)["items"]?["taken"]?.integer == 2)
            let changed = try await second.send("PATCH", "/subscriptions/\(id)", json: #"{"keep":9}"#)
            #expect(changed.status == 200, "\(changed.text)")
            try await until { try await show(first, id)["keep"]?.integer == 9 }
            let one = try #require(
                try await first.send("GET", "/subscriptions/\(id)/items").json["items"]?.array?.last?["id"]?.string)
            #expect(try await second.send("POST", "/subscriptions/\(id)/items/\(one)/take").status == 200)
            #expect(try await items(first, id) == ["Three taken", "Two taken", "One taken"])
            try await until { try await show(first, id)["items"]?["taken"]?.integer == 3 }
            #expect(try await second.send("DELETE", "/subscriptions/\(id)").status == 204)
            try await until { try await first.send("GET", "/subscriptions/\(id)").status == 404 }
            for number in 1...3 { #expect(feed.count("/files/\(number).mp3") <= 1) }
        }
    }

    @Test("Two replicas that subscribe to the same feed at once get one subscription")
    func sameFeed() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await with(feed) { first, second in
            let body = "{\"feedUrl\":\"\(feed.url)\"}"
            async let left = first.send("POST", "/subscriptions", json: body)
            async let right = second.send("POST", "/subscriptions", json: body)
            let (one, other) = try await (left, right)
            #expect([one.status, other.status].sorted() == [200, 201])
            #expect(one.json["id"] == other.json["id"] && one.json["id"]?.string != nil)
            #expect(try await first.send("GET", "/subscriptions").json["total"]?.integer == 1)
        }
    }

    @Test("Changes at both replicas at once are all made")
    func concurrentChanges() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await with(feed) { first, second in
            let id = try await subscribe(first, feed)
            let path = "/subscriptions/\(id)"
            for number in 1...20 {
                async let every = first.send("PATCH", path, json: "{\"every\":\(1_000 + number)}")
                async let keep = second.send("PATCH", path, json: "{\"keep\":\(number)}")
                async let check = second.send("POST", path + "/refresh")
                let statuses = try await [every.status, keep.status]
                #expect(statuses == [200, 200])
                #expect([200, 202].contains(try await check.status))
                try await until {
                    let (one, other) = try await (show(first, id), show(second, id))
                    return [one, other].allSatisfy {
                        $0["every"]?.integer == Int64(1_000 + number) && $0["keep"]?.integer == Int64(number)
                    }
                }
            }
        }
    }

    @Test("A check that another replica has taken the claim from takes nothing")
    func lostClaim() async throws {
        let feed = try FeedOrigin([("1", "One")])
        let (asked, answers) = (Gate(), Gate())
        try await with(feed) { first, second in
            let id = try await subscribe(first, feed)
            _ = try await refresh(first, id)
            feed.change { state in
                state.episodes.insert(("2", "Two"), at: 0)
                state.gates = (asked, answers)
            }
            let check = Task { try await first.send("POST", "/subscriptions/\(id)/refresh") }
            try await asked.wait()
            // The replica that checks learns of the pause by the refusal of its changes.
            let paused = try await second.send("POST", "/subscriptions/\(id)/pause")
            #expect(paused.status == 200 && paused.json["state"]?.string == "paused", "\(paused.text)")
            answers.open()
            _ = try await check.value
            #expect(try await items(second, id).contains("Two taken") == false)
            feed.change { $0.gates = nil }
            #expect(try await second.send("POST", "/subscriptions/\(id)/resume").status == 200)
            try await until { try await items(first, id).first == "Two taken" }
            #expect(feed.count("/files/2.mp3") <= 1)
        }
    }
}
