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
}
