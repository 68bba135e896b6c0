import Foundation
import JSON
import TestSupport
import Testing

/// Acknowledged changes survive `kill -9` at any moment after the response.
@Suite("Durability over kill -9", .timeLimit(.minutes(3)))
@OffPool
struct DurabilityTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func demo(_ flags: String...) throws -> PawlProcess {
        let always = ["demo", "--port", "0", "--data-dir", directory.path + "/data", "--allow-destination", "127.0.0.1"]
        return try PawlProcess(always + flags, in: directory)
    }

    private func json(_ answer: TestResponse) throws -> JSONValue { try JSONValue(parsing: answer.body) }

    @Test("A repeated POST gets the first response; changes and settings stay")
    func keysChangesSettings() throws {
        var pawl = try demo()
        let body = Array(#"{"url":"http://127.0.0.1:9/a","paused":true,"onDuplicate":"new"}"#.utf8)
        let fields = [("Content-Type", "application/json"), ("Idempotency-Key", "k1")]
        let first = try pawl.client.send("POST", "/downloads", fields: fields, body: body)
        #expect(first.status == 201)
        pawl.kill()
        pawl = try demo()
        let second = try pawl.client.send("POST", "/downloads", fields: fields, body: body)
        #expect(second.status == 201)
        #expect(second.body == first.body)
        #expect(second["location"] == first["location"])
        #expect(try pawl.client.send("POST", "/downloads", fields: fields, body: body + [0x20]).status == 422)

        let batch = Array(
            #"{"downloads":[{"url":"http://127.0.0.1:9/b","paused":true},{"url":"nonsense"},{"url":"http://127.0.0.1:9/b"}]}"#
                .utf8)
        let batchFields = [("Content-Type", "application/json"), ("Idempotency-Key", "k2")]
        let firstBatch = try pawl.client.send("POST", "/downloads/batch", fields: batchFields, body: batch)
        let id = try #require(try json(first)["id"]?.string)
        let changed = try pawl.client.send(
            "PATCH", "/downloads/\(id)", json: #"{"priority":7,"labels":["x"],"filename":"n.bin"}"#)
        #expect(changed.status == 200)
        let settings = try pawl.client.send("PATCH", "/settings", json: #"{"maxConcurrent":3,"speedLimit":1000}"#)
        #expect(settings.status == 200)
        pawl.kill()
        pawl = try demo("--speed-limit", "2000")
        let secondBatch = try pawl.client.send("POST", "/downloads/batch", fields: batchFields, body: batch)
        #expect(secondBatch.body == firstBatch.body)
        #expect(try json(secondBatch)["items"]?.array?.map { $0["status"]?.integer } == [201, 400, 200])
        #expect(try pawl.client.send("GET", "/downloads/\(id)").body == changed.body)
        #expect(
            try pawl.client.send("GET", "/settings").text
                == #"{"maxConcurrent":3,"maxPerHost":4,"segments":4,"speedLimit":2000,"speedSchedule":[],"webhooks":[]}"# + "\n")
        #expect(try pawl.get("/downloads")["total"]?.integer == 2)
        #expect(pawl.terminate() == 0)
    }

    @Test("A returning reader of events receives the end of a download that it missed")
    func events() throws {
        var pawl = try demo()
        let id = try #require(try pawl.post("/downloads", #"{"url":"http://127.0.0.1:9/a","paused":true}"#)["id"]?.string)
        let seen = try #require(try lines(pawl, after: nil, count: 1).first).id
        _ = try pawl.post("/downloads/\(id)/cancel")
        pawl.kill()
        pawl = try demo()
        let event = try #require(try lines(pawl, after: seen, count: 1).first)
        #expect(event.name == "download")
        #expect(event.data.contains(id) && event.data.contains(#""state":"cancelled""#))
        #expect(pawl.terminate() == 0)
    }

    /// The first events of a stream.
    private func lines(_ pawl: PawlProcess, after: String?, count: Int) throws -> [(id: String, name: String, data: String)] {
        let stream = try pawl.client.open("GET", "/downloads/events", fields: after.map { [("Last-Event-ID", $0)] } ?? [])
        _ = try stream.readHead()
        var text = ""
        while text.components(separatedBy: "\n\n").count <= count, let chunk = try stream.readChunk() {
            text += String(decoding: chunk, as: UTF8.self)
        }
        return text.components(separatedBy: "\n\n").prefix(count).map { event in
            let fields = event.split(separator: "\n").filter { !$0.hasPrefix("retry:") && !$0.hasPrefix(":") }
            let parts = fields.map { String($0.drop { $0 != " " }.dropFirst()) }
            return parts.count == 3 ? (parts[0], parts[1], parts[2]) : ("", "", event)
        }
    }

    @Test("Delivers a webhook after a crash that prevented its delivery")
    func webhook() async throws {
        let isUp = Waiter(false)
        let receiver = try ScriptedOrigin { _ in [.response(isUp.value ? 200 : 503)] }
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        var pawl = try demo("--webhook-secret", secret)
        let hook = receiver.url("/hook")
        let made = try pawl.post("/downloads", #"{"url":"http://127.0.0.1:9/a","paused":true,"webhook":"\#(hook)"}"#)
        let id = try #require(made["id"]?.string)
        _ = try pawl.post("/downloads/\(id)/cancel")
        pawl.kill()
        let before = receiver.requests.count
        isUp.update { $0 = true }
        pawl = try demo("--webhook-secret", secret)
        let request = try #require(try await receiver.requests(atLeast: before + 1).last)
        let message = try JSONValue(parsing: request.body)
        #expect(message["type"]?.string == "download.cancelled")
        #expect(message["data"]?["id"]?.string == id)
        #expect(message["data"]?["state"]?.string == "cancelled")
        #expect(request["webhook-signature"]?.hasPrefix("v1,") == true)
        #expect(pawl.terminate() == 0)
    }
}
