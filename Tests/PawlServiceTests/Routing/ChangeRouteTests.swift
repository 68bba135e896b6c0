import JSON
import TestSupport
import Testing

@testable import PawlService

@Suite("Changes by PATCH", .timeLimit(.minutes(3)))
struct ChangeRouteTests {
    @Test("A download gets new values, keeps the others, and has a new validator")
    func change() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=10", #","paused":true,"labels":["a"],"priority":3,"filename":"a.bin""#)
            let path = "/downloads/\(id)"
            let answer = try await running.send(
                "PATCH", path, json: #"{"priority":-2,"labels":["b","b","c"],"speedLimit":1000,"filename":null,"url":null}"#)
            #expect(answer.status == 200)
            #expect(answer.json["priority"]?.integer == -2)
            #expect(answer.json["labels"] == .array([.string("b"), .string("c")]))
            #expect(answer.json["speedLimit"]?.integer == 1000)
            #expect(answer.json["filename"]?.string == "a.bin")
            #expect(answer.json["timeouts"]?.isNull == true)
            let limited = try await running.send("PATCH", path, json: #"{"timeouts":{"stall":0,"connect":5}}"#)
            #expect(limited.text.contains(#""timeouts":{"connect":5,"response":null,"stall":0},"remoteTime":null"#))
            let unchanged = try await running.send("PATCH", path, json: #"{"timeouts":null}"#)
            #expect(unchanged.json["timeouts"]?["connect"]?.integer == 5)
            let usual = try await running.send("PATCH", path, json: #"{"timeouts":{}}"#)
            #expect(usual.json["timeouts"]?.isNull == true)
            let never = try await running.send("PATCH", path, json: #"{"retry":{"attempts":0,"statuses":[404]}}"#)
            #expect(never.text.contains(#""retry":{"attempts":0,"longestDelay":"60s","statuses":[404]},"track""#))
            let forEver = try await running.send("PATCH", path, json: #"{"retry":{"attempts":null,"longestDelay":"2m"}}"#)
            #expect(forEver.text.contains(#""retry":{"attempts":null,"longestDelay":"120s","statuses":[]}"#))
            #expect(try await running.send("PATCH", path, json: #"{"retry":null}"#).text.contains(#""longestDelay":"120s""#))
            #expect(try await running.send("PATCH", path, json: #"{"retry":{}}"#).json["retry"]?.isNull == true)
            let shown = try await running.send("GET", path)
            #expect(shown.json["timeouts"]?.isNull == true)
            #expect(try await running.send("PATCH", path, json: #"{"labels":[]}"#).json["labels"] == .array([]))
            #expect(try await running.send("PATCH", path, json: #"{"labels":null,"priority":null}"#).status == 200)
            let link = try await running.send("PATCH", path, json: #"{"url":"\#(running.upstreamURL)/entity?size=10&fresh=1"}"#)
            #expect(link.json["url"]?.string == running.upstreamURL + "/entity?size=10&fresh=1")
            #expect(link.json["state"]?.string == "paused")
        }
    }

    @Test("Refuses invalid values by name, by the rules of POST")
    func refusals() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=10", #","paused":true"#)
            let cases: [(body: String, status: Int, mentions: [String])] = [
                ("", 400, ["no body"]), ("[]", 400, ["object"]), (#"{"colour":1}"#, 400, ["'colour'", "priority"]),
                (#"{"priority":11}"#, 400, ["'priority'", "-10 to 10"]), (#"{"labels":"x"}"#, 400, ["'labels'"]),
                (#"{"labels":[""]}"#, 400, ["'labels'"]), (#"{"speedLimit":-1}"#, 400, ["'speedLimit'"]),
                (#"{"timeouts":{"response":86401}}"#, 400, ["'timeouts.response'", "0 to 86400"]),
                (#"{"retry":{"attempts":"8"}}"#, 400, ["'retry.attempts'"]),
                (#"{"url":"ftp://a/"}"#, 400, ["'url'", "http"]), (#"{"filename":"../a"}"#, 400, ["filename"]),
                (#"{"url":"http://127.0.0.1:1/"}"#, 403, ["--allow-destination"]), (#"{"state":"paused"}"#, 400, ["'state'"]),
            ]
            for (body, status, mentions) in cases {
                let answer = try await running.send("PATCH", "/downloads/\(id)", json: body)
                #expect(answer.status == status, "\(body)")
                for words in mentions { #expect(answer.detail.contains(words), "\(body): \(answer.detail)") }
            }
            let text = try await running.send(
                "PATCH", "/downloads/\(id)", fields: [("Content-Type", "text/plain")], body: Array("{}".utf8))
            #expect(text.status == 415)
            #expect(try await running.send("PATCH", "/downloads/01JD6Z0000000000000000000A", json: "{}").status == 404)
        }
    }

    @Test("After completion, name and URL stay, and labels may change")
    func completed() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=10")
            try await running.complete(id)
            for body in [#"{"filename":"b"}"#, #"{"url":"\#(running.upstreamURL)/entity?size=11","labels":["x"]}"#] {
                let answer = try await running.send("PATCH", "/downloads/\(id)", json: body)
                #expect(answer.status == 409)
                #expect(answer.code == "illegal-transition")
                #expect(answer.json["state"]?.string == "completed")
            }
            let answer = try await running.send("PATCH", "/downloads/\(id)", json: #"{"labels":["kept"]}"#)
            #expect(answer.json["labels"] == .array([.string("kept")]))
            #expect(answer.json["sha256"]?.string != nil)
        }
    }

    @Test("Applies, clamps and returns a position; applies mirrors and segments")
    func position() async throws {
        try await RunningService.with { running in
            var ids: [String] = []
            for number in 0..<3 {
                let more = #","paused":true\#(number == 2 ? #","position":1"# : "")"#
                ids.append(try await running.add("/entity?size=1\(number)", more))
            }
            func position(_ id: String) async throws -> Int64? {
                try await running.send("GET", "/downloads/\(id)").json["position"]?.integer
            }
            #expect(try await position(ids[0]) == 0)
            #expect(try await position(ids[2]) == 1)
            #expect(try await position(ids[1]) == 2)
            let path = "/downloads/\(ids[0])"
            let tag = try await running.send("GET", "/downloads/\(ids[1])")["etag"]
            let answer = try await running.send("PATCH", path, json: #"{"position":9000000000000000000}"#)
            #expect(answer.status == 200 && answer.json["position"]?.integer == 2)
            #expect(try await running.send("GET", path)["etag"] == answer["etag"])
            let moved = try await running.send("GET", "/downloads/\(ids[1])")
            #expect(moved.json["position"]?.integer == 1 && moved["etag"] == tag)
            let list = try await running.send("GET", "/downloads?order=oldest")
            #expect(list.json["items"]?.array?.map { $0["position"]?.integer } == [2, 1, 0])
            for (body, mentions) in [
                (#"{"position":-1}"#, "'position'"), (#"{"position":"top"}"#, "'position'"), (#"{"segments":0}"#, "'segments'"),
                (#"{"segments":17}"#, "'segments'"), (#"{"mirrors":["ftp://a/"]}"#, "'mirrors[0]'"),
            ] {
                let refused = try await running.send("PATCH", path, json: body)
                #expect(refused.status == 400 && refused.detail.contains(mentions), "\(body): \(refused.detail)")
            }
            #expect(try await running.send("PATCH", path, json: #"{"mirrors":["http://127.0.0.1:1/"]}"#).status == 403)
            let taken = try await running.send(
                "PATCH", path, json: #"{"segments":2,"mirrors":["\#(running.upstreamURL)/entity?size=10"]}"#)
            #expect(taken.status == 200)
            _ = try await running.send("POST", path + "/resume")
            try await running.complete(ids[0])
            let done = try await running.send("PATCH", path, json: #"{"position":0}"#)
            #expect(done.status == 409 && done.code == "illegal-transition" && done.detail.contains("position"))
            #expect(try await running.send("GET", path).json["position"]?.isNull == true)
        }
    }

    @Test("Evaluates conditions against the current download")
    func conditions() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=10", #","paused":true"#)
            let path = "/downloads/\(id)"
            let tag = try #require(try await running.send("GET", path)["etag"])
            func patch(_ fields: [(String, String)], _ priority: Int) async throws -> TestResponse {
                try await running.send("PATCH", path, json: #"{"priority":\#(priority)}"#, fields: fields)
            }
            #expect(try await patch([("If-Match", "\"other\"")], 1).status == 412)
            #expect(try await patch([("If-None-Match", "*")], 1).code == "precondition-failed")
            // As compressing proxies change it.
            #expect(try await patch([("If-Match", "W/" + tag.dropLast() + "-gzip\"")], 1).status == 200)
            let weak = try #require(try await running.send("GET", path)["etag"])
            let changed = try await patch([("If-Match", "W/" + weak)], 2)
            #expect(changed.status == 200)
            #expect(try await patch([("If-Match", tag)], 3).status == 412)
            let next = try #require(changed["etag"])
            #expect(try await patch([("If-Match", next)], 4).json["priority"]?.integer == 4)
            #expect(try await patch([("If-Match", "*")], 5).status == 200)
        }
    }
}
