import Foundation
import JSON
import TestSupport
import TestUpstream
import Testing

@testable import PawlService

@Suite("Downloads over HTTP", .timeLimit(.minutes(3)))
struct DownloadRouteTests {
    @Test("Responds with 201, Location and the resource; the file equals the origin's")
    func lifecycle() async throws {
        try await RunningService.with { running in
            let url = running.upstreamURL + "/entity?size=100000&seed=7"
            let made = try await running.send(
                "POST", "/downloads", json: #"{"url":"\#(url)","labels":["a","b"],"priority":3,"track":{"name":"T","n":1}}"#)
            #expect(made.status == 201)
            let id = try #require(made.json["id"]?.string)
            #expect(made["location"] == "/downloads/\(id)")
            #expect(made.json["url"]?.string == url)
            #expect(made.json["labels"] == .array([.string("a"), .string("b")]))
            #expect(made.json["track"]?["n"]?.integer == 1)

            let done = try await running.complete(id)
            #expect(done["progress"]?.number == 1)
            #expect(done["error"]?.isNull == true)
            let content = try #require(TestUpstream.content(of: "/entity?size=100000&seed=7"))
            let file = try await running.send("GET", "/downloads/\(id)/file")
            #expect(file.status == 200)
            #expect(Bytes(file.body) == Bytes(content.bytes))
            #expect(file["etag"] == "\"\(done["sha256"]?.string ?? "")\"")

            let deleted = try await running.send("DELETE", "/downloads/\(id)?deleteFile=true")
            #expect(deleted.status == 204)
            #expect(try await running.send("GET", "/downloads/\(id)").status == 404)
            let names = try FileManager.default.contentsOfDirectory(atPath: running.directory.path + "/files")
            #expect(names.isEmpty)
        }
    }

    @Test(
        "Checks the members of a track that readers use; the others are the client's",
        arguments: [
            (#"{"name":{"toString":1}}"#, "track.name"), (#"{"artist":["x"]}"#, "track.artist"), (#"{"id":7}"#, "track.id"),
            (#"{"partOf":true}"#, "track.partOf"), (#"{"collection":{}}"#, "track.collection"),
            (#"{"artworkUrl":"javascript:alert(1)"}"#, "track.artworkUrl"), (#"{"artworkUrl":"/x.png"}"#, "track.artworkUrl"),
            (#"{"pageUrl":5}"#, "track.pageUrl"), (#"{"durationMs":"5"}"#, "track.durationMs"),
            (#"{"number":{}}"#, "track.number"),
            (#"{"name":"\#(String(repeating: "x", count: 4_097))"}"#, "track.name"),
            (#"{"name":null,"artworkUrl":null,"durationMs":null}"#, nil), (#"{"artworkUrl":"","pageUrl":""}"#, nil),
            (#"{"durationMs":5.5,"number":1}"#, nil),
            (#"{"name":"T","artworkUrl":"https://is1-ssl.mzstatic.com/a.jpg","links":{"parts":null},"own":[{"x":1}]}"#, nil),
        ] as [(String, String?)])
    func trackMembers(track: String, refused: String?) async throws {
        try await RunningService.with { running in
            let made = try await running.send(
                "POST", "/downloads", json: #"{"url":"\#(running.upstreamURL)/entity?size=1","paused":true,"track":\#(track)}"#)
            guard let refused else {
                #expect(made.status == 201, "\(made.text)")
                return
            }
            #expect(made.status == 400)
            #expect(made.code == "invalid-request")
            #expect(made.text.contains(refused), "\(made.text)")
        }
    }

    @Test("One request removes many downloads, and must select them")
    func removeMany() async throws {
        try await RunningService.with { running in
            let url = running.upstreamURL + "/entity?size=1000&seed="
            for seed in 1...3 {
                let label = seed == 3 ? "kept" : "gone"
                let made = try await running.send(
                    "POST", "/downloads", json: #"{"url":"\#(url)\#(seed)","labels":["\#(label)"]}"#)
                _ = try await running.complete(try #require(made.json["id"]?.string))
            }
            for query in ["", "?deleteFiles=true", "?before=yesterday", "?state=old", "?folders=x", "?label=a&label=b"] {
                let refused = try await running.send("DELETE", "/downloads" + query)
                #expect(refused.status == 400, "\(query)")
                #expect(refused.code == "invalid-request")
            }
            #expect(try await running.send("DELETE", "/downloads?before=2000-01-01T00:00:00+01:00").json["removed"]?.integer == 0)
            let removed = try await running.send("DELETE", "/downloads?label=gone&state=completed&deleteFiles=true")
            #expect(removed.status == 200)
            #expect(removed.json["removed"]?.integer == 2)
            #expect(try FileManager.default.contentsOfDirectory(atPath: running.directory.path + "/files").count == 1)
            #expect(try await running.send("GET", "/downloads").json["total"]?.integer == 1)
            let rest = try await running.send("DELETE", "/downloads?before=2100-01-01T00:00:00Z")
            #expect(rest.json["removed"]?.integer == 1)
        }
    }

    @Test("A repeated URL gets the first download, 409 or another download, as requested")
    func duplicates() async throws {
        try await RunningService.with { running in
            let body = { (policy: String) in
                #"{"url":"\#(running.upstreamURL)/entity?size=10","paused":true,"onDuplicate":"\#(policy)"}"#
            }
            let first = try await running.send("POST", "/downloads", json: body("return"))
            let id = first.json["id"]
            #expect(first.status == 201)
            #expect(first.json["state"]?.string == "paused")
            let second = try await running.send("POST", "/downloads", json: body("return"))
            #expect(second.status == 200)
            #expect(second.json["id"] == id)
            let third = try await running.send("POST", "/downloads", json: body("reject"))
            #expect(third.status == 409)
            #expect(third.code == "duplicate")
            #expect(third.json["id"] == id)
            let fourth = try await running.send("POST", "/downloads", json: body("new"))
            #expect(fourth.status == 201)
            #expect(fourth.json["id"] != id)
        }
    }

    @Test("Commands return the new state, refused ones 409 and the state")
    func commands() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=1000&fault=stall@500", #","paused":true"#)
            let steps: [(command: String, status: Int, state: String)] = [
                ("pause", 200, "paused"), ("retry", 409, "paused"), ("resume", 200, ""), ("resume", 200, ""),
                ("pause", 200, "paused"),
                ("cancel", 200, "cancelled"), ("cancel", 200, "cancelled"), ("pause", 409, "cancelled"),
                ("resume", 409, "cancelled"),
                ("retry", 200, ""),
            ]
            for (command, status, state) in steps {
                let answer = try await running.send("POST", "/downloads/\(id)/\(command)")
                #expect(answer.status == status, "\(command)")
                if status == 409 { #expect(answer.code == "illegal-transition") }
                if state.isEmpty {
                    #expect(["queued", "downloading"].contains(answer.json["state"]?.string), "\(command)")
                } else {
                    #expect(answer.json["state"]?.string == state, "\(command)")
                }
            }
            let withBody = try await running.send("POST", "/downloads/\(id)/pause", json: "{}")
            #expect(withBody.status == 200)
            let withMembers = try await running.send("POST", "/downloads/\(id)/pause", json: #"{"force":true}"#)
            #expect(withMembers.status == 400)
            #expect(withMembers.detail.contains("force"))
        }
    }

    @Test("Responds with 304 if nothing has changed")
    func validators() async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=10", #","paused":true"#)
            let first = try await running.send("GET", "/downloads/\(id)")
            let tag = try #require(first["etag"])
            let same = try await running.send("GET", "/downloads/\(id)", fields: [("If-None-Match", "\"x\", W/\(tag)")])
            #expect(same.status == 304)
            #expect(same["etag"] == tag)
            #expect(first["cache-control"] == "private, no-cache" && same["cache-control"] == "private, no-cache")
            let part = try await running.send("GET", "/downloads/\(id)", fields: [("Range", "bytes=0-0"), ("If-Range", tag)])
            #expect(part.status == 206)
            #expect(part.text == "{")
            #expect(part["content-type"] == "application/json")
            _ = try await running.send("POST", "/downloads/\(id)/cancel")
            for method in ["GET", "HEAD", "DELETE"] {
                let other = try await running.send(method, "/downloads/\(id)", fields: [("If-Match", tag)])
                #expect(other.status == 412)
                #expect(method == "HEAD" || other.code == "precondition-failed")
            }
            #expect(try await running.send("DELETE", "/downloads/\(id)", fields: [("If-None-Match", "*")]).status == 412)
            let changed = try await running.send("GET", "/downloads/\(id)", fields: [("If-None-Match", tag)])
            #expect(changed.status == 200)
            let fresh = try #require(changed["etag"])
            #expect(fresh != tag)
            #expect(try await running.send("DELETE", "/downloads/\(id)", fields: [("If-Match", fresh)]).status == 204)
            #expect(try await running.send("DELETE", "/downloads/\(id)", fields: [("If-Match", fresh)]).status == 404)
        }
    }

    @Test("Pages and documents have conditions and ranges too", arguments: ["/", "/docs", "/openapi.yaml", "/search/sources"])
    func documents(path: String) async throws {
        try await RunningService.with { running in
            let whole = try await running.send("GET", path)
            let tag = try #require(whole["etag"])
            for method in ["GET", "HEAD"] {
                #expect(try await running.send(method, path, fields: [("If-None-Match", tag)]).status == 304)
                #expect(try await running.send(method, path, fields: [("If-Match", "\"other\"")]).status == 412)
            }
            let part = try await running.send("GET", path, fields: [("Range", "bytes=-10"), ("If-Range", tag)])
            #expect(part.status == 206)
            #expect(part.body == Array(whole.body.suffix(10)))
            #expect(part["content-type"] == whole["content-type"])
        }
    }

    @Test("With the origin's time, a file keeps its validators, conditions and ranges, over a restart too")
    func remoteTime() async throws {
        let directory = try TemporaryDirectory()
        let date = "Sat, 01 Nov 2025 08:00:00 GMT"
        var (id, tag) = ("", "")
        try await RunningService.with(directory: directory) { running in
            id = try await running.add("/entity?size=1000&seed=3", #","remoteTime":true"#)
            #expect(try await running.complete(id)["remoteTime"]?.bool == true)
            let whole = try await running.send("GET", "/downloads/\(id)/file")
            #expect(whole.status == 200 && whole["last-modified"] == date)
            tag = try #require(whole["etag"])
        }
        try await RunningService.with(directory: directory) { running in
            let content = try #require(TestUpstream.content(of: "/entity?size=1000&seed=3")).bytes
            func send(_ fields: (String, String)...) async throws -> TestResponse {
                try await running.send("GET", "/downloads/\(id)/file", fields: fields)
            }
            let whole = try await send()
            #expect(whole.body == content && whole["last-modified"] == date && whole["etag"] == tag)
            #expect(try await send(("If-Modified-Since", date)).status == 304)
            #expect(try await send(("If-None-Match", tag)).status == 304)
            #expect(try await send(("If-Unmodified-Since", "Sat, 01 Nov 2025 07:59:59 GMT")).status == 412)
            for validator in [tag, date] {
                let part = try await send(("Range", "bytes=10-19"), ("If-Range", validator))
                #expect(part.status == 206 && part.body == Array(content[10..<20]), "\(validator)")
            }
            #expect(try await running.send("GET", "/downloads/\(id)").json["fileMissing"]?.bool == false)
        }
    }

    @Test(
        "Files have ranges, conditions, a safe name and a sandbox",
        arguments: ["", "/s%C3%B6ng%201.bin", "/other.mp3", "/a%2Fb%00", "/%FF%", "/events", "/file"])
    func files(ending: String) async throws {
        try await RunningService.with { running in
            let id = try await running.add("/entity?size=1000&seed=3", #","filename":"söng 1.bin""#)
            let open = try await running.send(
                "GET", "/downloads/\(try await running.add("/entity?size=5", #","paused":true"#))/file\(ending)")
            #expect(open.status == 409)
            #expect(open.code == "not-complete")
            #expect(open.json["state"]?.string == "paused")

            #expect(try await running.complete(id)["links"]?["file"]?.string == "/downloads/\(id)/file/s%C3%B6ng%201.bin")
            let content = try #require(TestUpstream.content(of: "/entity?size=1000&seed=3")).bytes
            let path = "/downloads/\(id)/file\(ending)"
            let whole = try await running.send("GET", path)
            #expect(whole.body == content)
            #expect(try await running.send("HEAD", path)["content-length"] == "1000")
            let refused = try await running.send("DELETE", path)
            #expect(refused.status == 405 && refused["allow"] == "GET, HEAD, OPTIONS")
            for other in ["/file/a/x", "/events/x", "/file/"].map({ "/downloads/\(id)\($0)" }) {
                #expect(try await running.send("GET", other).status == 404)
            }
            #expect(whole["accept-ranges"] == "bytes")
            #expect(whole["content-disposition"]?.hasPrefix("attachment;") == true)
            #expect(whole["content-security-policy"]?.hasPrefix("sandbox;") == true)
            #expect(whole["x-content-type-options"] == "nosniff")
            #expect(whole["last-modified"] != nil)
            let tag = try #require(whole["etag"])
            #expect(try await running.send("GET", path + "?inline=true")["content-disposition"]?.hasPrefix("inline;") == true)
            #expect(try await running.send("GET", path + "?inline=1").status == 400)

            let part = try await running.send("GET", path, fields: [("Range", "bytes=10-19")])
            #expect(part.status == 206)
            #expect(part["content-range"] == "bytes 10-19/1000")
            #expect(part.body == Array(content[10..<20]))
            let several = try await running.send("GET", path, fields: [("Range", "bytes=0-1,500-501")])
            #expect(several.status == 206)
            #expect(several["content-type"]?.hasPrefix("multipart/byteranges") == true)
            let outdated = try await running.send("GET", path, fields: [("Range", "bytes=0-1"), ("If-Range", "\"other\"")])
            #expect(outdated.status == 200)
            #expect(try await running.send("GET", path, fields: [("If-None-Match", tag)]).status == 304)
            let failed = try await running.send("GET", path, fields: [("If-Match", "\"other\"")])
            #expect(failed.status == 412)
            #expect(failed.code == "precondition-failed")
            let outside = try await running.send("GET", path, fields: [("Range", "bytes=1000-")])
            #expect(outside.status == 416)
            #expect(outside["content-range"] == "bytes */1000")
            #expect(outside.code == "range-not-satisfiable")
            #expect(outside["content-disposition"] == nil)

            let name = try #require(try await running.send("GET", "/downloads/\(id)").json["filename"]?.string)
            let place = running.directory.path + "/files/" + name
            // A written file is another file, and so is a replacement of the same name: neither is the downloaded one.
            let secret = running.directory.path + "/secret"
            try Data(content).write(to: URL(filePath: secret))
            for change in [Array("shorter".utf8), content.map { ~$0 }, nil] {
                try FileManager.default.removeItem(atPath: place)
                if let change {
                    try Data(change).write(to: URL(filePath: place))
                } else {
                    try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: secret)
                }
                #expect(try await running.send("GET", path).status == 404)
                #expect(try await running.send("GET", "/downloads/\(id)").json["fileMissing"]?.bool == true)
            }
            // The same bytes again are the same file, as after a restored backup.
            try FileManager.default.removeItem(atPath: place)
            try Data(content).write(to: URL(filePath: place))
            for _ in 1...2 {
                let restored = try await running.send("GET", path)
                #expect(restored.body == content && restored["etag"] == tag)
                #expect(try await running.send("GET", "/downloads/\(id)").json["fileMissing"]?.bool == false)
            }
            let gone = try await running.send("GET", "/downloads/\(id)").json
            try FileManager.default.removeItem(atPath: place)
            #expect(try await running.send("GET", path).status == 404)
            // Requests are no longer redirected to a missing file.
            let url = try #require(gone["url"]?.string)
            let again = try await running.send("POST", "/downloads", json: #"{"url":"\#(url)"}"#)
            #expect(again.status == 201)
            let other = try #require(again.json["id"]?.string)
            try await running.follow(other) { $0["state"]?.string == "completed" }
            #expect(try await running.send("GET", "/downloads/\(other)/file").body == content)
        }
    }

    @Test("A list that is polled has each change at once, for every query", arguments: ["", "?limit=3", "?label=x"])
    func polling(query: String) async throws {
        try await RunningService.with { running in
            var ids: [String] = []
            for number in 0..<3 {
                let body = #"{"url":"\#(running.upstreamURL)/entity?size=\#(number)","paused":true,"labels":["x"]}"#
                ids.append(try #require(try await running.send("POST", "/downloads", json: body).json["id"]?.string))
                // The third response is a kept one.
                var texts: Set<String> = []
                for _ in 0..<4 {
                    let list = try await running.send("GET", "/downloads" + query)
                    #expect(list.json["items"]?.array?.compactMap { $0["id"]?.string } == ids.reversed())
                    #expect(list["cache-control"] == "no-store" && list["content-type"] == "application/json")
                    texts.insert(list.text)
                }
                #expect(texts.count == 1)
            }
            // The others move in the queue.
            #expect(try await running.send("DELETE", "/downloads/\(ids[0])").status == 204)
            let list = try await running.send("GET", "/downloads" + query)
            #expect(list.json["items"]?.array?.map { $0["position"]?.integer } == [1, 0])
            let one = try await running.send("GET", "/downloads/\(ids[1])")
            #expect(list.json["items"]?.array?.last == one.json)
        }
    }

    @Test("Filters, orders, counts and continues lists")
    func lists() async throws {
        try await RunningService.with { running in
            var ids: [String] = []
            for number in 0..<5 {
                ids.append(
                    try await running.add(
                        "/entity?size=10&seed=\(number)", #","paused":true,"labels":["\#(number % 2 == 0 ? "even" : "odd")"]"#))
            }
            func page(_ query: String) async throws -> (ids: [String], next: String?, total: Int64?) {
                let json = try await running.send("GET", "/downloads?" + query).json
                return (
                    json["items"]?.array?.compactMap { $0["id"]?.string } ?? [], json["nextCursor"]?.string,
                    json["total"]?.integer
                )
            }
            #expect(try await page("").ids == ids.reversed())
            #expect(try await page("order=oldest").ids == ids)
            #expect(try await page("label=even").total == 3)
            #expect(try await page("q=SEED%3D3").ids == [ids[3]])
            #expect(try await page("state=completed&state=failed").total == 0)
            var walked: [String] = []
            var cursor: String?
            repeat {
                let part = try await page("limit=2" + (cursor.map { "&cursor=\($0)" } ?? ""))
                #expect(part.total == 5)
                walked += part.ids
                cursor = part.next
            } while cursor != nil
            #expect(walked == ids.reversed())
        }
    }

    @Test("A batch has a result for each item, in order")
    func batch() async throws {
        try await RunningService.with { running in
            let url = running.upstreamURL + "/entity?size=10"
            let answer = try await running.send(
                "POST", "/downloads/batch",
                json: """
                    {"downloads":[{"url":"\(url)","paused":true},{"url":"nonsense"},{"url":"\(url)"},
                    {"url":"http://127.0.0.1:1/"},{"url":"\(url)","onDuplicate":"reject"}]}
                    """)
            #expect(answer.status == 200)
            let items = try #require(answer.json["items"]?.array)
            #expect(items.map { $0["status"]?.integer } == [201, 400, 200, 403, 409])
            #expect(items[0]["download"]?["id"] == items[2]["download"]?["id"])
            #expect(items[1]["problem"]?["detail"]?.string?.contains("downloads[1].url") == true)
            #expect(items[3]["problem"]?["code"]?.string == "destination-forbidden")
            let many = #"{"downloads":[\#(Array(repeating: "{}", count: 1001).joined(separator: ","))]}"#
            #expect(try await running.send("POST", "/downloads/batch", json: many).status == 400)
        }
    }

    @Test("Bulk commands change matching downloads, and return their number")
    func bulk() async throws {
        try await RunningService.with { running in
            for number in 0..<4 {
                _ = try await running.add(
                    "/entity?size=1000&seed=\(number)&fault=stall@500", #","paused":true,"labels":["\#(number < 3 ? "a" : "b")"]"#
                )
            }
            func changed(_ path: String) async throws -> Int64? {
                try await running.send("POST", path).json["changed"]?.integer
            }
            #expect(try await changed("/downloads/resume?label=a") == 3)
            #expect(try await changed("/downloads/pause?label=b") == 0)
            #expect(try await changed("/downloads/pause") == 3)
            #expect(try await changed("/downloads/cancel?state=queued") == 0)
            #expect(try await changed("/downloads/cancel?state=paused&label=b") == 1)
            #expect(try await changed("/downloads/cancel") == 3)
        }
    }
}
