import JSON
import TestSupport
import TestUpstream
import Testing

@testable import DemoUpstream

/// Bytes of responses as clients receive them.
@Suite("On the wire", .timeLimit(.minutes(3))) @OffPool struct WireTests {
    @Test("Responds to a search as the real service does")
    func search() async throws {
        try await withDemo { base in
            let answer = try get(base, "/search?term=f%C3%BCr+elise&country=de")
            #expect(answer.status == 200)
            #expect(answer["Content-Type"] == "text/javascript; charset=utf-8")
            #expect(answer["Content-Disposition"] == "attachment; filename=1.txt")
            #expect(answer["Cache-Control"]?.hasPrefix("max-age=") == true)
            #expect(answer.body.prefix(4) == [0x0A, 0x0A, 0x0A, 0x7B])
            let song = try #require(try JSONValue(parsing: answer.body)["results"]?.array?.first)
            #expect(song["trackName"]?.string == "Für Elise, WoO 59")
            #expect(song["previewUrl"]?.string?.hasPrefix(base + "/media/") == true)

            // All URLs of the result have a response.
            for (name, type) in [("previewUrl", "audio/wav"), ("artworkUrl100", "image/png"), ("trackViewUrl", "text/html")] {
                let url = try #require(song[name]?.string)
                let linked = try get(base, String(url.dropFirst(base.count)))
                #expect(linked.status == 200)
                #expect(linked["Content-Type"]?.hasPrefix(type) == true)
            }
            let refused = try get(base, "/search?term=a&country=zzz")
            #expect(refused.status == 400)
            #expect(String(decoding: refused.body, as: UTF8.self).contains("Invalid value(s) for key(s): [country]"))
            let lookup = try get(base, "/lookup?id=5000420101,5000420100")
            #expect(try JSONValue(parsing: lookup.body)["resultCount"]?.integer == 2)
        }
    }

    @Test("Posts are JSON")
    func posts() async throws {
        try await withDemo { base in
            let posts = try get(base, "/posts")
            #expect(posts["Content-Type"] == "application/json; charset=utf-8")
            #expect(try JSONValue(parsing: posts.body).array?.count == 100)
            let post = try get(base, "/posts/7")
            #expect(try JSONValue(parsing: post.body)["id"]?.integer == 7)
            #expect(try get(base, "/posts/101").status == 404)
        }
    }

    @Test("Sends a range deep inside a large file at once")
    func large() async throws {
        try await withDemo { base in
            let answer = try get(
                base, "/large/field-recording-3.bin", "Range: bytes=1073000000-1073000999")
            #expect(answer["Content-Range"] == "bytes 1073000000-1073000999/1073741824")
            #expect(
                answer.body
                    == TestUpstream.content(of: "/large/field-recording-3.bin")?.bytes(in: 1_073_000_000..<1_073_001_000))
        }
    }

    @Test("A paced body takes its time")
    func pace() async throws {
        try await withDemo { base in
            let start = ContinuousClock.now
            let target = "/entity?size=60000&pace=200000"
            let answer = try get(base, target)
            #expect(Bytes(answer.body) == Bytes(content(target)))
            // 60,000 bytes at 200,000 bytes per second; 4,000 bytes are sent at once.
            #expect(ContinuousClock.now - start >= .milliseconds(280))
        }
    }

    @Test("The log has one line for each request at its end, and none for artwork")
    func log() async throws {
        let lines = Lines()
        try await withDemo(log: { lines.append($0) }) { base in
            let client = try connect(base)
            _ = try client.get("/artwork/5000420100/60x60.png")
            _ = try client.get("/entity?size=2000", "Range: bytes=500-")
            _ = try client.get("/search?term=zzz")
            _ = try client.get("/nothing")
        }
        let logged = lines.all
        #expect(logged.count == 3)
        #expect(logged.first == "GET /entity?size=2000 bytes=500- → 206, 1500 bytes sent")
        #expect(logged.dropFirst().first?.hasPrefix("GET /search?term=zzz → 200, ") == true)
        #expect(logged.last?.hasPrefix("GET /nothing → 404, ") == true)
    }

    @Test("Refuses other methods with the allowed ones")
    func methods() async throws {
        try await withDemo { base in
            let answer = try get(base, "/posts", "Content-Length: 0", method: "POST")
            #expect(answer.status == 405)
            #expect(answer["Allow"] == "GET, HEAD, OPTIONS")
            #expect(try get(base, "/posts", method: "OPTIONS").status == 204)
            for target in ["/posts?pace=fast", "/posts?pace=-1", "/posts?a=%zz"] {
                #expect(try get(base, target).status == 400, "\(target)")
            }
        }
    }

    @Test("A stop breaks off running responses instead of waiting for them")
    func shutdown() async throws {
        let upstream = DemoUpstream(pace: 1000)
        let base = try upstream.start()
        let client = try connect(base)
        try client.send("GET", "/large/field-recording-1.bin")
        var answer = try client.readHead()
        #expect(answer.status == 200)
        await upstream.shutdown()
        #expect(try Ending(of: client, &answer) == .closed)
        #expect(throws: TestConnection.Failure.self) { _ = try connect(base) }
    }
}
