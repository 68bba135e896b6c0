import JSON
import TestSupport
import Testing

@testable import PawlService

@Suite("Waits and repetitions", .timeLimit(.minutes(3)))
struct RepetitionTests {
    @Test("A repeated POST with its key gets the first response and has no effect")
    func idempotency() async throws {
        try await RunningService.with { running in
            let body = #"{"url":"\#(running.upstreamURL)/entity?size=10","paused":true,"onDuplicate":"new"}"#
            let key = [("Idempotency-Key", "k1")]
            let first = try await running.send("POST", "/downloads", json: body, fields: key)
            let second = try await running.send("POST", "/downloads", json: body, fields: key)
            #expect(first.status == 201)
            #expect(second.status == 201)
            #expect(second.body == first.body)
            #expect(second["location"] == first["location"])
            #expect(try await running.send("GET", "/downloads").json["total"]?.integer == 1)
            let other = try await running.send("POST", "/downloads", json: body + " ", fields: key)
            #expect(other.status == 422)
            #expect(other.code == "idempotency-mismatch")
            let fresh = try await running.send("POST", "/downloads", json: body, fields: [("Idempotency-Key", "k2")])
            #expect(fresh.json["id"] != first.json["id"])
            let id = try #require(first.json["id"]?.string)
            for (method, path) in [("POST", "/downloads/\(id)/cancel"), ("DELETE", "/downloads/\(id)")] {
                _ = try await running.send(method, path)
                let later = try await running.send("POST", "/downloads", json: body, fields: key)
                #expect(later.status == 201)
                #expect(later.body == first.body, "after \(method)")
            }
            let bad = try await running.send(
                "POST", "/downloads", json: body, fields: [("Idempotency-Key", String(repeating: "k", count: 256))])
            #expect(bad.status == 400)
        }
    }

    @Test("A repeated batch gets the first response despite later changes; so does a concurrent one")
    func batches() async throws {
        try await RunningService.with { running in
            let url = running.upstreamURL + "/entity?size=10"
            let requests: [(path: String, body: String)] = [
                ("/downloads", #"{"url":"\#(url)","onDuplicate":"new"}"#),
                (
                    "/downloads/batch",
                    #"{"downloads":[{"url":"\#(url)1"},{"url":"nonsense"},{"url":"\#(url)1"},{"url":"\#(url)"}]}"#
                ),
            ]
            for (path, body) in requests {
                let key = [("Idempotency-Key", path)]
                let first = try await running.send("POST", path, json: body, fields: key)
                for item in try await running.send("GET", "/downloads").json["items"]?.array ?? [] {
                    try await running.complete(try #require(item["id"]?.string))
                }
                let second = try await running.send("POST", path, json: body, fields: key)
                #expect(second.status == first.status)
                #expect(second.body == first.body, "\(path)")
                #expect(second["location"] == first["location"])
            }
        }
    }

    @Test("Concurrent requests with one key are one request")
    func atOnce() async throws {
        try await RunningService.with { running in
            let body = #"{"url":"\#(running.upstreamURL)/entity?size=10","paused":true,"onDuplicate":"new"}"#
            let answers = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await running.send("POST", "/downloads", json: body, fields: [("Idempotency-Key", "k")]).json["id"]?
                            .string
                    }
                }
                return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
            }
            #expect(answers.count == 1)
            #expect(try await running.send("GET", "/downloads").json["total"]?.integer == 1)
        }
    }

    @Test("Keys that look alike are different, each with its own response", arguments: LookAlikes.pairs.indices)
    func lookAlikes(_ index: Int) async throws {
        let pair = LookAlikes.pairs[index]
        try await RunningService.with { running in
            let body = #"{"url":"\#(running.upstreamURL)/entity?size=10","paused":true,"onDuplicate":"new"}"#
            let head = "POST /downloads HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
            var ids: [String?] = []
            for key in [pair.first, pair.second, pair.first, pair.second] {
                let answer = try await running.blocking { client in
                    let connection = try TestConnection(client.port, patience: client.patience)
                    let fields = Array("Content-Length: \(body.utf8.count)\r\nIdempotency-Key: ".utf8) + key
                    try connection.send(Array(head.utf8) + fields + Array("\r\n\r\n\(body)".utf8))
                    return try connection.readResponse()
                }
                #expect(answer.status == 201)
                ids.append(answer.json["id"]?.string)
            }
            #expect(ids[0] != ids[1] && ids[0] == ids[2] && ids[1] == ids[3])
        }
    }

    @Test("Failures are not stored")
    func failures() async throws {
        try await RunningService.with { running in
            let body = #"{"url":"\#(running.upstreamURL)/entity?size=10","paused":true,"onDuplicate":"reject"}"#
            let id = try await running.add("/entity?size=10", #","paused":true"#)
            let key = [("Idempotency-Key", "k")]
            #expect(try await running.send("POST", "/downloads", json: body, fields: key).status == 409)
            #expect(try await running.send("DELETE", "/downloads/\(id)").status == 204)
            #expect(try await running.send("POST", "/downloads", json: body, fields: key).status == 201)
        }
    }

    @Test("A wait ends with the change or its time limit")
    func waiting() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=10", #","paused":true"#)
            let tag = try #require(try await running.send("GET", "/downloads/\(id)")["etag"])
            let fields = [("If-None-Match", tag)]
            let unchanged = try await running.send("GET", "/downloads/\(id)?wait=1", fields: fields)
            #expect(unchanged.status == 304)
            async let held = running.send("GET", "/downloads/\(id)?wait=30", fields: fields)
            _ = try await running.send("POST", "/downloads/\(id)/cancel")
            let changed = try await held
            #expect(changed.status == 200)
            #expect(changed.json["state"]?.string == "cancelled")
            let atOnce = try await running.send("GET", "/downloads/\(id)?wait=30")
            #expect(atOnce.status == 200)
            #expect(try await running.send("GET", "/downloads/\(id)?wait=61").status == 400)
        }
    }
}
