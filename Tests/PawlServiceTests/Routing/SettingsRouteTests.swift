import JSON
import TestSupport
import Testing

@testable import PawlService

@Suite("Settings by HTTP", .timeLimit(.minutes(3)))
struct SettingsRouteTests {
    @Test("they are told, changed one by one, and refused by name")
    func settings() async throws {
        try await RunningService.with { running in
            let before = try await running.send("GET", "/settings")
            #expect(before.text == #"{"maxConcurrent":8,"maxPerHost":4,"segments":4,"speedLimit":0}"#)
            let after = try await running.send(
                "PATCH", "/settings", json: #"{"maxConcurrent":2,"speedLimit":1000000,"segments":null}"#)
            #expect(after.text == #"{"maxConcurrent":2,"maxPerHost":4,"segments":4,"speedLimit":1000000}"#)
            #expect(try await running.send("GET", "/settings").body == after.body)
            let cases: [(body: String, mentions: [String])] = [
                (#"{"maxConcurrent":0}"#, ["'maxConcurrent'", "1 to 1000"]), (#"{"segments":17}"#, ["'segments'", "1 to 16"]),
                (#"{"speedLimit":-1}"#, ["'speedLimit'", "0 or more"]), (#"{"maxPerHost":"4"}"#, ["'maxPerHost'", "a string"]),
                (#"{"max-concurrent":4}"#, ["'max-concurrent'", "maxConcurrent"]), ("3", ["object"]),
            ]
            for (body, mentions) in cases {
                let answer = try await running.send("PATCH", "/settings", json: body)
                #expect(answer.status == 400)
                for words in mentions { #expect(answer.detail.contains(words), "\(answer.detail)") }
            }
            #expect(try await running.send("GET", "/settings").body == after.body)
        }
    }

    @Test("a change that is meant for other settings is refused, also of two that come at once")
    func conditions() async throws {
        try await RunningService.with { running in
            let shown = try await running.send("GET", "/settings")
            let tag = try #require(shown["etag"])
            #expect(try await running.send("GET", "/settings", fields: [("If-None-Match", tag)]).status == 304)
            async let first = running.send("PATCH", "/settings", json: #"{"segments":2}"#, fields: [("If-Match", tag)])
            async let second = running.send("PATCH", "/settings", json: #"{"maxPerHost":3}"#, fields: [("If-Match", tag)])
            let answers = try await [first, second]
            #expect(answers.map(\.status).sorted() == [200, 412])
            #expect(answers.first { $0.status == 412 }?.code == "precondition-failed")
            let changed = try await running.send("GET", "/settings")
            #expect(changed["etag"] == answers.first { $0.status == 200 }?["etag"])
            for condition in [("If-Match", tag), ("If-None-Match", "*")] {
                #expect(try await running.send("PATCH", "/settings", json: #"{"segments":9}"#, fields: [condition]).status == 412)
            }
            #expect(try await running.send("GET", "/settings").body == changed.body)
        }
    }
}
