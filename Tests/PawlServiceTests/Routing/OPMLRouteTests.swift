import Feeds
import Foundation
import HTTPCore
import JSON
import PawlConfiguration
import System
import TestSupport
import Testing

@testable import PawlService

@Suite("Lists of subscriptions over HTTP", .timeLimit(.minutes(3)))
struct OPMLRouteTests {
    private func send(
        _ running: RunningService, _ text: String, type: String? = "text/x-opml", fields: [(String, String)] = []
    ) async throws -> TestResponse {
        try await running.send(
            "POST", "/subscriptions/import", fields: fields + (type.map { [("Content-Type", $0)] } ?? []), body: Array(text.utf8))
    }

    private func opml(_ body: String) -> String { "<opml version=\"2.0\"><head/><body>\(body)</body></opml>" }

    @Test("Each outline becomes a subscription or a problem; groups become labels")
    func importing() async throws {
        let origin = try PodcastOrigin("<title>Show</title>" + PodcastOrigin.item("1"))
        try await origin.with { running in
            let tooLong = String(repeating: "x", count: 201)
            let document = opml(
                "<outline text=\"One\" xmlUrl=\"\(origin.url("/one"))\"/>"
                    + "<outline text=\"News\"><outline text=\"\(tooLong)\">"
                    + "<outline text=\"Two\" xmlUrl=\"\(origin.url("/two?a=1&amp;b=2"))\" category=\"/tag,a/b\"/></outline>"
                    + "<outline xmlUrl=\"ftp://a.test/\"/><outline xmlUrl=\"http://10.0.0.1/\"/></outline>"
                    + "<outline text=\"More\"><outline xmlUrl=\"\(origin.url("/two?a=1&amp;b=2"))\"/></outline>"
                    + "<outline text=\"Private\" xmlUrl=\"\(origin.url("/three").replacing("://", with: "://ada:s3cret@"))\"/>")
            let made = try await send(running, document)
            #expect(made.status == 200 && made["cache-control"] == "no-store", "\(made.text)")
            let items = made.json["items"]?.array ?? []
            #expect(items.map { $0["status"]?.integer } == [201, 201, 400, 403, 200, 201])
            #expect(items[0]["subscription"]?["take"]?.string == "new" && items[0]["subscription"]?["name"]?.string == "One")
            #expect(items[1]["subscription"]?["labels"]?.array?.map(\.string) == ["News", "tag", "More"])
            #expect(items[2]["problem"]?["detail"]?.string?.contains("ftp://a.test/") == true)
            #expect(items[3]["problem"]?["code"]?.string == "destination-forbidden")
            #expect(items[4]["subscription"]?["id"]?.string == items[1]["subscription"]?["id"]?.string)
            #expect(!made.text.contains("s3cret"))
            let id = try #require(items[5]["subscription"]?["id"]?.string)
            #expect(try await running.send("POST", "/subscriptions/\(id)/refresh").json["name"]?.string == "Show")
            let requests = origin.origin.requests.filter { $0.target == "/three" }
            #expect(!requests.isEmpty && requests.allSatisfy { $0["Authorization"] == "Basic YWRhOnMzY3JldA==" })
            // The same list again has no effect.
            let again = try await send(running, document, type: "application/xml; charset=utf-8")
            #expect((again.json["items"]?.array ?? []).map { $0["status"]?.integer } == [200, 200, 400, 403, 200, 200])
            #expect(try await running.send("GET", "/subscriptions").json["total"]?.integer == 3)
        }
    }

    @Test("An exported list makes the same subscriptions elsewhere, without header fields")
    func roundTrip() async throws {
        let origin = try PodcastOrigin("<title>Show</title><link>https://show.test/</link>")
        var list: [UInt8] = []
        func subscriptions(_ running: RunningService) async throws -> Set<[String]> {
            let all = try await running.send("GET", "/subscriptions").json["items"]?.array ?? []
            return Set(
                all.map { subscription in
                    [subscription["source"]?["partsOf"]?.string ?? "", subscription["name"]?.string ?? ""]
                        + (subscription["labels"]?.array ?? []).compactMap(\.string)
                })
        }
        var expected: Set<[String]> = []
        try await origin.with { running in
            for more in [
                #"one""#, #"two?a=1&b=2","labels":["A & \"B\""]"#,
                #"three","labels":["A","b","c d"],"headers":{"X-Key":"s3cret"}"#,
            ] {
                let made = try await running.send(
                    "POST", "/subscriptions", json: "{\"feedUrl\":\"\(origin.url("/"))\(more)}")
                let id = try #require(made.json["id"]?.string, "\(made.text)")
                _ = try await running.send("POST", "/subscriptions/\(id)/refresh")
            }
            let search = #"{"source":{"search":{"source":"archive","term":"x"}}}"#
            #expect(try await running.send("POST", "/subscriptions", json: search).status == 201)
            expected = try await subscriptions(running).filter { $0[0].hasPrefix("feed:") }
            let exported = try await running.send("GET", "/subscriptions/export")
            #expect(exported.status == 200 && exported["content-type"] == "text/x-opml; charset=utf-8")
            #expect(exported["content-disposition"] == "attachment; filename=\"subscriptions.opml\"")
            #expect(!exported.text.contains("s3cret") && exported.text.contains("htmlUrl=\"https://show.test/\""))
            list = exported.body
            #expect(try await running.send("HEAD", "/subscriptions/export").status == 200)
        }
        #expect(expected.count == 3 && expected.allSatisfy { $0[1] == "Show" })
        // The feeds have no title any more, so names come from the list.
        origin.channel.withLock { $0 = "" }
        try await origin.with { running in
            let made = try await send(running, String(decoding: list, as: UTF8.self), type: "text/xml")
            #expect((made.json["items"]?.array ?? []).map { $0["status"]?.integer } == [201, 201, 201])
            #expect(try await subscriptions(running) == expected)
        }
    }

    @Test("A token of scope read exports no private feeds, and imports nothing")
    func scopes() async throws {
        let origin = try PodcastOrigin("<title>Show</title>")
        let directory = try TemporaryDirectory()
        let tokens = directory.path + "/tokens"
        try Data(PodcastOrigin.tokens.utf8).write(to: URL(filePath: tokens))
        try await origin.with(tokens: tokens) { running in
            let document = opml(
                "<outline xmlUrl=\"\(origin.url("/open"))\"/><outline xmlUrl=\"\(origin.url("/signed?sig=1"))\"/>"
                    + "<outline xmlUrl=\"\(origin.url("/login").replacing("://", with: "://a:b@"))\"/>")
            #expect(try await send(running, document, fields: PodcastOrigin.read).code == "insufficient-scope")
            let made = try await send(running, document, fields: PodcastOrigin.full)
            let links = (made.json["items"]?.array ?? []).map { $0["subscription"]?["links"]?["feed"]?.string ?? "" }
            #expect(links.count == 3 && links.allSatisfy { $0.contains("?key=") })
            for (fields, paths) in [(PodcastOrigin.full, ["/open", "/signed?sig=1", "/login"]), (PodcastOrigin.read, ["/open"])] {
                let exported = try await running.send("GET", "/subscriptions/export", fields: fields)
                #expect(try OPML(reading: exported.body).outlines.map(\.address) == paths.map { origin.url($0) })
            }
        }
    }

    @Test("Refuses other documents and media types with the reason")
    func refusals() async throws {
        try await RunningService.with { running in
            for type in ["application/json", "text/html", "multipart/form-data; boundary=b", nil] {
                let refused = try await send(running, opml(""), type: type, fields: [("Sec-Fetch-Site", "same-origin")])
                #expect(refused.status == 415 && refused.detail.contains("text/x-opml"), "\(refused.text)")
            }
            for (text, part) in [
                ("", "no body"), ("{}", "is no XML"), ("<rss/>", "(rss)"), ("<opml><outline", "breaks off"),
                (opml(String(repeating: "<outline/>", count: 20_001)), "20000"),
            ] {
                let refused = try await send(running, text)
                #expect(refused.status == 400 && refused.detail.contains(part), "\(refused.text)")
            }
            #expect(try await send(running, String(repeating: " ", count: 1 << 20 + 1)).status == 413)
            #expect(try await send(running, opml("")).json["items"]?.array?.isEmpty == true)
            let unknown = try await send(running, "<?xml version='1.0' encoding='x-unheard-of'?>" + opml(""))
            #expect(unknown.json["warnings"]?.array?.first?.string?.contains("'x-unheard-of'") == true)
            #expect(try await running.send("GET", "/subscriptions/import").status == 405)
        }
    }
}
