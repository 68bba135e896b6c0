import JSON
import TestSupport
import Testing

@testable import PawlService

@Suite("Settings by HTTP", .timeLimit(.minutes(3)))
struct SettingsRouteTests {
    @Test("Returns settings, changes them one by one, and refuses invalid ones by name")
    func settings() async throws {
        try await RunningService.with { running in
            let before = try await running.send("GET", "/settings")
            #expect(
                before.text == #"{"maxConcurrent":8,"maxPerHost":4,"segments":4,"speedLimit":0,"speedSchedule":[],"webhooks":[]}"#
                    + "\n"
            )
            let after = try await running.send(
                "PATCH", "/settings", json: #"{"maxConcurrent":2,"speedLimit":1000000,"segments":null}"#)
            #expect(
                after.text
                    == #"{"maxConcurrent":2,"maxPerHost":4,"segments":4,"speedLimit":1000000,"speedSchedule":[],"webhooks":[]}"#
                    + "\n")
            #expect(try await running.send("GET", "/settings").body == after.body)
            let cases: [(body: String, mentions: [String])] = [
                (#"{"maxConcurrent":0}"#, ["'maxConcurrent'", "1 to 1000"]), (#"{"segments":17}"#, ["'segments'", "1 to 16"]),
                (#"{"speedLimit":-1}"#, ["'speedLimit'", "0 or more"]), (#"{"maxPerHost":"4"}"#, ["'maxPerHost'", "a string"]),
                (#"{"max-concurrent":4}"#, ["'max-concurrent'", "maxConcurrent"]), ("3", ["object"]),
                (#"{"speedSchedule":"mon-fri 08:00-18:00 1M"}"#, ["'speedSchedule'", "array"]),
                (#"{"speedSchedule":["mon-fri 08:00-18:00 1M","always 1M"]}"#, ["'speedSchedule[1]'", "mon-fri 08:00-18:00 1M"]),
                (#"{"speedSchedule":["mon-fri 08:00-25:00 1M"]}"#, ["'speedSchedule[0]'", "08:00-25:00"]),
                (#"{"speedSchedule":["mon-fry 08:00-18:00 1M"]}"#, ["'speedSchedule[0]'", "mon-fry"]),
                (#"{"speedSchedule":["mon-fri 08:00-18:00 fast"]}"#, ["'speedSchedule[0]'", "fast"]),
                (#"{"webhooks":"https://example.org/"}"#, ["'webhooks'", "array"]),
                (#"{"webhooks":["https://example.org/","ftp://example.org/"]}"#, ["'webhooks[1]'", "http or https"]),
                (
                    #"{"webhooks":[\#(Array(repeating: #""https://example.org/""#, count: 9).joined(separator: ","))]}"#,
                    ["at most 8"]
                ),
            ]
            for (body, mentions) in cases {
                let answer = try await running.send("PATCH", "/settings", json: body)
                #expect(answer.status == 400)
                for words in mentions { #expect(answer.detail.contains(words), "\(answer.detail)") }
            }
            #expect(try await running.send("GET", "/settings").body == after.body)
        }
    }

    @Test("The schedule applies at once, is returned as written, and gives way to the speed limit when removed")
    func schedule() async throws {
        try await RunningService.with { running in
            let always = #"["mon-sun 00:00-24:00 500k","sat,SUN 22:00-06:00 0"]"#
            let changed = try await running.send("PATCH", "/settings", json: #"{"speedLimit":7,"speedSchedule":\#(always)}"#)
            #expect(changed.status == 200)
            #expect(changed.text.hasSuffix(#""speedSchedule":\#(always),"webhooks":[]}"# + "\n"))
            #expect(try await running.send("GET", "/settings").text == changed.text)
            #expect(try await running.send("GET", "/stats").json["speedLimit"]?.integer == 500 * 1024)
            _ = try await running.send("PATCH", "/settings", json: #"{"speedLimit":9,"speedSchedule":null}"#)
            #expect(try await running.send("GET", "/stats").json["speedLimit"]?.integer == 500 * 1024)
            let cleared = try await running.send("PATCH", "/settings", json: #"{"speedSchedule":[]}"#)
            #expect(cleared.text.hasSuffix(#""speedLimit":9,"speedSchedule":[],"webhooks":[]}"# + "\n"))
            #expect(try await running.send("GET", "/stats").json["speedLimit"]?.integer == 9)
        }
    }

    @Test("Refuses a change of other settings, also of two concurrent ones")
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
