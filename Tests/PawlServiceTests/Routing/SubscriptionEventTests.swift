import Downloads
import Foundation
import HTTPClient
import HTTPCore
import JSON
import PawlConfiguration
import TestSupport
import Testing

@testable import PawlService

@Suite("Events of subscriptions", .timeLimit(.minutes(3)))
struct SubscriptionEventTests {
    @Test(
        "A stream begins with all subscriptions, and has each change and the removal",
        arguments: ["/subscriptions/events", "/downloads/events?include=subscriptions&interval=50"])
    func changes(path: String) async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            try await running.blocking { client in
                let first = try client.send("POST", "/subscriptions", json: "{\"feedUrl\":\"\(feed.url)\"}")
                let id = try #require(first.json["id"]?.string)
                #expect(try client.send("POST", "/subscriptions/\(id)/refresh").status == 200)
                let reader = try EventReader(client, path)
                #expect(reader.head["content-type"] == "text/event-stream; charset=utf-8")
                var events = Events(reader)
                let snapshot = try events.next()
                #expect(snapshot.name == "subscriptions" && snapshot.id.isEmpty)
                #expect(snapshot.data.array?.map { $0["id"]?.string } == [id])
                #expect(snapshot.data.array?.first?["name"]?.string == "Show")

                #expect(try client.send("PATCH", "/subscriptions/\(id)", json: #"{"keep":7}"#).status == 200)
                var changed = try events.next()
                while changed.data["keep"]?.integer != 7 { changed = try events.next() }
                #expect(changed.name == "subscription" && changed.data["links"]?["self"]?.string == "/subscriptions/\(id)")
                let shown = try client.send("GET", "/subscriptions/\(id)")
                #expect(shown.json == changed.data)

                #expect(try client.send("DELETE", "/subscriptions/\(id)").status == 204)
                let removed = try events.next()
                #expect(removed.name == "subscription-removed")
                #expect(removed.data == .object([JSONMember(name: "id", value: .string(id))]))
            }
        }
    }

    @Test("A stream of downloads has no events of subscriptions without being asked")
    func onlyDownloads() async throws {
        let feed = try FeedOrigin([("1", "One")])
        try await RunningService.with(feeds: [feed]) { running in
            try await running.blocking { client in
                let reader = try EventReader(client, "/downloads/events")
                #expect(try reader.next()?.name == "snapshot")
                let made = try client.send("POST", "/subscriptions", json: "{\"feedUrl\":\"\(feed.url)\"}")
                #expect(made.status == 201)
                _ = try client.send("POST", "/downloads", json: "{\"url\":\"\(feed.origin.url("/files/9.mp3"))\"}")
                #expect(try reader.next()?.name == "download")
            }
        }
    }

    @Test("Refuses unknown kinds of events with the accepted ones")
    func refusals() async throws {
        try await RunningService.with { running in
            let unknown = try await running.send("GET", "/downloads/events?include=settings")
            #expect(unknown.status == 400 && unknown.text.contains("subscriptions"), "\(unknown.text)")
            let id = try await running.add("/entity?size=10&seed=1", #","paused":true"#)
            let single = try await running.send("GET", "/downloads/\(id)/events?include=subscriptions")
            #expect(single.status == 400 && single.text.contains("include"), "\(single.text)")
        }
    }

    @Test("A caller of scope `read` sees no query of an address, and no stream has secrets")
    func secrets() async throws {
        let feed = try FeedOrigin([("1", "One")])
        let base = try #require(HTTPURL(feed.origin.url("")))
        let directory = try TemporaryDirectory()
        try "board read read-token\n".write(toFile: directory.path + "/tokens", atomically: true, encoding: .utf8)
        try await RunningService.with {
            $0.downloads.destinationGuard.allowed.append(DestinationRule(base))
            $0.token = AccessToken("own-token")
            $0.tokensFile = directory.path + "/tokens"
        } _: { running in
            try await running.blocking { client in
                let address = feed.url.replacing("http://", with: "http://ada:s3cret@") + "?key=abc"
                let made = try client.send(
                    "POST", "/subscriptions",
                    fields: [("Authorization", "Bearer own-token"), ("Content-Type", "application/json")],
                    body: Array("{\"feedUrl\":\"\(address)\"}".utf8))
                #expect(made.status == 201, "\(made.text)")
                for (token, showsQuery) in [("own", true), ("read", false)] {
                    let fields = [("Authorization", "Bearer \(token)-token")]
                    var events = Events(try EventReader(client, "/subscriptions/events", fields: fields))
                    let shown = try #require(try events.next().data.array?.first)
                    let source = try #require(shown["source"]?["partsOf"]?.string)
                    #expect(source.contains("key=abc") == showsQuery, "\(source)")
                    #expect(!"\(shown)".contains("s3cret"))
                }
            }
        }
    }

    /// The events of subscriptions in a stream.
    private struct Events {
        let reader: EventReader

        init(_ reader: EventReader) { self.reader = reader }

        mutating func next() throws -> EventReader.Event {
            while let event = try reader.next() {
                if event.name.hasPrefix("subscription") { return event }
            }
            throw TestConnection.Failure.malformed("the stream has ended")
        }
    }
}
