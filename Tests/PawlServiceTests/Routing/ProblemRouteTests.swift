import HTTPCore
import JSON
import TestSupport
import Testing

@testable import PawlService

@Suite("Explanations of problems", .timeLimit(.minutes(3)))
struct ProblemRouteTests {
    @Test("Each code's type is JSON for programs and a page for browsers")
    func pages() async throws {
        try await RunningService.with { running in
            for code in ProblemCode.allCases {
                let json = try await running.send("GET", "/problems/" + code.rawValue)
                #expect(json.status == 200)
                #expect(json["content-type"] == "application/json")
                #expect(json.json["code"]?.string == code.rawValue)
                #expect(json.json["status"]?.integer == Int64(code.status.code))
                #expect(json.json["meaning"]?.string?.hasSuffix(".") == true)
            }
            let page = try await running.send(
                "GET", "/problems/not-complete", fields: [("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")])
            #expect(page["content-type"] == "text/html; charset=utf-8")
            #expect(page["content-security-policy"]?.contains("default-src 'none'") == true)
            #expect(page.text.contains("not-complete") && page.text.contains("409"))
            #expect(page["vary"]?.contains("Accept") == true)
            #expect(try await running.send("GET", "/problems/nonsense").code == "not-found")
        }
    }

    @Test("Invalid parameters have one form of message; members are named")
    func voice() async throws {
        try await RunningService.with { running in
            let cases: [(path: String, detail: String)] = [
                ("/search?term=a&limit=0", "the query parameter 'limit' is '0'; it takes a whole number from 1 to 200"),
                ("/downloads?limit=0", "the query parameter 'limit' is '0'; it takes a whole number from 1 to 200"),
                ("/search?term=a&term=b", "the query parameter 'term' is given 2 times; it takes one value"),
                ("/downloads?q=a&q=b", "the query parameter 'q' is given 2 times; it takes one value"),
                ("/search?term=a&x=1", "unknown query parameter 'x'; accepted parameters: source"),
                ("/downloads?x=1", "unknown query parameter 'x'; accepted parameters: state"),
                ("/search/lookup?id=x", "the query parameter 'id' is 'x'; it takes itunes:<number>"),
                ("/search/lookup", "the query parameter 'id' is missing; it takes"),
                ("/search", "the query parameter 'term' is missing; it takes"),
            ]
            for (path, detail) in cases {
                let answer = try await running.send("GET", path)
                #expect(answer.status == 400)
                #expect(answer.detail.hasPrefix(detail), "\(answer.detail)")
            }
            let track = try await running.send("POST", "/downloads", json: #"{"trackId":"x"}"#)
            #expect(track.status == 400)
            #expect(track.detail.hasPrefix("'trackId' is 'x'; it takes itunes:<number>"), "\(track.detail)")
            let batch = try await running.send("POST", "/downloads/batch", json: #"{"downloads":[{"trackId":"x"}]}"#)
            #expect(batch.json["items"]?.array?.first?["problem"]?["detail"]?.string?.hasPrefix("'downloads[0].trackId'") == true)
            let members = try await running.send("POST", "/downloads", json: #"{"url":"http://a.example/","b":1,"a":2}"#)
            #expect(members.detail.hasPrefix("unknown members 'b', 'a'; accepted members: url"), "\(members.detail)")
            let whole = try await running.send("PATCH", "/settings", json: #"{"maxConcurrent":3.0}"#)
            #expect(whole.json["maxConcurrent"]?.integer == 3)
        }
    }
}
