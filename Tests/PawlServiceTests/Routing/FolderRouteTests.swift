import Foundation
import JSON
import TestSupport
import Testing

@testable import PawlService

@Suite("Folders in the API", .timeLimit(.minutes(3)))
struct FolderRouteTests {
    @Test("Accepts and returns the folder of a download, and serves its file under its own name")
    func shown() async throws {
        try await RunningService.with { running in
            let entity = "\(running.upstreamURL)/entity?size=10"
            let body = #"{"url":"\#(entity)","filename":"a.bin","folder":"music/live"}"#
            let made = try await running.send("POST", "/downloads", json: body, fields: [("Idempotency-Key", "one")])
            #expect(made.status == 201)
            #expect(made.json["folder"]?.string == "music/live")
            let again = try await running.send("POST", "/downloads", json: body, fields: [("Idempotency-Key", "one")])
            #expect(again.body == made.body)
            let other = body.replacingOccurrences(of: "live", with: "dead")
            #expect(try await running.send("POST", "/downloads", json: other, fields: [("Idempotency-Key", "one")]).status == 422)
            // The URL decides about duplicates, as with a name.
            #expect(try await running.send("POST", "/downloads", json: other).json["folder"]?.string == "music/live")

            let id = try #require(made.json["id"]?.string)
            let told = try await running.complete(id)
            #expect(told["folder"]?.string == "music/live")
            #expect(try await running.send("GET", "/downloads/\(id)").json["folder"]?.string == "music/live")
            let list = try await running.send("GET", "/downloads")
            #expect(list.json["items"]?.array?.first?["folder"]?.string == "music/live")
            let file = try await running.send("GET", "/downloads/\(id)/file")
            #expect(file.status == 200 && file.body.count == 10)
            #expect(file["content-disposition"] == #"attachment; filename="a.bin""#)
            #expect(FileManager.default.fileExists(atPath: running.directory.path + "/files/music/live/a.bin"))

            let batch = try await running.send(
                "POST", "/downloads/batch",
                json: #"{"downloads":[{"url":"\#(entity)1","folder":"b","paused":true},{"url":"\#(entity)2","folder":"../b"}]}"#)
            #expect(batch.json["items"]?.array?.first?["download"]?["folder"]?.string == "b")
            let refused = batch.json["items"]?.array?.last?["problem"]
            #expect(refused?["code"]?.string == "invalid-request")
            #expect(refused?["detail"]?.string?.contains("folder") == true)
            let none = try await running.add("/entity?size=13")
            #expect(try await running.send("GET", "/downloads/\(none)").json["folder"]?.string == "")

            #expect(try await running.send("DELETE", "/downloads/\(id)?deleteFile=true").status == 204)
            #expect(!FileManager.default.fileExists(atPath: running.directory.path + "/files/music"))
        }
    }

    @Test("An invalid folder is an invalid request that names it", arguments: ["POST", "PATCH"])
    func refused(method: String) async throws {
        try await RunningService.with { running in
            let entity = "\(running.upstreamURL)/entity?size=10"
            let id = try await running.add("/entity?size=11", #","paused":true"#)
            let values = [
                #""/a""#, #""a/""#, #""a//b""#, #""..""#, #""a/../b""#, #"".a""#, #""a\\b""#, #""a\u0000""#, #""a\n/b""#,
                #""con/a""#,
                #""1/2/3/4/5/6/7/8/9""#, #""\#(String(repeating: "a", count: 201))""#,
                #""\#(String(repeating: "a/", count: 2000))""#, "7",
                #"["a"]"#,
            ]
            for value in values {
                let answer =
                    method == "POST"
                    ? try await running.send("POST", "/downloads", json: #"{"url":"\#(entity)","folder":\#(value)}"#)
                    : try await running.send("PATCH", "/downloads/\(id)", json: #"{"folder":\#(value)}"#)
                #expect(answer.status == 400 && answer.code == "invalid-request", "\(value)")
                #expect(answer.detail.contains("folder"), "\(answer.detail)")
            }
            #expect(try await running.send("GET", "/downloads").json["total"]?.integer == 1)
        }
    }

    @Test("A folder can change before completion, and not afterwards")
    func changed() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=10", #","paused":true,"filename":"a""#)
            let path = "/downloads/\(id)"
            #expect(try await running.send("PATCH", path, json: #"{"folder":"a/b"}"#).json["folder"]?.string == "a/b")
            #expect(try await running.send("PATCH", path, json: #"{"folder":null}"#).json["folder"]?.string == "a/b")
            #expect(try await running.send("PATCH", path, json: #"{"folder":""}"#).json["folder"]?.string == "")
            #expect(
                try await running.send("PATCH", path, json: #"{"folder":"c","filename":"d"}"#).json["filename"]?.string == "d")
            _ = try await running.send("POST", path + "/resume")
            try await running.complete(id)
            #expect(FileManager.default.fileExists(atPath: running.directory.path + "/files/c/d"))
            let late = try await running.send("PATCH", path, json: #"{"folder":"e"}"#)
            #expect(late.status == 409 && late.code == "illegal-transition")
            #expect(late.detail.contains("folder"))
        }
    }

    @Test("Lists, bulk commands and removals accept a folder, empty for none")
    func filters() async throws {
        try await RunningService.with { running in
            for (number, folder) in ["", "a", "a/b"].enumerated() {
                _ = try await running.add("/entity?size=1\(number)", #","paused":true,"folder":"\#(folder)""#)
            }
            for (query, count) in [
                ("folder=", 1), ("folder=a", 1), ("folder=a%2Fb", 1), ("folder=a/b", 1), ("folder=b", 0),
                ("folder=a&state=failed", 0),
                ("folder=..", 0),
            ] {
                #expect(try await running.send("GET", "/downloads?\(query)").json["total"]?.integer == Int64(count), "\(query)")
            }
            #expect(try await running.send("GET", "/downloads?folder=a&folder=b").status == 400)
            #expect(try await running.send("POST", "/downloads/cancel?folder=a/b").json["changed"]?.integer == 1)
            #expect(try await running.send("DELETE", "/downloads?folder=").json["removed"]?.integer == 1)
            #expect(try await running.send("DELETE", "/downloads?folder=a&state=paused").json["removed"]?.integer == 1)
            #expect(try await running.send("DELETE", "/downloads?folder=a").json["removed"]?.integer == 0)
            #expect(try await running.send("GET", "/downloads").json["total"]?.integer == 1)
            let bare = try await running.send("DELETE", "/downloads")
            #expect(bare.status == 400 && bare.detail.contains("folder"))
        }
    }
}
