import JSON
import TestSupport
import TestUpstream
import Testing

@testable import PawlService

@Suite("Search over HTTP", .timeLimit(.minutes(3)))
struct SearchRouteTests {
    @Test("A search returns items, is cached, and includes downloads of the results")
    func search() async throws {
        try await RunningService.with { running in
            let first = try await running.send("GET", "/search?term=prelude&limit=5")
            #expect(first.status == 200)
            #expect(
                first.json.members?.map(\.name) == ["source", "term", "limit", "offset", "count", "attribution", "results"])
            #expect(first["cache-control"]?.hasPrefix("private, max-age=") == true)
            let results = try #require(first.json["results"]?.array)
            #expect(!results.isEmpty && results.count <= 5)
            let tag = try #require(first["etag"])
            let again = try await running.send("GET", "/search?term=prelude&limit=5", fields: [("If-None-Match", tag)])
            #expect(again.status == 304)
            #expect(running.upstream.requests.count { $0.path == "/search" } <= 1)

            let track = try #require(results.first { $0["downloadUrl"]?.string != nil })
            #expect(track["download"]?.isNull == true)
            let trackID = try #require(track["id"]?.string)
            let made = try await running.send("POST", "/downloads", json: #"{"trackId":"\#(trackID)","paused":true}"#)
            #expect(made.status == 201, "\(made.text)")
            #expect(made.json["url"] == track["downloadUrl"])
            #expect(made.json["track"]?["id"]?.string == trackID)
            #expect(made.json["track"]?["name"] == track["name"])

            let afterwards = try await running.send("GET", "/search?term=prelude&limit=5", fields: [("If-None-Match", tag)])
            #expect(afterwards.status == 200)
            let found = afterwards.json["results"]?.array?.first { $0["id"]?.string == trackID }
            #expect(found?["download"]?["id"] == made.json["id"])
            #expect(found?["download"]?["state"]?.string == "paused")
            let listed = try await running.send("GET", "/downloads?q=PRELUDE")
            #expect(listed.json["total"]?.integer == 1)
        }
    }

    @Test("Looks up an item by its id, in the form of a search")
    func lookup() async throws {
        try await RunningService.with { running in
            let results = try await running.send("GET", "/search?term=prelude&limit=1").json["results"]?.array
            let id = try #require(results?.first?["id"]?.string)
            let answer = try await running.send("GET", "/search/lookup?id=\(id)&include=raw")
            #expect(answer.status == 200)
            #expect(answer.json["count"]?.integer == 1)
            #expect(answer.json["results"]?.array?.first?["id"]?.string == id)
            #expect(answer.json["results"]?.array?.first?["raw"]?.members?.isEmpty == false)
            let unknown = try await running.send("GET", "/search/lookup?id=itunes:1")
            #expect(unknown.status == 404)
            let refused = try await running.send("POST", "/downloads", json: #"{"trackId":"itunes:1"}"#)
            #expect(refused.status == 404)
            #expect(try await running.send("POST", "/downloads", json: #"{"trackId":"nonsense"}"#).status == 400)
        }
    }

    @Test("Posts are a source too")
    func posts() async throws {
        try await RunningService.with { running in
            let answer = try await running.send("GET", "/search?source=posts&term=a&limit=2")
            #expect(answer.json["source"]?.string == "posts")
            #expect(answer.json["results"]?.array?.first?["kind"]?.string == "post")
            let sources = try await running.send("GET", "/search/sources").json["sources"]?.array
            #expect(sources?.map { $0["id"]?.string } == ["itunes", "posts", "archive", "feed"])
        }
    }

    @Test(
        "Refuses invalid searches, and names the fault",
        arguments: [
            ("", "term"), ("term=", "term"), ("term=a&limit=0", "limit"), ("term=a&limit=201", "limit"),
            ("term=a&limit=", "limit"),
            ("term=a&offset=-1", "offset"), ("term=a&source=spotify", "spotify"), ("term=a&media=vinyl", "vinyl"),
            ("term=a&explicit=maybe", "explicit"), ("term=a&callback=f", "callback"), ("term=a&include=all", "include"),
            ("term=a&term=b", "term"), ("term=%ff", "%ff"), ("source=posts&term=a&country=DE", "country"),
        ])
    func mistakes(query: String, mention: String) async throws {
        try await RunningService.with { running in
            let answer = try await running.send("GET", "/search?" + query)
            #expect(answer.status == 400)
            #expect(answer.code == "invalid-request")
            #expect(answer.detail.contains(mention), "\(answer.detail)")
            #expect(running.upstream.requests.isEmpty)
        }
    }

    @Test(
        "Each failure of a source is a problem of its own",
        arguments: [
            ("/faulty/500", 502, "upstream-rejected"), ("/faulty/html", 502, "upstream-rejected"),
            ("/faulty/truncate@10", 502, "upstream-unreachable"), ("/faulty/403", 503, "upstream-rate-limited"),
            ("/faulty/429", 503, "upstream-rate-limited"),
        ])
    func upstreamFailures(base: String, status: Int, code: String) async throws {
        try await RunningService.with(upstreamPath: base) { running in
            let answer = try await running.send("GET", "/search?term=prelude")
            #expect(answer.status == status)
            #expect(answer.code == code)
            if code == "upstream-rate-limited" { #expect(Int(answer["retry-after"] ?? "") ?? 0 > 0) }
        }
    }

    @Test("An unreachable source is a bad gateway")
    func unreachable() async throws {
        try await RunningService.with { running in
            await running.upstream.shutdown()
            let answer = try await running.send("GET", "/search?term=prelude")
            #expect(answer.status == 502)
            #expect(answer.code == "upstream-unreachable")
        }
    }
}
